//! What one call sends, by whichever import, and what else must not happen meanwhile.

use std::sync::Arc;

use bytes::Bytes;
use tether_core::failure::{Cause, Failure};
use tether_transport::outbound::{Request, Response, SendError, Sender};
use tokio::sync::watch;

use super::MAX_HANDED_OVER;
use super::limits::LimitReached;
use super::stopwatch::{Mark, Stopwatch};
use super::trouble::LastTrouble;

/// Requests of one call that may be under way at the same time.
const MAX_UNDER_WAY: usize = 16;

/// The requests and the transaction of one call. Neither begins while the other is
/// open: a database is never held across the network.
pub(crate) struct Traffic {
    sender: Arc<Sender>,
    /// Stands still while the guest waits for a request; of a write, nothing does.
    own_time: Option<Stopwatch>,
    trouble: LastTrouble,
    /// Bytes of the answers that the host keeps for the guest, together.
    max_kept: usize,
    state: watch::Sender<State>,
}

#[derive(Default)]
struct State {
    transaction_open: bool,
    under_way: usize,
    /// Of the bodies that are being collected, together.
    bytes: usize,
    /// Bytes of the answers that the guest has not let go of, together.
    kept: usize,
    /// The attempt has ended.
    over: bool,
}

/// Why no request may leave, or no transaction begin, now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Hindrance {
    #[error("a transaction of this call is open; commit or drop it first")]
    TransactionOpen,
    #[error("a request of this call is under way; wait for its answer first")]
    RequestUnderWay,
    #[error("{MAX_UNDER_WAY} requests of this call are under way; wait for their answers first")]
    TooMany,
    #[error("the call is over")]
    Over,
}

/// A request that the guest has asked for, until its answer is there.
pub(crate) struct UnderWay {
    traffic: Arc<Traffic>,
    bytes: usize,
}

/// The body of an answer, which counts for as long as anything holds it.
struct Kept {
    traffic: Arc<Traffic>,
    body: Bytes,
}

/// A transaction, until it has ended.
pub(crate) struct Held(Arc<Traffic>);

impl Traffic {
    pub(crate) fn new(
        sender: Arc<Sender>,
        own_time: Option<Stopwatch>,
        trouble: LastTrouble,
        max_kept: usize,
    ) -> Arc<Self> {
        Arc::new(Self { sender, own_time, trouble, max_kept, state: watch::Sender::default() })
    }

    /// The guest waits in the host, for what it sent or for something else, while the
    /// mark is alive.
    pub(crate) fn parks(&self) -> Option<Mark> {
        self.own_time.as_ref().map(Stopwatch::parks)
    }

    /// A request is asked for.
    pub(crate) fn depart(self: &Arc<Self>) -> Result<UnderWay, Hindrance> {
        self.change(|state| {
            if state.over {
                return Err(Hindrance::Over);
            }
            if state.transaction_open {
                return Err(Hindrance::TransactionOpen);
            }
            if state.under_way == MAX_UNDER_WAY {
                return Err(Hindrance::TooMany);
            }
            state.under_way += 1;
            Ok(())
        })?;
        Ok(UnderWay { traffic: Arc::clone(self), bytes: 0 })
    }

    /// A transaction is asked for.
    pub(crate) fn hold(self: &Arc<Self>) -> Result<Held, Hindrance> {
        self.change(|state| {
            if state.transaction_open {
                return Err(Hindrance::TransactionOpen);
            }
            if state.under_way > 0 {
                return Err(Hindrance::RequestUnderWay);
            }
            state.transaction_open = true;
            Ok(())
        })?;
        Ok(Held(Arc::clone(self)))
    }

    /// The main record is there: nothing unsafe leaves any more.
    pub(crate) fn settled(&self) {
        self.sender.settled();
    }

    /// The guest ends: nothing leaves that has not left.
    pub(crate) fn end(&self) {
        self.state.send_modify(|state| state.over = true);
    }

