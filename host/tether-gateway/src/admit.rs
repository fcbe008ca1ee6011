//! What is let in: who may call, whether the arguments fit, and when there is room.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use tether_core::clock::Clock;
use tether_core::id::TenantId;
use tether_core::identity::{Caller, Role};
use tether_core::json::JsonText;
use tether_core::problem::{Code, Problem};
use tether_core::tool::{Offer, ToolEffect};

use crate::Gateway;
use crate::sync::{AcquireError, Mutex, OwnedSemaphorePermit, Semaphore};

/// The longest arguments of a call that are taken, in bytes of their text.
pub const MAX_ARGUMENTS: usize = 1 << 20;

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
        let length = arguments.as_str().len();
        if length > MAX_ARGUMENTS {
            let detail = format!(
                "the arguments are {length} bytes long, and {MAX_ARGUMENTS} are the most that is taken"
            );
            return Err(Problem::new(Code::InvalidArguments, detail));
        }
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

/// The places for handlers that run at the same time: so many in all, and so many
/// of one tenant, so that none can take them all.
pub(crate) struct Turns {
    all: Arc<Semaphore>,
    per_tenant: usize,
    tenants: Mutex<HashMap<TenantId, Weak<Semaphore>>>,
}

/// A place, until it is dropped.
#[expect(dead_code, reason = "held for their drop")]
pub(crate) struct Turn {
    place: OwnedSemaphorePermit,
    of_tenant: OwnedSemaphorePermit,
}

impl Turns {
    pub(crate) fn new(places: usize, per_tenant: usize) -> Self {
        Self {
            all: Arc::new(Semaphore::new(places.min(Semaphore::MAX_PERMITS))),
            per_tenant: per_tenant.min(Semaphore::MAX_PERMITS),
            tenants: Mutex::default(),
        }
    }

    /// Waits for a place, in order of arrival; `OVERLOADED` after `patience`. A
    /// tenant that waits for one of its own holds none of the others'.
    pub(crate) async fn take(
        &self,
        tenant: &TenantId,
        patience: Duration,
        clock: &dyn Clock,
    ) -> Result<Turn, Problem> {
        let tenant = self.of(tenant);
        let place = async {
            let of_tenant = tenant.acquire_owned().await?;
            let place = Arc::clone(&self.all).acquire_owned().await?;
            Ok::<_, AcquireError>((place, of_tenant))
        };
        let overloaded = || Problem {
            retry_after: Some(Duration::from_secs(1)),
            ..Problem::new(
                Code::Overloaded,
                "all places for running handlers are taken; nothing was attempted",
            )
        };
        tokio::select! {
            biased;
            taken = place => match taken {
                Ok((place, of_tenant)) => Ok(Turn { place, of_tenant }),
                Err(_) => Err(overloaded()),
            },
            () = clock.sleep(patience) => Err(overloaded()),
        }
    }

    /// The places of one tenant, which last as long as somebody has or wants one.
    fn of(&self, tenant: &TenantId) -> Arc<Semaphore> {
        let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(places) = tenants.get(tenant).and_then(Weak::upgrade) {
            return places;
        }
        let places = Arc::new(Semaphore::new(self.per_tenant));
        tenants.retain(|_, places| places.strong_count() > 0);
        tenants.insert(tenant.clone(), Arc::downgrade(&places));
        places
    }
}

#[cfg(test)]
mod tests {
    use std::future::ready;

    use tether_core::clock::Timestamp;
    use tether_core::port::BoxFuture;

    use super::*;

    /// On this clock nobody waits: what is not free now is `OVERLOADED`.
    struct NoTime;

    impl Clock for NoTime {
        fn now(&self) -> Timestamp {
            Timestamp::EPOCH
        }

        fn monotonic(&self) -> Duration {
            Duration::ZERO
        }

        fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
            Box::pin(ready(()))
        }
    }

    async fn take(turns: &Turns, tenant: &str) -> Result<Turn, Code> {
        let taken = turns.take(&tenant.parse().unwrap(), Duration::ZERO, &NoTime).await;
        taken.map_err(|problem| problem.code)
    }

    #[tokio::test]
    async fn one_tenant_cannot_take_the_places_of_another() {
        let turns = Turns::new(3, 2);
        let held = (take(&turns, "a").await.unwrap(), take(&turns, "a").await.unwrap());
        assert_eq!(take(&turns, "a").await.err(), Some(Code::Overloaded));
        let other = take(&turns, "b").await.unwrap();
        assert_eq!(take(&turns, "c").await.err(), Some(Code::Overloaded), "all three are taken");
        drop(held);
        let again = take(&turns, "a").await.unwrap();
        drop((other, again));
    }

    #[tokio::test]
    async fn who_was_refused_leaves_nothing_behind() {
        let turns = Turns::new(1, 1);
        let held = take(&turns, "a").await.unwrap();
        for number in 0..100 {
            assert_eq!(take(&turns, &format!("tenant {number}")).await.err(), Some(Code::Overloaded));
        }
        drop(held);
        take(&turns, "b").await.unwrap();
        assert!(turns.tenants.lock().unwrap().len() <= 2, "tenants without a place are forgotten");
    }
}
