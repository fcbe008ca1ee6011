//! Which tokens of a provider are taken, and which are not.

use std::time::Duration;

use ring::hmac;
use serde_json::{Value, json};
use tether_core::clock::{Clock as _, Timestamp};

use super::given_clock::GivenClock;
use super::signer::{Signer, encode};
use crate::identity::jwt::{Expected, Jwt, Refused};
use crate::identity::key::{Algorithm, KeySet};

const ISSUER: &str = "https://login.test";

fn now() -> Timestamp {
    GivenClock::default().now()
}

/// A moment, `seconds` from now, as claims write it.
fn at(seconds: i64) -> i64 {
    now().as_millis() / 1000 + seconds
}

fn claims() -> Value {
    json!({ "iss": ISSUER, "aud": "tether", "sub": "ann", "iat": at(-10), "nbf": at(-10), "exp": at(300) })
}

fn with(name: &str, value: Value) -> Value {
    let mut claims = claims();
    claims[name] = value;
    claims
}

fn without(name: &str) -> Value {
    let mut claims = claims();
    claims.as_object_mut().unwrap().remove(name);
    claims
}

fn expected() -> Expected {
    Expected {
        issuer: ISSUER.to_owned(),
        audiences: vec!["tether".to_owned(), "other".to_owned()],
        algorithms: Algorithm::ALL.to_vec(),
        leeway: Duration::from_secs(60),
    }
}

fn set(keys: &[Value]) -> KeySet {
    KeySet::parse(&json!({ "keys": keys }).to_string()).unwrap()
}

fn judge(token: &str, expected: &Expected, keys: &KeySet) -> Result<(), Refused> {
    let jwt = Jwt::parse(token)?;
    jwt.check(expected, now())?;
    jwt.verify(keys).map(drop)
}

#[track_caller]
fn check(token: &str, keys: &KeySet, refused: Option<&'static str>) {
    assert_eq!(judge(token, &expected(), keys), refused.map_or(Ok(()), |why| Err(Refused(why))));
}

/// One of each kind.
fn signers() -> Vec<Signer> {
    use Algorithm::{Es256, Es384, Ps256, Ps384, Ps512, Rs256, Rs384, Rs512};
    let rsa = [Rs256, Rs384, Rs512, Ps256, Ps384, Ps512].map(|with| Signer::rsa("rsa", with));
    let ecdsa = [Es256, Es384].map(|with| Signer::ecdsa(with.as_str(), with));
    rsa.into_iter().chain(ecdsa).chain([Signer::ed25519("ed")]).collect()
}

#[test]
fn each_algorithm_is_checked_with_its_own_kind_of_key_and_no_other() {
    let signers = signers();
    for signer in &signers {
        let token = signer.token(&claims());
        check(&token, &set(&[signer.jwk()]), None);
        // The same id on another kind of key.
        for other in &signers {
            let mut key = other.jwk();
            if key["kty"] != signer.jwk()["kty"] || key["crv"] != signer.jwk()["crv"] {
                key["kid"] = signer.header()["kid"].clone();
                check(&token, &set(&[key]), Some("its key is unknown"));
            }
        }
        // A key that says what it is for is for that.
        let only = |name: &str, value: Value| {
            let mut key = signer.jwk();
            key[name] = value;
            set(&[key])
        };
        check(&token, &only("alg", signer.header()["alg"].clone()), None);
        check(&token, &only("use", json!("sig")), None);
        check(&token, &only("key_ops", json!(["verify"])), None);
        for (name, value) in [
            ("alg", json!("HS256")),
            ("alg", json!(if signer.header()["alg"] == "RS256" { "RS512" } else { "RS256" })),
            ("use", json!("enc")),
            ("key_ops", json!(["sign"])),
            ("key_ops", json!("verify")),
        ] {
            check(&token, &only(name, value), Some("its key is unknown"));
        }
    }
}

#[test]
fn claims_say_whose_for_whom_and_when() {
    let signer = Signer::ed25519("k");
    let keys = set(&[signer.jwk()]);
    let check = |claims: Value, refused| check(&signer.token(&claims), &keys, refused);
    check(claims(), None);
    check(with("aud", json!(["a", "other"])), None);
    for name in ["nbf", "iat"] {
        check(without(name), None);
        check(with(name, json!(at(59))), None);
        check(with(name, json!(at(61))), Some("it is not valid yet"));
        check(with(name, json!("0")), Some("one of its moments is no number"));
    }
    check(with("exp", json!(at(-59))), None);
    check(with("exp", json!(at(-60))), Some("it is expired"));
    check(with("exp", json!(-1e300)), Some("it is expired"));
    check(with("exp", json!(1e300)), None);
    check(with("exp", json!("2100-01-01")), Some("one of its moments is no number"));
    check(with("exp", json!(null)), Some("one of its moments is no number"));
    check(without("exp"), Some("it never expires"));
    for audience in [json!("tether "), json!("Tether"), json!([]), json!(["a"]), json!(null), json!(7)] {
        check(with("aud", audience), Some("it is for another audience"));
    }
    check(without("aud"), Some("it is for another audience"));
    for issuer in [json!("https://login.test/"), json!("https://evil.test"), json!([ISSUER]), json!(null)] {
        check(with("iss", issuer), Some("it is of another issuer"));
    }
    check(without("iss"), Some("it is of another issuer"));
}

