//! Who is let in, and for how long.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tether_core::clock::Clock as _;
use tether_core::identity::{Caller, Channel, Role};
use tether_core::port::sessions::{Credential, Session};
use tether_store::SqliteActions;

use super::given_clock::GivenClock;
use super::signer::Signer;
use super::{fetch, parts};
use crate::identity::tokens::Wanted;
use crate::identity::{
    Denied, Expected, Identities, IdentityParts, KeysAt, Known, Mapping, ProviderSettings, RolesOf, TenantOf,
    operator,
};
use crate::scratch::Scratch;

const PEER: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const HOST: &str = "the-host's-own-token";
const HOUR: Duration = Duration::from_secs(3600);

struct Bench {
    clock: Arc<GivenClock>,
    store: Arc<SqliteActions>,
    signer: Signer,
    _folder: Scratch,
}

impl Bench {
    fn new() -> Self {
        let folder = Scratch::new().unwrap();
        let store = Arc::new(SqliteActions::open(folder.path().join("actions.db")).unwrap());
        Self { clock: Arc::default(), store, signer: Signer::ed25519("k"), _folder: folder }
    }

    fn parts(&self) -> IdentityParts {
        parts(HOST, &self.store, &self.clock)
    }

    async fn identities(&self) -> Identities {
        Identities::new(self.parts()).await.unwrap()
    }

    /// With a provider.
    async fn federated(&self) -> Identities {
        let provider = ProviderSettings {
            expected: Expected {
                issuer: "https://login.test".to_owned(),
                audiences: vec!["tether".to_owned()],
                algorithms: crate::identity::Algorithm::USUAL.to_vec(),
                leeway: Duration::ZERO,
            },
            keys: KeysAt::Url("https://login.test/keys".to_owned()),
            refresh: HOUR,
            mapping: Mapping {
                tenant: TenantOf::One("acme".parse().unwrap()),
                user: "sub".parse().unwrap(),
                roles: RolesOf {
                    claim: "groups".parse().unwrap(),
                    words: vec![(Role::Approver, vec!["support".to_owned()])],
                },
            },
        };
        let fetch = fetch(json!({ "keys": [self.signer.jwk()] }));
        Identities::new(IdentityParts { providers: vec![provider], fetch, ..self.parts() }).await.unwrap()
    }

    fn claims(&self) -> Value {
        let now = self.clock.now().as_millis() / 1000;
        json!({ "iss": "https://login.test", "aud": "tether", "sub": "ann", "groups": "support", "exp": now + 60 })
    }

    /// A session that was opened with what let somebody in.
    fn session(&self, known: &Known) -> Session {
        let Caller { tenant, user, roles, .. } = known.caller.clone();
        let now = self.clock.now();
        Session {
            tenant,
            user,
            roles,
            credential: known.credential.clone(),
            created_at: now,
            expires_at: now.after(HOUR),
        }
    }
}

async fn let_in(identities: &Identities, credential: &str) -> Known {
    identities.identify(credential, PEER).await.unwrap()
}

async fn refused(identities: &Identities, credential: &str) {
    let refused = identities.identify(credential, PEER).await;
    assert!(matches!(refused, Err(Denied::Unknown)), "{credential}");
}

/// A token of `ann`, an approver, for an hour.
async fn token(identities: &Identities) -> String {
    let wanted = Wanted {
        tenant: Some("acme".parse().unwrap()),
        user: "ann".parse().unwrap(),
        roles: vec![Role::Approver, Role::Approver],
        life: HOUR,
    };
    identities.create_token(&operator(), wanted).await.unwrap().secret
}

async fn is_in(identities: &Identities, session: &Session) -> bool {
    identities.caller_of(session).await.unwrap().is_some()
}

