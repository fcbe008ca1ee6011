//! Whatever reads foreign text here survives any text, and what it accepts is what
//! it says again. 20,000 cases each.

use std::fmt::Display;
use std::str::FromStr;

use tether_core::destination::{Destination, Method, Network, OriginPattern};
use tether_core::grant::Grants;
use tether_core::id::{ActionId, ComponentName, IdempotencyKey, ToolName, UserId};
use tether_core::json::JsonText;
use tether_core::schema::Schema;
use tether_near::near;
use tether_near::proptest::prelude::*;

const ORIGINS: &[&str] = &[
    "https://api.example.com",
    "https://*.example.com:8443",
    "http://127.0.0.1:80",
    "http://[2001:db8::1]:8080",
    "http://0x7f.1",
];

const NETWORKS: &[&str] = &["10.0.0.0/8", "192.168.1.17", "fd00::/8", "::ffff:10.0.0.1/120", "0.0.0.0/0"];

const METHODS: &[&str] = &["GET", "POST", "M-SEARCH", "TRACE"];

const DESTINATIONS: &[&str] = &[
    "https://*.example.com:8443\tGET,POST\tQUERY\t10.0.0.0/8,fd00::/8\tidempotency-key\tauthorization: Bearer ${T}",
    "http://localhost:1\t\t\t\t",
];

const GRANTS: &[&str] = &[
    "database main sqlite\ndestination https://a.test\tGET\t\t\t\n",
    "database crm shared sqlite:/srv/a b.db\n",
];

const IDS: &[&str] = &["9c1e7b6a0f5d4c3b8a7e6d5c4b3a2918", "void_ticket", "agent-7", " ä\n"];

const JSON: &[&str] = &[
    r#"{"a":[1,-0,1.0,1e400,9007199254740993,"\ud83d\ude00\u0000"],"b":{"c":null,"d":true}}"#,
    r#"[[[[[[]]]]],{"a":{"a":{}}}," ",false]"#,
    "\u{feff}{}",
    r#""\ud800""#,
];

const SCHEMAS: &[&str] = &[
    r##"{"type":"object","properties":{"n":{"$ref":"#/$defs/n"}},"$defs":{"n":{"pattern":"^a+$"}}}"##,
    r#"{"anyOf":[{"const":1},{"minimum":1e3}],"not":{"enum":[null]},"$id":"http://x.test/s"}"#,
    r#"{"$ref":"https://elsewhere.test/schema.json"}"#,
];

/// What `text` is read as is written so that it is read as the same again.
fn check<T: FromStr + Display + PartialEq + std::fmt::Debug>(text: &str) -> Result<(), TestCaseError> {
    if let Ok(read) = text.parse::<T>() {
        let written = read.to_string();
        prop_assert_eq!(written.parse::<T>().ok(), Some(read), "{:?} is written {:?}", text, written);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(20_000) })]

    #[test]
    fn origins(text in near(ORIGINS)) {
        check::<OriginPattern>(&text)?;
    }

    #[test]
    fn networks(text in near(NETWORKS)) {
        check::<Network>(&text)?;
    }

    #[test]
    fn methods(text in near(METHODS)) {
        check::<Method>(&text)?;
    }

    #[test]
    fn destinations(text in near(DESTINATIONS)) {
        check::<Destination>(&text)?;
    }

    #[test]
    fn grants(text in near(GRANTS)) {
        check::<Grants>(&text)?;
    }

    #[test]
    fn ids(text in near(IDS)) {
        check::<ActionId>(&text)?;
        check::<ToolName>(&text)?;
        check::<ComponentName>(&text)?;
        check::<UserId>(&text)?;
        check::<IdempotencyKey>(&text)?;
    }

    #[test]
    fn json_is_kept_to_the_letter_or_refused(text in near(JSON)) {
        if let Ok(read) = JsonText::parse(text.as_str()) {
            prop_assert_eq!(read.as_str(), text.as_str());
            let again = JsonText::parse(read.as_str()).map(|again| again.fingerprint());
            prop_assert_eq!(again.ok(), Some(read.fingerprint()));
        }
    }

    #[test]
    fn schemas_compile_or_are_refused_and_check_anything(schema in near(SCHEMAS), value in near(JSON)) {
        if let Ok(schema) = JsonText::parse(schema)
            && let Ok(schema) = Schema::compile(&schema)
            && let Ok(value) = JsonText::parse(value)
            && let Err(violations) = schema.check(&value)
        {
            prop_assert!(!violations.is_empty());
        }
    }
}
