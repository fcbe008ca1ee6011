//! Who may use the gateway: the host's own token, stored tokens, and the tokens of OpenID
//! providers.
//!
//! [`Identities::identify`] is the only way in. Whatever is wrong with a credential, the
//! answer is the same; the reason is in the log, without a word of the credential.

mod claims;
mod jwks;
mod jwt;
mod key;
mod peer;
mod people;
mod provider;
mod slow_down;
#[cfg(test)]
pub(crate) mod tests;
pub mod tokens;

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::http::HeaderMap;
use tether_core::clock::{Clock, Timestamp};
use tether_core::digest::Digest;
use tether_core::id::{TenantId, TokenId, UserId};
use tether_core::identity::{Caller, Channel, Role};
use tether_core::port::actions::StoreError;
use tether_core::port::sessions::{Credential, Session};
use tether_core::port::tokens::{Token, Tokens};
use tether_core::problem::Problem;
use tokio::task::JoinSet;

use jwt::{Jwt, LONGEST, Refused};
use provider::Provider;
use slow_down::{LONGEST_PAUSE, SlowDown, TooMany};

pub use claims::{Claim, InvalidClaim, Mapping, RolesOf, TenantOf};
pub use jwks::{Fetch, KeysAt, fetch};
pub use jwt::Expected;
pub use key::{Algorithm, UnknownAlgorithm};
pub use peer::Proxies;
pub use people::KnownPeople;
pub use provider::ProviderSettings;

/// What identities are made of.
pub struct IdentityParts {
    /// The host's own token; none where the operator wants none.
    pub host_token: Option<String>,
    /// Where tokens are kept.
    pub tokens: Arc<dyn Tokens>,
    /// Whose tokens are taken besides.
    pub providers: Vec<ProviderSettings>,
    /// How their keys are fetched.
    pub fetch: Fetch,
    /// Who may say whom they speak for.
    pub proxies: Proxies,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

/// See the module.
pub struct Identities {
    /// The digest of the host's own token: the token itself is not kept in memory.
    host: Option<Digest>,
    tokens: Arc<dyn Tokens>,
    providers: Vec<Provider>,
    proxies: Proxies,
    clock: Arc<dyn Clock>,
    slow_down: SlowDown,
    /// There is a provider, or a token was ever made. Never unset: whoever revokes the
    /// last token does not give its tenant to the proposers.
    configured: AtomicBool,
}

/// Somebody who was let in.
#[derive(Debug, Clone)]
pub struct Known {
    /// Who.
    pub caller: Caller,
    /// By what.
    pub credential: Credential,
    /// From when on that lets nobody in; none: for good.
    pub expires_at: Option<Timestamp>,
}

/// Why somebody was not let in.
#[derive(Debug)]
pub enum Denied {
    /// The credential opens nothing.
    Unknown,
    /// Too much was tried from there: the credential was not looked at.
    Slowed {
        /// Not before so long from now.
        retry_after: Duration,
    },
    /// The store could not be asked.
    Store(StoreError),
}

impl From<StoreError> for Denied {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Identities {
    /// Identities of `parts`. Asks the store whether a token was ever made.
    pub async fn new(parts: IdentityParts) -> Result<Self, StoreError> {
        let IdentityParts { host_token, tokens, providers, fetch, proxies, clock } = parts;
        let configured = !providers.is_empty() || tokens.any_ever().await?;
        let providers = providers
            .into_iter()
            .map(|settings| Provider::new(settings, Arc::clone(&fetch), Arc::clone(&clock)))
            .collect();
        Ok(Self {
            host: host_token.map(Digest::of),
            tokens,
            providers,
            proxies,
            slow_down: SlowDown::new(Arc::clone(&clock)),
            clock,
            configured: configured.into(),
        })
    }

    /// Whether there is, or was, somebody besides the operator: from then on a proposer
    /// decides nothing of its own.
    pub fn are_configured(&self) -> bool {
        self.configured.load(Ordering::Relaxed)
    }

    /// Whether somebody else than the operator could come in now: there is a provider, or a
    /// token that is neither revoked nor over.
    pub async fn let_somebody_in(&self) -> Result<bool, StoreError> {
        Ok(!self.providers.is_empty() || self.tokens.any_valid(self.clock.now()).await?)
    }

    /// Keeps the keys of providers fresh until the answer is dropped.
    pub fn keep_keys(&self) -> JoinSet<()> {
        self.providers.iter().map(|provider| Arc::clone(provider.keys()).keep()).collect()
    }

    /// From where a request comes whose connection is that of `peer`.
    pub fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        self.proxies.client(peer, headers)
    }

    /// Whom `credential`, a token of any kind that came from `peer`, lets in. Takes longer
    /// where others failed from there.
    pub async fn identify(&self, credential: &str, peer: IpAddr) -> Result<Known, Denied> {
        // What is no token of any kind is no guess.
        if credential.is_empty() || credential.len() > LONGEST {
            return Err(Denied::Unknown);
        }
        let digest = Digest::of(credential);
        let turn = self.slow_down.enter(peer, digest).await;
        let look = turn.map_err(|TooMany| Denied::Slowed { retry_after: LONGEST_PAUSE })?;
        let found = self.look(credential, digest).await;
        match &found {
            Ok(_) => look.got_in(),
            Err(Denied::Unknown) => look.failed(),
            Err(_) => drop(look),
        }
        found
    }

