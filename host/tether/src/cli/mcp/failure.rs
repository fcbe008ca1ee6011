//! Why a line was not answered by the gateway, and whether it is sent again.

use std::time::{Duration, Instant};

use serde::Deserialize;
use tether_core::plain::shown;
use tether_transport::client::ClientError;

use crate::wire::seen::SeenProblem;

/// JSON-RPC's code of what is not the client's fault.
pub(super) const INTERNAL: i64 = -32_603;

/// How often a line is sent whose answer was lost.
const SENDINGS: u32 = 5;

/// How long a gateway that was there may be away, or a new one take to start.
const ABSENCE: Duration = Duration::from_secs(30);

/// The pause before a line is sent again.
const PAUSE: Duration = Duration::from_millis(500);

/// See the module.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// Nothing was sent.
    #[error("{0}; start one with `tether serve`, or name another address with --url")]
    NotReached(String),
    /// It was not looked at.
    #[error("{words}")]
    Later {
        /// Why.
        words: String,
        /// Not sooner than after so long.
        after: Duration,
    },
    /// It may have been done.
    #[error("{0}; look at what became of it before you repeat it")]
    Lost(String),
    /// The session is over.
    #[error("the gateway ended each session as soon as it had begun")]
    NoSession,
    /// The gateway did not let it in.
    #[error("{0}")]
    Problem(String),
    /// It was refused in the words of the protocol.
    #[error("{message}")]
    Refused {
        /// JSON-RPC's.
        code: i64,
        /// Why.
        message: String,
    },
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::NotReached { .. } => Self::NotReached(error.to_string()),
            ClientError::Lost { .. } | ClientError::TimedOut { .. } => Self::Lost(error.to_string()),
        }
    }
}

/// An error of JSON-RPC.
#[derive(Deserialize)]
struct Answered {
    error: AnsweredError,
}

#[derive(Deserialize)]
struct AnsweredError {
    code: i64,
    message: String,
}

impl Failure {
    /// What an answer with this status and this body comes to, which may say when to come again.
    pub(super) fn of(status: u16, body: &str, after: Option<Duration>) -> Self {
        let after = after.unwrap_or_default();
        let problem = match serde_json::from_str::<SeenProblem>(body) {
            Ok(problem) => format!("{}: {}", shown(&problem.code), shown(&problem.detail)),
            Err(_) => foreign(status),
        };
        match (status, serde_json::from_str::<Answered>(body)) {
            (503, Ok(answered)) => Self::Later { words: answered.error.message, after },
            (503, Err(_)) => Self::Later { words: problem, after },
            // Turned away at the door, before the protocol begins.
            (403 | 421, Ok(answered)) => Self::Problem(answered.error.message),
            (_, Ok(Answered { error })) => Self::Refused { code: error.code, message: error.message },
            (401, Err(_)) => Self::Problem(format!(
                "{problem}; name the gateway's folder with --data-dir, or give a token with --token"
            )),
            _ => Self::Problem(problem),
        }
    }

    /// The same, to a client that began no session: it knows no headers.
    pub(super) fn of_no_session(self) -> Self {
        match self {
            Self::Refused { code, message } if message.contains("Session ID") => {
                Self::Refused { code, message: "no session has begun; begin with `initialize`".to_owned() }
            }
            other => other,
        }
    }

    /// What an answer with this status comes to whose body should be a message and is none.
    pub(super) fn no_message(status: u16) -> Self {
        Self::Problem(foreign(status))
    }

    /// JSON-RPC's code for it.
    pub(super) fn code(&self) -> i64 {
        match self {
            Self::Refused { code, .. } => *code,
            _ => INTERNAL,
        }
    }

    /// Whether whoever runs the bridge should know, and not only its client.
    pub(super) fn is_of_the_way(&self) -> bool {
        !matches!(self, Self::Refused { .. })
    }
}

/// What is said of an answer that no gateway gives.
fn foreign(status: u16) -> String {
    format!("the answer has status {status} and is not one of a Tether gateway; check --url")
}

/// How often, and how long, one line is tried.
pub(super) struct Patience {
    lost: u32,
    renewed: u32,
    /// From when on the gateway is waited for.
    since: Instant,
}

impl Patience {
    /// With a line that waits for the gateway since then.
    pub(super) fn since(since: Instant) -> Self {
        Self { lost: 0, renewed: 0, since }
    }

