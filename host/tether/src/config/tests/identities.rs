//! Providers, as operators describe them.

use std::time::Duration;

use super::{toml, wrong};
use crate::identity::{Algorithm, KeysAt, ProviderSettings, TenantOf};

const PROVIDER: &str = r#"
    [[identities.providers]]
    issuer = "https://login.example.com"
    audience = "tether"
    tenant = "acme"
    roles = { claim = "groups", approver = ["support"] }
"#;

fn providers(text: &str) -> Vec<ProviderSettings> {
    toml(text).unwrap().identities.providers
}

#[test]
fn a_provider_needs_an_issuer_an_audience_a_tenant_and_roles() {
    let [provider] = &providers(PROVIDER)[..] else { panic!("one provider") };
    assert_eq!(provider.expected.issuer, "https://login.example.com");
    assert_eq!(provider.expected.audiences, ["tether"]);
    assert_eq!(provider.expected.algorithms, Algorithm::USUAL);
    assert_eq!(provider.expected.leeway, Duration::from_secs(60));
    assert_eq!((&provider.keys, provider.refresh), (&KeysAt::Discovery, Duration::from_secs(300)));
    assert_eq!(provider.mapping.tenant, TenantOf::One("acme".parse().unwrap()));
    assert_eq!(provider.mapping.user, "sub".parse().unwrap());
    for key in ["issuer", "audience", "tenant", "roles"] {
        let lines = PROVIDER.lines().filter(|line| !line.trim().starts_with(key));
        let text = lines.collect::<Vec<_>>().join("\n");
        wrong(toml(&text), &[&format!("`identities.providers[0].{key}` is missing")]);
    }
    wrong(toml(&PROVIDER.replace("approver", "aprover")), &["roles.aprover", "`approver`?"]);
    wrong(toml(&PROVIDER.replace(r#""support""#, "")), &["roles.approver", "all missing"]);
    wrong(toml(&PROVIDER.replace("claim = \"groups\", ", "")), &["roles.claim` is missing"]);
}

#[test]
fn keys_and_claims_are_where_the_operator_says() {
    let text = PROVIDER
        .replace(r#"tenant = "acme""#, r#"tenant = { claim = "/org/id", allowed = ["acme"] }"#)
        + "\nuser = \"email\"\nkeys = \"http://10.0.0.1/keys\"\nalgorithms = [\"PS256\"]\n";
    // Keys after the inline table belong to the same provider.
    let [provider] = &providers(&text)[..] else { panic!("one provider") };
    assert_eq!(provider.keys, KeysAt::Url("http://10.0.0.1/keys".to_owned()));
    assert_eq!(provider.expected.algorithms, [Algorithm::Ps256]);
    assert_eq!(provider.mapping.user, "email".parse().unwrap());
    let claim = TenantOf::Claim { claim: "/org/id".parse().unwrap(), allowed: vec!["acme".parse().unwrap()] };
    assert_eq!(provider.mapping.tenant, claim);
}

#[test]
fn what_would_let_anybody_in_cannot_be_written() {
    let with = |line: &str| toml(&format!("{PROVIDER}\n{line}"));
    for word in ["none", "HS256", "HS512", "RS1", "rs256"] {
        wrong(with(&format!("algorithms = [\"{word}\"]")), &["algorithms[0]", "RS256, RS384"]);
    }
    wrong(with("algorithms = []"), &["algorithms", "is empty"]);
    wrong(with("leeway = \"6m\""), &["leeway", "\"0d\" to \"5m\""]);
    wrong(with("refresh = \"1s\""), &["refresh", "\"30s\" to \"1d\""]);
    wrong(with("user = \"\""), &["user", "JSON pointer"]);
    wrong(with("keys = \"ftp://a.test\""), &["keys", "http or https"]);
    wrong(toml(&PROVIDER.replace("https://", "")), &["issuer", "write it like"]);
    wrong(toml(&PROVIDER.replace(r#""tether""#, r#""""#)), &["audience", "none of them empty"]);
    wrong(toml(&PROVIDER.replace(r#""tether""#, "[]")), &["audience", "none of them empty"]);
    wrong(toml(&PROVIDER.replace(r#""acme""#, "7")), &["tenant", "allowed"]);
}

#[test]
fn no_provider_names_the_tenants_of_another() {
    let other = PROVIDER.replace("login.example.com", "sso.example.com");
    assert_eq!(providers(&format!("{PROVIDER}{other}")).len(), 2);
    wrong(toml(&format!("{PROVIDER}{PROVIDER}")), &["providers[1].issuer", "another provider"]);
    let anything = PROVIDER.replace(r#"tenant = "acme""#, r#"tenant = { claim = "org" }"#);
    assert_eq!(providers(&anything).len(), 1);
    wrong(toml(&format!("{other}{anything}")), &["providers[1].tenant.allowed", "is missing"]);
}

#[test]
fn the_first_token_can_be_left_out() {
    assert!(toml("").unwrap().identities.first_token);
    assert!(!toml("[identities]\nfirst_token = false").unwrap().identities.first_token);
}

#[test]
fn proxies_are_networks() {
    toml("[http]\ntrusted_proxies = [\"10.0.0.0/8\", \"::1\"]").unwrap();
    wrong(toml("[http]\ntrusted_proxies = [\"proxy.local\"]"), &["trusted_proxies[0]", "proxy.local"]);
}