    /// Closes with the attempt, of which nothing is left: waits until what it sent in the
    /// background is given up, so that it is judged by all that it did. Adds to a failure
    /// when the peer wants another try.
    pub(crate) async fn close<T>(&self, ended: Result<T, Failure>) -> Result<T, Failure> {
        self.end();
        let mut states = self.state.subscribe();
        // It fails only where the sender is gone, and that is `self`.
        let _ = states.wait_for(|state| state.under_way == 0).await;
        ended.map_err(|failure| match failure.cause {
            Cause::InvalidArguments | Cause::Refused => failure,
            _ => Failure { retry_after: failure.retry_after.max(self.sender.retry_after()), ..failure },
        })
    }

    /// The answer as it is kept for the guest, or none where that is too much.
    fn keep(self: &Arc<Self>, answer: Response) -> Result<Response, SendError> {
        let bytes = answer.body().len();
        let fits = self.change(|state| {
            let all = state.kept.saturating_add(bytes);
            let fits = all <= self.max_kept;
            if fits {
                state.kept = all;
            }
            fits
        });
        if !fits {
            let what = format!("{} bytes of answers that wait in the host", self.max_kept);
            self.trouble.at_limit(LimitReached(what).to_string());
            return Err(SendError::TooLarge(self.max_kept as u64));
        }
        Ok(answer.map(|body| Bytes::from_owner(Kept { traffic: Arc::clone(self), body })))
    }

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut changed = None;
        self.state.send_modify(|state| changed = Some(change(state)));
        changed.expect("it was called")
    }
}

impl UnderWay {
    /// So many more bytes of its body are here; false where that is too much.
    pub(crate) fn takes(&mut self, bytes: usize) -> bool {
        let fits = self.traffic.change(|state| {
            let all = state.bytes.saturating_add(bytes);
            let fits = all <= MAX_HANDED_OVER;
            if fits {
                state.bytes = all;
            }
            fits
        });
        match fits {
            true => self.bytes += bytes,
            false => {
                let what = format!("{MAX_HANDED_OVER} bytes of requests at a time");
                self.traffic.trouble.at_limit(LimitReached(what).to_string());
            }
        }
        fits
    }

    /// Sends it, and waits for its answer. Dropping this cancels it.
    pub(crate) async fn send(self, request: Request) -> Result<Response, SendError> {
        let Traffic { sender, own_time, trouble, state, .. } = &*self.traffic;
        if state.borrow().over {
            return Err(SendError::NotSent(Hindrance::Over.to_string()));
        }
        let _awaited = own_time.as_ref().map(Stopwatch::awaits);
        let answer = sender.send(request).await;
        trouble.in_send(&answer);
        answer
    }

    /// The same, for a guest that takes the answer when it likes: it counts as long as
    /// the host keeps it.
    pub(crate) async fn send_and_keep(self, request: Request) -> Result<Response, SendError> {
        let traffic = Arc::clone(&self.traffic);
        traffic.keep(self.send(request).await?)
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.traffic.state.send_modify(|state| {
            state.under_way -= 1;
            state.bytes -= self.bytes;
        });
    }
}

impl AsRef<[u8]> for Kept {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.traffic.state.send_modify(|state| state.kept -= self.body.len());
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.state.send_modify(|state| state.transaction_open = false);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tether_core::clock::{Clock, Timestamp};
    use tether_core::port::BoxFuture;
    use tether_core::port::journal::{Departure, Journal, NotNoted};
    use tether_transport::outbound::{Course, Outbound, Secrets, Settings};

    use super::*;

    struct Nowhere;

    impl Journal for Nowhere {
        fn leaves(&self, _: tether_core::ledger::Request) -> BoxFuture<'_, Result<Departure, NotNoted>> {
            Box::pin(async { Err(NotNoted::Failed("nothing leaves here".into())) })
        }