    /// How long to wait before the line is sent again.
    ///
    /// # Errors
    ///
    /// With what failed, where it is not to be sent again: nobody knows whether it arrived and
    /// it is not `repeatable`, it was tried for long enough, or no gateway was there before.
    pub(super) fn pause(
        &mut self,
        failure: Failure,
        repeatable: bool,
        was_there: bool,
    ) -> Result<Duration, Failure> {
        let pause = match &failure {
            Failure::NotReached(_) if was_there => self.left().map(|_| PAUSE),
            // It is not asked sooner than it said.
            Failure::Later { after, .. } => {
                self.left().filter(|left| after <= left).map(|_| PAUSE.max(*after))
            }
            Failure::Lost(_) => {
                self.lost += 1;
                self.since = Instant::now();
                (repeatable && self.lost < SENDINGS).then_some(PAUSE)
            }
            // Another has begun in its place.
            Failure::NoSession => {
                self.renewed += 1;
                (self.renewed < SENDINGS).then_some(Duration::ZERO)
            }
            Failure::NotReached(_) | Failure::Problem(_) | Failure::Refused { .. } => None,
        };
        pause.ok_or(failure)
    }

    /// How long the gateway may still be away.
    fn left(&self) -> Option<Duration> {
        ABSENCE.checked_sub(self.since.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_answer_to_a_message_is_told_in_words() {
        let check = |status, body: &str, code, words: &str| {
            let failure = Failure::of(status, body, None);
            assert_eq!(failure.code(), code, "{failure}");
            assert!(failure.to_string().starts_with(words), "{failure}");
        };
        let problem = r#"{"status":401,"code":"UNAUTHENTICATED","detail":"there is no valid token"}"#;
        check(401, problem, INTERNAL, "UNAUTHENTICATED: there is no valid token; name");
        check(413, &problem.replace("401", "413"), INTERNAL, "UNAUTHENTICATED: there is no valid token");
        check(502, "<html>", INTERNAL, "the answer has status 502 and is not one of a Tether gateway");
        let error = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"\"a\" occurs twice"}}"#;
        check(400, error, -32600, "\"a\" occurs twice");
        assert!(!Failure::of(400, error, None).is_of_the_way());
        check(421, error, INTERNAL, "\"a\" occurs twice");
        assert!(Failure::of(403, error, None).is_of_the_way());
        assert!(matches!(Failure::of(503, error, None), Failure::Later { .. }));
        assert!(matches!(Failure::of(503, "", None), Failure::Later { .. }));
    }

    #[test]
    fn only_what_may_be_repeated_is_sent_again_and_not_for_ever() {
        #[track_caller]
        fn check(failure: impl Fn() -> Failure, repeatable: bool, was_there: bool, sendings: usize) {
            let mut patience = Patience::since(Instant::now());
            let again = (1..100).take_while(|_| patience.pause(failure(), repeatable, was_there).is_ok());
            assert_eq!(1 + again.count(), sendings, "{}", failure());
        }
        let lost = || Failure::Lost(String::new());
        check(lost, true, true, 5);
        check(lost, false, true, 1);
        check(|| Failure::NotReached(String::new()), true, false, 1);
        check(|| Failure::NotReached(String::new()), false, true, 100);
        check(|| Failure::Problem(String::new()), true, true, 1);
        check(|| Failure::NoSession, true, true, 5);
    }

    #[test]
    fn nobody_comes_again_sooner_than_was_said_or_after_too_long() {
        let later = |seconds| Failure::Later { words: String::new(), after: Duration::from_secs(seconds) };
        let pause = |seconds| Patience::since(Instant::now()).pause(later(seconds), false, false);
        assert_eq!(pause(0).unwrap(), PAUSE);
        assert_eq!(pause(5).unwrap(), Duration::from_secs(5));
        assert!(pause(60).is_err());
    }

    #[test]
    fn a_line_that_has_waited_its_time_is_sent_once_and_waits_anew_where_it_was_lost() {
        let long_ago = Instant::now().checked_sub(ABSENCE + PAUSE).unwrap();
        let away = || Failure::NotReached(String::new());
        assert!(Patience::since(long_ago).pause(away(), true, true).is_err());
        let mut patience = Patience::since(long_ago);
        patience.pause(Failure::Lost(String::new()), true, true).unwrap();
        assert_eq!(patience.pause(away(), true, true).unwrap(), PAUSE);
    }
}
