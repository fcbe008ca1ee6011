//! The gateway's modules as they are, but for [`sync`]: where tasks meet there, the
//! model checker decides who goes first.

#[path = "../../../host/tether-gateway/src/admit.rs"]
mod admit;
#[path = "../../../host/tether-gateway/src/away.rs"]
mod away;
#[path = "../../../host/tether-gateway/src/call.rs"]
mod call;
#[path = "../../../host/tether-gateway/src/confirm.rs"]
mod confirm;
#[path = "../../../host/tether-gateway/src/decline.rs"]
mod decline;
#[path = "../../../host/tether-gateway/src/endings.rs"]
mod endings;
#[path = "../../../host/tether-gateway/src/gateway.rs"]
mod gateway;
#[path = "../../../host/tether-gateway/src/journal.rs"]
mod journal;
#[path = "../../../host/tether-gateway/src/look.rs"]
mod look;
#[path = "../../../host/tether-gateway/src/outcome.rs"]
mod outcome;
#[path = "../../../host/tether-gateway/src/propose.rs"]
mod propose;
#[path = "../../../host/tether-gateway/src/random.rs"]
mod random;
#[path = "../../../host/tether-gateway/src/recover.rs"]
mod recover;
#[path = "../../../host/tether-gateway/src/said_yes.rs"]
mod said_yes;
#[path = "../../../host/tether-gateway/src/settle.rs"]
mod settle;
mod sqlite;
#[path = "../../../host/tether-gateway/src/sweep.rs"]
mod sweep;
mod sync;
#[path = "../../../host/tether-gateway/src/tour.rs"]
mod tour;

pub use admit::MAX_ARGUMENTS;
pub use call::{Answer, Called};
pub use gateway::{Gateway, Settings};
pub use outcome::{Outcome, Told, failure_of, store_problem};
use random::{chance, fresh_action_id, fresh_request_id};
pub use recover::Recovered;
pub use sqlite::databases::Log;
pub use sync::{die, meet};