    async fn look(&self, credential: &str, digest: Digest) -> Result<Known, Denied> {
        if self.host.as_ref().is_some_and(|host| equal(host, &digest)) {
            let caller = self.operator();
            return Ok(Known { caller, credential: Credential::Host(digest), expires_at: None });
        }
        let now = self.clock.now();
        if credential.starts_with(tokens::PREFIX) {
            // Looked up every time, so that what is revoked is so at once.
            return match self.tokens.find(digest).await? {
                Some(token) if tokens::is_valid(&token, now) => Ok(of_token(token)),
                Some(token) => {
                    tracing::debug!(token = %token.id, "a token that is expired or revoked");
                    Err(Denied::Unknown)
                }
                None => Err(Denied::Unknown),
            };
        }
        if self.providers.is_empty() || credential.split('.').count() != 3 {
            return Err(Denied::Unknown);
        }
        self.vouched(credential, now).await.map_err(|Refused(why)| {
            tracing::debug!(why, "a token of a provider that is not taken");
            Denied::Unknown
        })
    }

    async fn vouched(&self, credential: &str, now: Timestamp) -> Result<Known, Refused> {
        let jwt = Jwt::parse(credential)?;
        let provider = self.providers.iter().find(|provider| Some(provider.issuer()) == jwt.issuer());
        let provider = provider.ok_or(Refused("its issuer is unknown"))?;
        let vouched = provider.read(&jwt, now).await?;
        Ok(Known {
            caller: caller(vouched.tenant, vouched.user, vouched.roles),
            credential: Credential::Provider(provider.issuer().to_owned()),
            expires_at: Some(vouched.ends),
        })
    }

    /// Who a session is now; none once it is over, or what it was opened with would let
    /// nobody in any more: the token is revoked or over, the host's token is another, or
    /// the issuer is no longer configured.
    pub async fn caller_of(&self, session: &Session) -> Result<Option<Caller>, StoreError> {
        let now = self.clock.now();
        let Session { tenant, user, roles, credential, .. } = session;
        let alone = match credential {
            Credential::Host(digest) => match &self.host {
                Some(host) if equal(host, digest) => !self.are_configured(),
                _ => return Ok(None),
            },
            Credential::Token(id) => match self.tokens.by_id(*id).await? {
                Some(token) if tokens::is_valid(&token, now) => false,
                _ => return Ok(None),
            },
            Credential::Provider(issuer) => {
                match self.providers.iter().any(|provider| provider.issuer() == issuer) {
                    true => false,
                    false => return Ok(None),
                }
            }
        };
        let caller = caller(tenant.clone(), user.clone(), roles.clone());
        let caller = Caller { channel: Channel::Inbox, alone, ..caller };
        Ok(Some(caller).filter(|_| now < session.expires_at))
    }

    /// Makes a token; see [`tokens::create`].
    pub async fn create_token(&self, by: &Caller, wanted: tokens::Wanted) -> Result<tokens::Made, Problem> {
        let made = tokens::create(&*self.tokens, &*self.clock, by, wanted).await?;
        self.configured.store(true, Ordering::Relaxed);
        Ok(made)
    }

    /// Tokens that `by` may see; see [`tokens::list`].
    pub async fn tokens(&self, by: &Caller, tenant: Option<TenantId>) -> Result<Vec<Token>, Problem> {
        tokens::list(&*self.tokens, by, tenant).await
    }

    /// Revokes a token; see [`tokens::revoke`].
    pub async fn revoke_token(&self, by: &Caller, id: TokenId) -> Result<Option<Token>, Problem> {
        tokens::revoke(&*self.tokens, &*self.clock, by, id).await
    }

    /// Whoever has the host's own token.
    fn operator(&self) -> Caller {
        Caller { alone: !self.are_configured(), ..operator() }
    }
}

/// Whoever has the data folder: one user of one tenant, with every role.
pub fn operator() -> Caller {
    let tenant = "default".parse().expect("a valid tenant");
    let user = "operator".parse().expect("a valid user");
    Caller { operator: true, ..caller(tenant, user, Role::ALL.to_vec()) }
}

fn caller(tenant: TenantId, user: UserId, roles: Vec<Role>) -> Caller {
    Caller { tenant, user, roles, channel: Channel::Api, alone: false, operator: false }
}

fn of_token(token: Token) -> Known {
    Known {
        caller: caller(token.tenant, token.user, token.roles),
        credential: Credential::Token(token.id),
        expires_at: Some(token.expires_at),
    }
}

/// Compares to the end, wherever the first difference is.
fn equal(a: &Digest, b: &Digest) -> bool {
    let pairs = a.as_bytes().iter().zip(b.as_bytes());
    std::hint::black_box(pairs.fold(0, |difference, (a, b)| difference | (a ^ b))) == 0
}
