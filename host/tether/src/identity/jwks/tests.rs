//! A provider that rotates its keys, goes away, and says strange things.

use super::*;
use crate::identity::tests::given_clock::GivenClock;
use crate::identity::tests::signer::Signer;

const ISSUER: &str = "https://login.test";
const REFRESH: Duration = Duration::from_secs(300);

/// What is at each URL, and what was asked for.
#[derive(Default)]
struct Web {
    pages: Mutex<Vec<(String, String)>>,
    asked: Mutex<Vec<(String, Reach)>>,
}

impl Web {
    fn put(&self, url: &str, page: impl Into<String>) {
        let mut pages = self.pages.lock().unwrap();
        pages.retain(|(known, _)| known != url);
        pages.push((url.to_owned(), page.into()));
    }

    fn take_down(&self) {
        self.pages.lock().unwrap().clear();
    }

    fn count(&self) -> usize {
        self.asked.lock().unwrap().len()
    }

    fn fetch(self: &Arc<Self>) -> Fetch {
        let web = Arc::clone(self);
        Arc::new(move |url, reach| {
            web.asked.lock().unwrap().push((url.to_owned(), reach));
            let pages = web.pages.lock().unwrap();
            let page = pages.iter().find(|(known, _)| known == url).map(|(_, page)| page.clone());
            Box::pin(async move { page.map(Bytes::from).ok_or_else(|| "404".to_owned()) })
        })
    }
}

fn set(signers: &[&Signer]) -> String {
    let keys: Vec<_> = signers.iter().map(|signer| signer.jwk()).collect();
    serde_json::json!({ "keys": keys }).to_string()
}

fn keys(web: &Arc<Web>, at: KeysAt) -> (Arc<GivenClock>, Arc<Keys>) {
    let clock = Arc::new(GivenClock::default());
    (clock.clone(), Keys::new(ISSUER.to_owned(), at, REFRESH, web.fetch(), clock))
}

fn at_url() -> KeysAt {
    KeysAt::Url("http://10.0.0.1/keys".to_owned())
}

async fn has(keys: &Arc<Keys>, id: &str) -> bool {
    let set = keys.with(Some(id), Algorithm::EdDsa).await;
    set.is_some_and(|set| set.find(Some(id), Algorithm::EdDsa).is_some())
}

#[tokio::test]
async fn an_unknown_key_is_asked_for_at_most_each_half_minute() {
    let (old, new) = (Signer::ed25519("old"), Signer::ed25519("new"));
    let web = Arc::new(Web::default());
    let (clock, keys) = keys(&web, at_url());
    web.put("http://10.0.0.1/keys", set(&[&old]));
    assert!(has(&keys, "old").await && has(&keys, "old").await);
    assert_eq!(web.count(), 1);
    // The provider rotates; who guesses ids moves it no sooner.
    web.put("http://10.0.0.1/keys", set(&[&new]));
    for id in ["new", "other", "new"] {
        assert!(!has(&keys, id).await);
    }
    assert_eq!(web.count(), 1);
    clock.advance(AT_MOST_EACH);
    assert!(has(&keys, "new").await);
    // The old key ends with its set.
    assert!(!has(&keys, "old").await);
    assert_eq!(web.count(), 2);
}

#[tokio::test]
async fn many_who_ask_at_once_ask_once() {
    let signer = Signer::ed25519("k");
    let web = Arc::new(Web::default());
    let (_, keys) = keys(&web, at_url());
    web.put("http://10.0.0.1/keys", set(&[&signer]));
    let all: Vec<_> = (0..20)
        .map(|_| {
            let keys = Arc::clone(&keys);
            tokio::spawn(async move { has(&keys, "k").await })
        })
        .collect();
    for one in all {
        assert!(one.await.unwrap());
    }
    assert_eq!(web.count(), 1);
}