#[tokio::test]
async fn the_hosts_own_token_is_its_operators_and_alone_until_there_is_another() {
    let bench = Bench::new();
    let identities = bench.identities().await;
    let known = let_in(&identities, HOST).await;
    assert_eq!((known.caller.tenant.as_str(), known.caller.user.as_str()), ("default", "operator"));
    assert_eq!(known.caller.roles, Role::ALL);
    assert!(known.caller.operator && known.caller.alone && !identities.are_configured());
    assert_eq!(known.expires_at, None);
    for wrong in ["", "the-host's-own-toke", "the-host's-own-token ", "The-host's-own-token"] {
        refused(&identities, wrong).await;
    }
    token(&identities).await;
    assert!(identities.are_configured() && !let_in(&identities, HOST).await.caller.alone);
    // Also in the next life, and with a provider from the beginning.
    assert!(bench.identities().await.are_configured());
    assert!(Bench::new().federated().await.are_configured());
}

#[tokio::test]
async fn without_a_token_of_its_own_the_host_has_none() {
    let bench = Bench::new();
    let identities = Identities::new(IdentityParts { host_token: None, ..bench.parts() }).await.unwrap();
    refused(&identities, HOST).await;
    refused(&identities, "").await;
}

#[tokio::test]
async fn a_stored_token_is_its_users_until_it_is_over() {
    let bench = Bench::new();
    let identities = bench.identities().await;
    let secret = token(&identities).await;
    let known = let_in(&identities, &secret).await;
    assert_eq!((known.caller.tenant.as_str(), known.caller.user.as_str()), ("acme", "ann"));
    assert_eq!(known.caller.roles, [Role::Approver]);
    assert!(!known.caller.operator && !known.caller.alone);
    assert_eq!(known.expires_at, Some(bench.clock.now().after(HOUR)));
    refused(&identities, &secret[..secret.len() - 1]).await;
    refused(&identities, &secret.to_uppercase()).await;
    bench.clock.advance(HOUR);
    refused(&identities, &secret).await;
}

#[tokio::test]
async fn a_providers_token_is_whose_its_claims_say() {
    let bench = Bench::new();
    let identities = bench.federated().await;
    let jwt = bench.signer.token(&bench.claims());
    let known = let_in(&identities, &jwt).await;
    assert_eq!((known.caller.tenant.as_str(), known.caller.user.as_str()), ("acme", "ann"));
    assert_eq!(known.credential, Credential::Provider("https://login.test".to_owned()));
    assert_eq!(known.expires_at, Some(bench.clock.now().after(Duration::from_secs(60))));
    // Without the provider it is nobody's.
    refused(&bench.identities().await, &jwt).await;
    bench.clock.advance(Duration::from_secs(60));
    refused(&identities, &jwt).await;
}

#[tokio::test]
async fn a_session_is_over_with_what_it_was_opened_with() {
    let bench = Bench::new();
    let identities = bench.federated().await;

    let session = bench.session(&let_in(&identities, HOST).await);
    let caller = identities.caller_of(&session).await.unwrap().unwrap();
    assert_eq!(caller.channel, Channel::Inbox);
    assert!(!caller.operator, "a browser manages no tokens");
    let other = IdentityParts { host_token: Some("another".to_owned()), ..bench.parts() };
    assert!(!is_in(&Identities::new(other).await.unwrap(), &session).await);

    let known = let_in(&identities, &token(&identities).await).await;
    let session = bench.session(&known);
    assert!(is_in(&identities, &session).await);
    let Credential::Token(id) = known.credential else { panic!("a stored token") };
    identities.revoke_token(&operator(), id).await.unwrap().unwrap();
    assert!(!is_in(&identities, &session).await);

    let session = bench.session(&let_in(&identities, &bench.signer.token(&bench.claims())).await);
    assert!(is_in(&identities, &session).await);
    assert!(!is_in(&bench.identities().await, &session).await);

    let over = Session { expires_at: bench.clock.now(), ..session };
    assert!(!is_in(&identities, &over).await);
}

#[tokio::test]
async fn a_session_of_a_token_is_over_when_the_token_is() {
    let bench = Bench::new();
    let identities = bench.identities().await;
    let session = bench.session(&let_in(&identities, &token(&identities).await).await);
    let session = Session { expires_at: bench.clock.now().after(2 * HOUR), ..session };
    bench.clock.advance(HOUR - Duration::from_millis(1));
    assert!(is_in(&identities, &session).await);
    bench.clock.advance(Duration::from_millis(1));
    assert!(!is_in(&identities, &session).await);
}
