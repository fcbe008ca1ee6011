//! What is let in: who may call, whether the arguments fit, and when there is room.

use std::sync::Arc;
use std::time::Duration;

use tether_core::clock::Clock;
use tether_core::identity::{Caller, Role};
use tether_core::json::JsonText;
use tether_core::problem::{Code, Problem};
use tether_core::tool::{Offer, ToolEffect};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::Gateway;

/// A call whose caller, tool and arguments were checked.
pub(crate) struct Admitted {
    pub(crate) offer: Arc<Offer>,
    pub(crate) arguments: JsonText,
}

/// An admitted call by what it may do: only a read can be repeated.
pub(crate) enum AdmittedCall {
    Read(AdmittedRead),
    Write(AdmittedWrite),
}

pub(crate) struct AdmittedRead(pub(crate) Admitted);

pub(crate) struct AdmittedWrite(pub(crate) Admitted);

impl Gateway {
    /// Checks caller, tool and arguments. Nothing else makes an [`AdmittedCall`].
    pub(crate) fn admit(
        &self,
        caller: &Caller,
        tool: &str,
        arguments: JsonText,
    ) -> Result<AdmittedCall, Problem> {
        require(caller, &[Role::Agent])?;
        let offer = tool.parse().ok().and_then(|name| self.handlers.offer(&name)).ok_or_else(|| {
            let detail = format!("there is no tool named {tool:?}; `GET /v1/tools` lists those that are");
            Problem::new(Code::ToolNotFound, detail)
        })?;
        offer.input.check(&arguments).map_err(|errors| Problem {
            errors,
            ..Problem::new(Code::InvalidArguments, format!("the arguments do not fit the schema of `{tool}`"))
        })?;
        let effect = offer.tool.effect;
        let admitted = Admitted { offer, arguments };
        Ok(match effect {
            ToolEffect::Read => AdmittedCall::Read(AdmittedRead(admitted)),
            ToolEffect::Write => AdmittedCall::Write(AdmittedWrite(admitted)),
        })
    }
}

/// One of `roles` is needed.
pub(crate) fn require(caller: &Caller, roles: &[Role]) -> Result<(), Problem> {
    if roles.iter().any(|role| caller.is(*role)) {
        return Ok(());
    }
    let names: Vec<_> = roles.iter().map(|role| role.as_str()).collect();
    Err(Problem::new(Code::Forbidden, format!("this takes a token with the role {}", names.join(" or "))))
}

/// The places for handlers that run at the same time.
pub(crate) struct Turns(Arc<Semaphore>);

/// A place, until it is dropped.
pub(crate) struct Turn(#[expect(dead_code, reason = "held for its drop")] OwnedSemaphorePermit);

impl Turns {
    pub(crate) fn new(places: usize) -> Self {
        Self(Arc::new(Semaphore::new(places.min(Semaphore::MAX_PERMITS))))
    }

    /// Waits for a place, in order of arrival; `OVERLOADED` after `patience`.
    pub(crate) async fn take(&self, patience: Duration, clock: &dyn Clock) -> Result<Turn, Problem> {
        let overloaded = || Problem {
            retry_after: Some(Duration::from_secs(1)),
            ..Problem::new(
                Code::Overloaded,
                "all places for running handlers are taken; nothing was attempted",
            )
        };
        tokio::select! {
            biased;
            place = Arc::clone(&self.0).acquire_owned() => place.map(Turn).map_err(|_| overloaded()),
            () = clock.sleep(patience) => Err(overloaded()),
        }
    }
}
