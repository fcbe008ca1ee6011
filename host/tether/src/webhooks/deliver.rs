//! One try to deliver a notice, and what comes of it.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tether_core::id::RequestId;
use tether_core::port::BoxFuture;
use tether_core::port::actions::StoreError;
use tether_core::port::hooks::Due;
use tether_transport::outbound::{Response, SendError};
use tether_transport::retry_after;

use super::body::Notice;
use super::dispatch::{Dispatcher, PAUSE};
use super::{Format, Sources, slack, wait};

/// How long a receiver may take to answer.
const ANSWER_TIME: Duration = Duration::from_secs(10);

/// What a try came to.
enum Tried {
    /// It was taken.
    Delivered,
    /// It was not.
    Refused { why: String, retry_after: Option<Duration> },
    /// It never will be.
    Over { why: String },
    /// The hook is not told of such events any more.
    NotWanted,
}

impl Dispatcher {
    /// Tries once, and notes what came of it; how long the receiver wants to be left alone.
    pub(super) async fn deliver(&self, due: Due) -> Option<Duration> {
        let tried = match self.send(&due).await {
            Ok(tried) => tried,
            Err(error) => Tried::Refused { why: error.to_string(), retry_after: None },
        };
        let (hook, number, action) = (&self.hook.name, due.number, due.action);
        let store = &self.sources.hooks;
        match tried {
            Tried::Delivered => {
                if self.refuses.swap(false, Ordering::Relaxed) {
                    tracing::info!(hook, "the webhook takes notices again");
                }
                self.noted(|| store.delivered(hook, number)).await;
                None
            }
            Tried::NotWanted => {
                self.noted(|| store.given_up(hook, number)).await;
                None
            }
            Tried::Over { why } => {
                tracing::warn!(hook, %action, why, "a notice is given up");
                self.noted(|| store.given_up(hook, number)).await;
                None
            }
            Tried::Refused { why, retry_after } => {
                let failures = due.failures.saturating_add(1);
                let next = wait::next(due.queued_at, self.sources.clock.now(), failures, retry_after);
                if let Some(next) = next {
                    if self.refuses.swap(true, Ordering::Relaxed) {
                        tracing::debug!(hook, %action, failures, why, "a notice was not taken again");
                    } else {
                        tracing::warn!(hook, %action, why, "a notice was not taken; it is tried again");
                    }
                    self.noted(|| store.failed(hook, number, next)).await;
                } else {
                    tracing::warn!(hook, %action, failures, why, "a notice is given up after three days");
                    self.noted(|| store.given_up(hook, number)).await;
                }
                retry_after
            }
        }
    }

    async fn send(&self, due: &Due) -> Result<Tried, StoreError> {
        let Sources { feed, actions, clock, inbox, .. } = &self.sources;
        let announced = feed.after(due.number.saturating_sub(1), 1).await?.into_iter().next();
        let Some(announced) = announced.filter(|found| found.number == due.number) else {
            return Ok(Tried::Over { why: "its event is gone".to_owned() });
        };
        // The hook may be configured otherwise than when this was queued.
        let Some(kind) = self.hook.wants(&announced) else { return Ok(Tried::NotWanted) };
        let Some(action) = actions.load(&announced.tenant, due.action).await? else {
            return Ok(Tried::Over { why: "its action is gone".to_owned() });
        };
        let url = format!("{inbox}/inbox/actions/{}", action.id);
        let body = match self.hook.format {
            Format::Tether => Notice::new(kind, &announced, &action, &url).to_json(),
            Format::Slack => slack::message(&announced, &action, &url),
        };
        let id = format!("{}.{}", action.id, announced.revision.0);
        let seconds = clock.now().as_millis().div_euclid(1000);
        let signature = self.hook.key.as_ref().map(|key| key.sign(&id, seconds, &body));
        let seconds = seconds.to_string();
        let mut headers = vec![("webhook-id", id.as_str()), ("webhook-timestamp", seconds.as_str())];
        headers.extend(signature.as_deref().map(|signature| ("webhook-signature", signature)));
        Ok(self.told(self.errands.post(RequestId::from(action.id), &headers, body, ANSWER_TIME).await))
    }

    fn told(&self, answer: Result<Response, SendError>) -> Tried {
        match answer {
            Ok(response) if response.status().is_success() => Tried::Delivered,
            Ok(response) if response.status() == 410 => Tried::Over { why: "it answered 410".to_owned() },
            Ok(response) => Tried::Refused {
                why: format!("it answered {}", response.status().as_u16()),
                retry_after: retry_after::of(&response, self.sources.clock.now()),
            },
            Err(error) => {
                let why = self.mask.apply(error.to_string().as_bytes()).into_owned();
                Tried::Refused { why: String::from_utf8_lossy(&why).into_owned(), retry_after: None }
            }
        }
    }

    /// Notes it, however long the store takes: what is not noted would be sent again at
    /// once.
    async fn noted<'a>(&self, mut note: impl FnMut() -> BoxFuture<'a, Result<(), StoreError>>) {
        let mut told = false;
        while let Err(error) = note().await {
            if !told {
                let hook = &self.hook.name;
                tracing::error!(hook, %error, "what became of a notice is not noted; it is tried again");
            }
            told = true;
            self.sources.clock.sleep(PAUSE).await;
        }
    }
}