        fn went(&self, _: Departure, _: tether_core::ledger::Answer) {}
    }

    /// Nothing here takes time.
    struct NoTime;

    impl Clock for NoTime {
        fn now(&self) -> Timestamp {
            Timestamp::EPOCH
        }

        fn monotonic(&self) -> Duration {
            Duration::ZERO
        }

        fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
            Box::pin(std::future::ready(()))
        }
    }

    fn traffic() -> Arc<Traffic> {
        let settings = Settings {
            max_answer_bytes: 1,
            max_request_bytes: 1,
            max_requests: 1,
            extra_roots: Vec::new(),
            secrets: Secrets::default(),
        };
        let key = "9c1e7b6a0f5d4c3b8a7e6d5c4b3a2918".parse().unwrap();
        let sender = Outbound::new(settings, Arc::new(NoTime)).unwrap().sender(
            &[],
            key,
            Course::Write(Arc::new(Nowhere)),
        );
        Traffic::new(sender, None, LastTrouble::default(), 100)
    }

    #[tokio::test]
    async fn a_database_is_never_held_across_the_network() {
        let traffic = traffic();
        let held = traffic.hold().ok().unwrap();
        assert_eq!(traffic.depart().err(), Some(Hindrance::TransactionOpen));
        assert_eq!(traffic.hold().err(), Some(Hindrance::TransactionOpen));
        drop(held);
        let request = traffic.depart().ok().unwrap();
        assert_eq!(traffic.hold().err(), Some(Hindrance::RequestUnderWay));
        drop(request);
        assert!(traffic.hold().is_ok());
    }

    #[tokio::test]
    async fn what_the_host_holds_for_a_guest_is_bounded() {
        let traffic = traffic();
        let mut requests: Vec<_> = (0..MAX_UNDER_WAY).map(|_| traffic.depart().ok().unwrap()).collect();
        assert_eq!(traffic.depart().err(), Some(Hindrance::TooMany));
        assert!(requests[0].takes(MAX_HANDED_OVER) && !requests[1].takes(1), "all of them together");
        let told = traffic.trouble.explain(Failure::new(Cause::Failed, "it did not work"));
        assert_eq!(told.cause, Cause::Limit);
        requests.remove(0);
        assert!(traffic.depart().is_ok_and(|mut request| request.takes(MAX_HANDED_OVER)));
    }

    #[tokio::test]
    async fn an_answer_counts_while_anything_holds_a_part_of_it() {
        let traffic = traffic();
        let keep = |bytes| traffic.keep(http::Response::new(vec![7; bytes].into()));
        let mut first = keep(60).unwrap().into_body();
        let rest = first.split_off(59);
        assert_eq!((&rest[..], first.len()), (&[7][..], 59));
        drop(first);
        assert_eq!(keep(41).unwrap_err(), SendError::TooLarge(100));
        assert!(keep(40).is_ok());
        drop(rest);
        assert!(keep(100).is_ok());
    }

    #[tokio::test]
    async fn an_attempt_is_over_when_nothing_of_it_is_under_way() {
        let traffic = traffic();
        let request = traffic.depart().ok().unwrap();
        let closing = tokio::spawn({
            let traffic = Arc::clone(&traffic);
            async move { traffic.close(Ok(())).await }
        });
        while !traffic.state.borrow().over {
            tokio::task::yield_now().await;
        }
        assert_eq!(traffic.depart().err(), Some(Hindrance::Over));
        assert!(!closing.is_finished());
        let post = Request {
            method: "POST".into(),
            url: "https://a.test/".into(),
            headers: http::HeaderMap::new(),
            body: "half of it".into(),
            step: None,
        };
        let answer = request.send(post).await;
        assert_eq!(answer.unwrap_err(), SendError::NotSent(Hindrance::Over.to_string()));
        tokio::time::timeout(Duration::from_secs(5), closing).await.unwrap().unwrap().unwrap();
    }
}