#[test]
fn a_signature_is_of_this_text_with_this_key() {
    for signer in signers() {
        let keys = set(&[signer.jwk()]);
        let token = signer.token(&claims());
        let parts: Vec<_> = token.split('.').collect();
        let other = signer.token(&with("sub", json!("boss")));
        let other: Vec<_> = other.split('.').collect();
        let swapped = format!("{}.{}.{}", parts[0], other[1], parts[2]);
        check(&swapped, &keys, Some("its signature is wrong"));
        check(&format!("{}.{}.", parts[0], parts[1]), &keys, Some("its signature is wrong"));
        check(&format!("{}.{}.AAAA", parts[0], parts[1]), &keys, Some("its signature is wrong"));
    }
    let (old, new) = (Signer::ed25519("k"), Signer::ed25519("k"));
    check(&old.token(&claims()), &set(&[new.jwk()]), Some("its signature is wrong"));
}

#[test]
fn who_signs_chooses_neither_algorithm_nor_key() {
    let rsa = Signer::rsa("k", Algorithm::Rs256);
    let ecdsa = Signer::ecdsa("k", Algorithm::Es256);
    let keys = set(&[rsa.jwk()]);
    let body = claims().to_string();

    // Unsigned, however it is spelt.
    for none in ["none", "None", "NONE", "nOnE", ""] {
        let token = format!("{}.{}.", encode(json!({ "alg": none, "kid": "k" }).to_string()), encode(&body));
        check(&token, &keys, Some("it is not signed in a way that is taken"));
    }
    check(
        &format!("{}.{}.", encode("{}"), encode(&body)),
        &keys,
        Some("it is not signed in a way that is taken"),
    );

    // The public key as a shared secret.
    let signed = format!("{}.{}", encode(r#"{"alg":"HS256","kid":"k"}"#), encode(&body));
    for secret in [rsa.jwk().to_string(), rsa.jwk()["n"].as_str().unwrap().to_owned()] {
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()), signed.as_bytes());
        check(&format!("{signed}.{}", encode(tag)), &keys, Some("it is not signed in a way that is taken"));
    }

    // One algorithm's name on another's key and signature.
    let header = r#"{"alg":"RS256","kid":"k"}"#;
    check(&ecdsa.sign(header, &body), &set(&[ecdsa.jwk()]), Some("its key is unknown"));
    check(&ecdsa.sign(header, &body), &keys, Some("its signature is wrong"));

    // A key that the token brings along, or names the place of.
    for extra in [
        json!({ "jwk": ecdsa.jwk() }),
        json!({ "jku": "https://evil.test/keys" }),
        json!({ "x5u": "https://evil.test/cert" }),
        json!({ "x5c": ["AAAA"] }),
    ] {
        let mut header = ecdsa.header();
        header.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        check(&ecdsa.sign(&header.to_string(), &body), &keys, Some("its key is unknown"));
    }

    // What the operator did not name.
    let narrow = Expected { algorithms: Algorithm::USUAL.to_vec(), ..expected() };
    let token = Signer::rsa("k", Algorithm::Ps512).token(&claims());
    let refused = Refused("its algorithm is not taken from this issuer");
    assert_eq!(judge(&token, &narrow, &keys), Err(refused));
}

