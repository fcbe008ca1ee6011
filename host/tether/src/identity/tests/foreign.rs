//! Whatever somebody presents is taken or refused, and taken is nothing but what was
//! signed: 2,000 cases each.

use std::net::IpAddr;
use std::sync::LazyLock;
use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue};
use serde_json::json;
use tether_core::clock::Clock as _;
use tether_near::near;
use tether_near::proptest::prelude::*;

use super::given_clock::GivenClock;
use super::signer::Signer;
use crate::identity::jwt::{Expected, Jwt};
use crate::identity::key::{Algorithm, KeySet};
use crate::identity::{Claim, Proxies};

static SIGNER: LazyLock<Signer> = LazyLock::new(|| Signer::ed25519("k"));

/// Good tokens, which live as long as the tests.
static TOKENS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let end = GivenClock::default().now().as_millis() / 1000 + 60;
    let claims = json!({ "iss": "https://login.test", "aud": ["tether"], "sub": "ann", "exp": end });
    let token: &'static str = SIGNER.token(&claims).leak();
    vec![token]
});

const SETS: &[&str] = &[
    r#"{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"k","use":"sig","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#,
    r#"{"keys":[{"kty":"EC","crv":"P-256","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM","key_ops":["verify"]},{"kty":"RSA","alg":"RS256","n":"AQAB","e":"AQAB"}]}"#,
];

const FORWARDED: &[&str] = &["198.51.100.1, 10.0.0.2", "2001:db8::1,::1", "unknown, 10.0.0.3"];

const CLAIMS: &[&str] = &["sub", "/realm_access/roles", "/a~1b/~0", "https://acme.test/roles"];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn a_token(text in near(TOKENS.as_slice())) {
        let expected = Expected {
            issuer: "https://login.test".to_owned(),
            audiences: vec!["tether".to_owned()],
            algorithms: Algorithm::ALL.to_vec(),
            leeway: Duration::ZERO,
        };
        let keys = KeySet::parse(&json!({ "keys": [SIGNER.jwk()] }).to_string()).unwrap();
        let taken = Jwt::parse(&text).is_ok_and(|jwt| {
            jwt.check(&expected, GivenClock::default().now()).is_ok() && jwt.verify(&keys).is_ok()
        });
        prop_assert_eq!(taken, text == TOKENS[0]);
    }

    #[test]
    fn a_set_of_keys(text in near(SETS)) {
        let Ok(keys) = KeySet::parse(&text) else { return Ok(()) };
        for algorithm in Algorithm::ALL {
            if let Some(key) = keys.find(None, algorithm) {
                prop_assert!(!key.verifies(algorithm, b"message", &[0; 64]));
            }
        }
    }

    #[test]
    fn a_row_of_proxies(text in near(FORWARDED)) {
        let proxies = Proxies::new(vec!["10.0.0.0/8".parse().unwrap()]);
        let mut headers = HeaderMap::new();
        if let Ok(value) = HeaderValue::from_str(&text) {
            headers.insert("x-forwarded-for", value);
        }
        let stranger: IpAddr = "192.0.2.1".parse().unwrap();
        prop_assert_eq!(proxies.client(stranger, &headers), stranger);
        proxies.client("10.0.0.1".parse().unwrap(), &headers);
    }

    #[test]
    fn the_name_of_a_claim(text in near(CLAIMS)) {
        let _ = text.parse::<Claim>();
    }
}
