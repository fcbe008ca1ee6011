//! Somebody guesses from an address that others have as well.

use std::time::{Duration, Instant};

use crate::support::{Answer, Api, Request, Setup};

#[test]
fn a_good_token_is_let_in_within_seconds_whatever_a_neighbour_guesses() {
    let server = Setup::of(&["probe"]).start();
    let made = server.api.post("/v1/tokens", r#"{"user":"ann","roles":["approver"]}"#);
    let ann = Api { token: made.str("token").to_owned(), ..server.api.clone() };
    let with = |number: usize| Api { token: format!("tether_{number:064}"), ..server.api.clone() };
    for number in 0..5 {
        with(number).get("/v1/actions").check("401 UNAUTHENTICATED");
    }
    let guesses: Vec<_> = (5..305)
        .map(|number| {
            let guess = with(number);
            let request = Request { method: "GET", ..guess.post_of("/v1/actions", &[], b"") };
            guess.send(&request).expect("it takes requests")
        })
        .collect();
    let begin = Instant::now();
    ann.get("/v1/actions").check("200");
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    // Nobody is refused unseen, and it is seen that these open nothing.
    for guess in guesses {
        Answer::read(guess).expect("it answers").check("401 UNAUTHENTICATED");
    }
}