#[test]
fn a_header_that_could_mean_something_else_is_refused() {
    let signer = Signer::ed25519("k");
    let keys = set(&[signer.jwk()]);
    let check = |header: &str, refused| check(&signer.sign(header, &claims().to_string()), &keys, refused);
    check(r#"{"alg":"EdDSA","kid":"k"}"#, None);
    check(r#"{"alg":"EdDSA","kid":"k","typ":"at+JWT"}"#, None);
    for kind in ["\"logout+jwt\"", "\"\"", "7", "null", "\"JWT \""] {
        check(&format!(r#"{{"alg":"EdDSA","kid":"k","typ":{kind}}}"#), Some("it is of another type"));
    }
    check(r#"{"alg":"EdDSA","kid":"k","crit":[]}"#, Some("it has critical headers"));
    check(r#"{"alg":"EdDSA","kid":"k","crit":["b64"],"b64":false}"#, Some("it has critical headers"));
    check(r#"{"alg":"EdDSA","kid":7}"#, Some("its key id is no text"));
    check(r#"{"alg":"EdDSA","kid":"other"}"#, Some("its key is unknown"));
    check(r#"{"alg":["EdDSA"],"kid":"k"}"#, Some("it is not signed in a way that is taken"));
    check(r#"{"alg":"none","alg":"EdDSA","kid":"k"}"#, Some("its header cannot be read"));
    check("[]", Some("its header cannot be read"));
}

#[test]
fn a_token_that_can_be_read_in_two_ways_is_refused() {
    let signer = Signer::ed25519("k");
    let keys = set(&[signer.jwk()]);
    let header = signer.header().to_string();
    let twice = format!(r#"{{"sub":"boss",{}"#, &claims().to_string()[1..]);
    check(&signer.sign(&header, &twice), &keys, Some("its claims cannot be read"));
    let deep = format!(r#"{{"x":{{"a":1,"a":2}},{}"#, &claims().to_string()[1..]);
    check(&signer.sign(&header, &deep), &keys, Some("its claims cannot be read"));

    let token = signer.token(&claims());
    check(&format!("{token}="), &keys, Some("its signature is no base64url"));
    check(&format!("{token}\n"), &keys, Some("its signature is no base64url"));
    check(&format!(" {token}"), &keys, Some("its header cannot be read"));
    check(&format!("{token}.x"), &keys, Some("its signature is no base64url"));
    check("..", &keys, Some("its header cannot be read"));
    check("a.b", &keys, Some("it has no three parts"));
    check("", &keys, Some("it has no parts"));
    let long = signer.token(&with("x", json!("x".repeat(16 << 10))));
    check(&long, &keys, Some("it is too long"));
}

#[test]
fn without_an_id_there_must_be_one_key_that_fits() {
    let (one, other) = (Signer::ed25519("a"), Signer::ed25519("b"));
    let ecdsa = Signer::ecdsa("c", Algorithm::Es256);
    let token = one.sign(r#"{"alg":"EdDSA"}"#, &claims().to_string());
    check(&token, &set(&[one.jwk(), ecdsa.jwk()]), None);
    check(&token, &set(&[one.jwk(), other.jwk()]), Some("its key is unknown"));
    // Two keys of one id, where both fit, are as bad.
    let mut double = other.jwk();
    double["kid"] = json!("a");
    check(&one.token(&claims()), &set(&[one.jwk(), double]), Some("its key is unknown"));
    // A key without an id is none that a token names.
    let mut nameless = one.jwk();
    nameless.as_object_mut().unwrap().remove("kid");
    check(&one.token(&claims()), &set(&[nameless.clone()]), Some("its key is unknown"));
    check(&token, &set(&[nameless]), None);
}

#[test]
fn weak_and_broken_keys_are_passed_over() {
    let good = Signer::ed25519("k");
    let rsa = Signer::rsa("rsa", Algorithm::Rs256);
    let short = json!({ "kty": "RSA", "kid": "rsa", "n": encode([0xa9; 128]), "e": "AQAB" });
    let check = |key: Value| {
        let set = set(&[key, good.jwk()]);
        assert_eq!(set.len(), 1);
        super::jwt::check(&good.token(&claims()), &set, None);
    };
    check(short);
    check(json!({ "kty": "oct", "kid": "k", "k": "AAAA" }));
    check(json!({ "kty": "EC", "crv": "P-521", "kid": "k", "x": "AAAA", "y": "AAAA" }));
    check(json!({ "kty": "EC", "crv": "P-256", "kid": "k", "x": "AAAA", "y": "AAAA" }));
    check(json!({ "kty": "OKP", "crv": "X25519", "kid": "k", "x": encode([0; 32]) }));
    check(json!({ "kty": "OKP", "crv": "Ed25519", "kid": 7, "x": encode([1; 32]) }));
    check(json!({ "kty": "RSA", "kid": "rsa", "n": "", "e": "AQAB" }));
    check(json!("key"));
    // A zero in front, as some write numbers, changes nothing.
    let mut padded = rsa.jwk();
    let n = crate::identity::key::decode(padded["n"].as_str().unwrap()).unwrap();
    padded["n"] = json!(encode([&[0][..], &n].concat()));
    super::jwt::check(&rsa.token(&claims()), &set(&[padded]), None);
}
