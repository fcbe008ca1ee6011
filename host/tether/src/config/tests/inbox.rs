use std::time::Duration;

use super::{environment, toml, wrong};

#[test]
fn it_has_no_name_and_a_session_is_a_working_day() {
    let inbox = toml("").unwrap().inbox;
    assert_eq!((inbox.url, inbox.session), (None, Duration::from_secs(8 * 3600)));
}

#[test]
fn it_is_called_as_browsers_call_it() {
    let inbox = toml("[inbox]\nurl = \"https://Tether.example.com/\"\nsession = \"30m\"").unwrap().inbox;
    assert_eq!(inbox.url.unwrap().to_string(), "https://tether.example.com");
    assert_eq!(inbox.session, Duration::from_secs(1800));
    let inbox = environment(&[("TETHER_INBOX__URL", "http://gateway:8484")]).unwrap().inbox;
    assert_eq!(inbox.url.unwrap().to_string(), "http://gateway:8484");
}

#[test]
fn what_is_no_origin_and_no_working_session_is_refused() {
    for url in ["tether.example.com", "https://tether.example.com/inbox", "ftp://tether.example.com"] {
        wrong(toml(&format!("[inbox]\nurl = {url:?}")), &["`inbox.url`", "the origin that browsers see"]);
    }
    wrong(toml("[inbox]\nsession = \"1m\""), &["`inbox.session`", "from \"5m\" to \"7d\""]);
    wrong(toml("[inbox]\nurls = \"x\""), &["did you mean `url`?"]);
}
