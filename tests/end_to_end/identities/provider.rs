//! Tokens of an OpenID provider, over real connections.

use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde_json::{Value, json};

use crate::support::{Answer, Api, Reply, Server, Setup, Upstream};

/// Long after these tests.
const LATE: u64 = 4_102_444_800;

fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// A key of the provider.
pub(crate) struct Signer {
    id: &'static str,
    pair: Ed25519KeyPair,
}

impl Signer {
    pub(crate) fn new(id: &'static str) -> Self {
        let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        Self { id, pair: Ed25519KeyPair::from_pkcs8(document.as_ref()).unwrap() }
    }

    fn jwk(&self) -> Value {
        json!({ "kty": "OKP", "crv": "Ed25519", "kid": self.id, "x": encode(self.pair.public_key()) })
    }

    pub(crate) fn token(&self, claims: &Value) -> String {
        let header = json!({ "alg": "EdDSA", "kid": self.id });
        let signed = format!("{}.{}", encode(header.to_string()), encode(claims.to_string()));
        let signature = self.pair.sign(signed.as_bytes());
        format!("{signed}.{}", encode(signature))
    }
}

/// See the module. Its issuer is where it listens.
pub(crate) struct Provider {
    upstream: Upstream,
    keys: Arc<Mutex<Value>>,
}

impl Provider {
    pub(crate) fn start(signer: &Signer) -> Self {
        let keys = Arc::new(Mutex::new(json!({ "keys": [signer.jwk()] })));
        let served = Arc::clone(&keys);
        let upstream = Upstream::start(move |_, request| {
            let origin = format!("http://{}", request.header("host").unwrap_or_default());
            match request.path.as_str() {
                "/.well-known/openid-configuration" => {
                    let keys = format!("{origin}/keys");
                    Reply::ok(&json!({ "issuer": origin, "jwks_uri": keys }).to_string())
                }
                "/keys" => Reply::ok(&served.lock().unwrap().to_string()),
                _ => Reply::status(404),
            }
        });
        Self { upstream, keys }
    }

    pub(crate) fn issuer(&self) -> String {
        self.upstream.origin()
    }

    pub(super) fn setup(&self) -> Setup {
        let issuer = self.upstream.origin();
        let text = format!(
            "[[identities.providers]]\nissuer = \"{issuer}\"\naudience = \"tether\"\n\
             tenant = {{ claim = \"org\" }}\nrefresh = \"30s\"\n\
             roles = {{ claim = \"groups\", agent = [\"bots\"], approver = [\"support\"] }}\n"
        );
        Setup::of(&["probe"]).config("tether.toml", &text)
    }

    pub(super) fn claims(&self, groups: &str) -> Value {
        let iss = self.upstream.origin();
        json!({ "iss": iss, "aud": "tether", "sub": "ann", "org": "acme", "groups": groups, "exp": LATE })
    }
}

fn ask(server: &Server, token: String, path: &str) -> Answer {
    Api { token, ..server.api.clone() }.get(path)
}

#[test]
fn a_token_of_the_provider_lets_in_whom_its_claims_name() {
    let (signer, stranger) = (Signer::new("k"), Signer::new("k"));
    let provider = Provider::start(&signer);
    let server = provider.setup().start();
    let claims = provider.claims("bots");
    let agent = Api { token: signer.token(&claims), ..server.api.clone() };
    let action = agent.call("probe_nothing", "{}");
    action.check("202 Pending");
    assert_eq!((action.str("tenant"), action.str("proposedBy")), ("acme", "ann"));
    ask(&server, signer.token(&provider.claims("guests")), "/v1/tools").check("403 FORBIDDEN");

    // The same person, with the right to decide, decides nothing of its own.
    let mut claims = provider.claims("bots support");
    let id = action.str("actionId");
    let own = Api { token: signer.token(&claims), ..server.api.clone() };
    own.confirm(id, "{}").check("403 FORBIDDEN");
    claims["sub"] = json!("bob");
    let other = Api { token: signer.token(&claims), ..server.api.clone() };
    other.confirm(id, "{}").check("200 Succeeded");

    // Whatever is wrong with a token, the answer is one. Each comes from an address of
    // its own in the table of `jwt.rs`; here five are free.
    let wrong = |name: &str, value: Value| {
        let mut claims = claims.clone();
        claims[name] = value;
        signer.token(&claims)
    };
    let answers: Vec<_> = [
        stranger.token(&claims),
        wrong("exp", json!(1)),
        wrong("aud", json!("other")),
        wrong("iss", json!("https://evil.test")),
    ]
    .into_iter()
    .map(|token| ask(&server, token, "/v1/tools").check("401 UNAUTHENTICATED").text.clone())
    .collect();
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
}

#[test]
fn a_key_that_the_provider_takes_away_opens_nothing_after_the_next_look() {
    let (old, new) = (Signer::new("old"), Signer::new("new"));
    let provider = Provider::start(&old);
    let mut server = provider.setup().start();
    let tokens = [&old, &new].map(|signer| signer.token(&provider.claims("bots")));
    let [by_old, by_new] = &tokens;
    ask(&server, by_old.clone(), "/v1/tools").check("200");
    *provider.keys.lock().unwrap() = json!({ "keys": [new.jwk()] });
    // A start looks at once.
    server.restart();
    ask(&server, by_new.clone(), "/v1/tools").check("200");
    ask(&server, by_old.clone(), "/v1/tools").check("401 UNAUTHENTICATED");
}