#[tokio::test]
async fn where_the_provider_is_away_its_keys_go_on_for_a_while() {
    let signer = Signer::ed25519("k");
    let web = Arc::new(Web::default());
    let (clock, keys) = keys(&web, at_url());
    web.put("http://10.0.0.1/keys", set(&[&signer]));
    assert!(has(&keys, "k").await);
    web.take_down();
    clock.advance(REFRESH * GOES_ON);
    assert!(has(&keys, "k").await);
    clock.advance(Duration::from_secs(1));
    assert!(!has(&keys, "k").await);
}

#[tokio::test]
async fn keys_are_kept_fresh_and_a_failure_is_tried_again_sooner() {
    let (old, new) = (Signer::ed25519("old"), Signer::ed25519("new"));
    let web = Arc::new(Web::default());
    let (clock, keys) = keys(&web, at_url());
    clock.hold();
    let keeping = tokio::spawn(Arc::clone(&keys).keep());
    clock.until_slept(1).await;
    assert!(keys.now().is_none());
    web.put("http://10.0.0.1/keys", set(&[&old]));
    clock.release();
    while clock.slept().len() < 2 {
        tokio::task::yield_now().await;
    }
    assert!(keys.now().unwrap().find(Some("old"), Algorithm::EdDsa).is_some());
    web.put("http://10.0.0.1/keys", set(&[&new]));
    clock.release();
    while clock.slept().len() < 3 {
        tokio::task::yield_now().await;
    }
    assert!(keys.now().unwrap().find(Some("old"), Algorithm::EdDsa).is_none());
    assert_eq!(clock.slept(), [AT_MOST_EACH, REFRESH, REFRESH]);
    keeping.abort();
}

#[tokio::test]
async fn discovery_leads_to_the_keys_and_only_the_operator_leads_inside() {
    let signer = Signer::ed25519("k");
    let check = |issuer: &'static str, at: &'static str, reach: Option<Reach>| {
        let signer = &signer;
        async move {
            let web = Arc::new(Web::default());
            let (_, keys) = keys(&web, KeysAt::Discovery);
            let description = serde_json::json!({ "issuer": issuer, "jwks_uri": at }).to_string();
            web.put("https://login.test/.well-known/openid-configuration", description);
            web.put(at, set(&[signer]));
            assert_eq!(has(&keys, "k").await, reach.is_some(), "{issuer} {at}");
            let asked = web.asked.lock().unwrap().get(1).cloned();
            assert_eq!(asked, reach.map(|reach| (at.to_owned(), reach)));
        }
    };
    check(ISSUER, "https://login.test/keys", Some(Reach::Operators)).await;
    check(ISSUER, "https://LOGIN.test:443/keys", Some(Reach::Operators)).await;
    check(ISSUER, "https://keys.test/", Some(Reach::Foreign)).await;
    check(ISSUER, "http://login.test/keys", Some(Reach::Foreign)).await;
    check(ISSUER, "http://169.254.169.254/", Some(Reach::Foreign)).await;
    check("https://login.test/", "https://login.test/keys", None).await;
    check("https://evil.test", "https://login.test/keys", None).await;
}

#[tokio::test]
async fn what_is_no_set_of_keys_replaces_none() {
    let signer = Signer::ed25519("k");
    let web = Arc::new(Web::default());
    let (clock, keys) = keys(&web, at_url());
    web.put("http://10.0.0.1/keys", set(&[&signer]));
    assert!(has(&keys, "k").await);
    let many = serde_json::json!({ "keys": vec![signer.jwk(); 101] }).to_string();
    for page in ["", "[]", "{}", r#"{"keys":1}"#, r#"{"keys":[],"keys":[]}"#, &many] {
        web.put("http://10.0.0.1/keys", page);
        clock.advance(AT_MOST_EACH);
        assert!(!has(&keys, "other").await && has(&keys, "k").await, "{page:.20}");
    }
    assert_eq!(web.count(), 7);
}
