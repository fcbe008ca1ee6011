//! An OpenID provider whose tokens are taken.

use std::sync::Arc;
use std::time::Duration;

use tether_core::clock::{Clock, Timestamp};
use tether_core::id::{TenantId, UserId};
use tether_core::identity::Role;

use super::Identities;
use super::claims::Mapping;
use super::jwks::{Fetch, Keys, KeysAt};
use super::jwt::{Expected, Jwt, Refused};

/// What an operator says of a provider.
#[derive(Debug, Clone)]
pub struct ProviderSettings {
    /// What its tokens must be.
    pub expected: Expected,
    /// Where its keys are.
    pub keys: KeysAt,
    /// How often they are asked for.
    pub refresh: Duration,
    /// What its claims mean.
    pub mapping: Mapping,
}

/// See the module.
pub(super) struct Provider {
    expected: Expected,
    mapping: Mapping,
    keys: Arc<Keys>,
}

/// What a client is told that wants a token of a provider.
pub(crate) struct Issuer<'a> {
    /// Its `iss`.
    pub(crate) name: &'a str,
    /// Whom its tokens may be for.
    pub(crate) audiences: &'a [String],
    /// The scopes that make somebody an agent; none where it is no scope that does.
    pub(crate) scopes: Vec<&'a str>,
}

impl Identities {
    /// Those whose tokens are taken.
    pub(crate) fn issuers(&self) -> impl Iterator<Item = Issuer<'_>> {
        self.providers.iter().map(|provider| Issuer {
            name: &provider.expected.issuer,
            audiences: &provider.expected.audiences,
            scopes: provider.mapping.roles.scopes(Role::Agent),
        })
    }
}

/// Somebody whom a provider vouches for.
pub(super) struct Vouched {
    pub(super) tenant: TenantId,
    pub(super) user: UserId,
    pub(super) roles: Vec<Role>,
    /// Until when.
    pub(super) ends: Timestamp,
}

impl Provider {
    pub(super) fn new(settings: ProviderSettings, fetch: Fetch, clock: Arc<dyn Clock>) -> Self {
        let ProviderSettings { expected, keys, refresh, mapping } = settings;
        let keys = Keys::new(expected.issuer.clone(), keys, refresh, fetch, clock);
        Self { expected, mapping, keys }
    }

    pub(super) fn issuer(&self) -> &str {
        &self.expected.issuer
    }

    pub(super) fn keys(&self) -> &Arc<Keys> {
        &self.keys
    }

    /// Whom `jwt` is of. The provider is asked for a key only where all else fits, so that
    /// only its own tokens, or good copies, move it.
    pub(super) async fn read(&self, jwt: &Jwt<'_>, now: Timestamp) -> Result<Vouched, Refused> {
        let ends = jwt.check(&self.expected, now)?;
        let (key, algorithm) = jwt.signed_with();
        let keys = self.keys.with(key, algorithm).await;
        let keys = keys.ok_or(Refused("the keys of its issuer are not there"))?;
        let (tenant, user, roles) = self.mapping.read(jwt.verify(&keys)?)?;
        Ok(Vouched { tenant, user, roles, ends })
    }
}
