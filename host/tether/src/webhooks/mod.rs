//! Notices to webhooks: what was proposed, decided and done.
//!
//! A hook is a place in the histories of all tenants. What comes after it is queued,
//! durably, and delivered at least once: for an action one after the other, each until it
//! was taken. A notice is nobody's write: it is in no ledger, and what becomes of it
//! changes no action.

mod body;
mod deliver;
mod dispatch;
mod sign;
mod slack;
mod wait;

use std::collections::BTreeSet;
use std::sync::Arc;

use tether_core::action::Status;
use tether_core::clock::Clock;
use tether_core::id::TenantId;
use tether_core::port::actions::{ActionStore, HistoryEvent, StoreError};
use tether_core::port::announcements::{Announced, Announcements};
use tether_core::port::hooks::Hooks;
use tether_transport::errand::Address;
use tether_transport::outbound::Outbound;
use tokio::task::JoinSet;

pub use sign::{InvalidKey, SigningKey};

use dispatch::Dispatcher;

/// One of `webhooks`.
#[derive(Debug, Clone)]
pub struct Webhook {
    /// What it is called in the log and in the store.
    pub name: String,
    /// Where notices go. It can hold a secret.
    pub address: Address,
    /// What it is told of.
    pub kinds: BTreeSet<Kind>,
    /// How.
    pub format: Format,
    /// What notices are signed with.
    pub key: Option<SigningKey>,
    /// Whose actions it is told of; everybody's where there is none.
    pub tenant: Option<TenantId>,
}

/// What a notice is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// An action waits for a person.
    Proposed,
    /// A person decided, or agreed where it takes several.
    Decided,
    /// An attempt has ended, or the time to decide.
    Done,
}

/// How a notice is worded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For programs.
    Tether,
    /// For a channel of Slack, or of what takes its messages.
    Slack,
}

/// What the notices are made of.
#[derive(Clone)]
pub struct Sources {
    /// The queues.
    pub hooks: Arc<dyn Hooks>,
    /// What happened.
    pub feed: Arc<dyn Announcements>,
    /// To what.
    pub actions: Arc<dyn ActionStore>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Where people find the inbox, without a slash at the end.
    pub inbox: Arc<str>,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Proposed, Self::Decided, Self::Done];

    /// The kind in the configuration and in notices.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Proposed => "proposed",
            Self::Decided => "decided",
            Self::Done => "done",
        }
    }

    /// What the event is told as; erasures are told to nobody.
    fn of(event: &HistoryEvent) -> Option<Self> {
        use Status::{Declined, Executing, Expired, Failed, Pending, Succeeded};
        match (event.from, event.to) {
            (None, _) => Some(Self::Proposed),
            (Some(Pending), Pending | Executing | Declined) => Some(Self::Decided),
            (Some(Pending | Executing), Pending | Succeeded | Failed | Expired) => Some(Self::Done),
            _ => None,
        }
    }
}

impl Webhook {
    /// What the hook is to be told of the event as, if it is.
    fn wants(&self, announced: &Announced) -> Option<Kind> {
        let is_its = self.tenant.as_ref().is_none_or(|tenant| *tenant == announced.tenant);
        Kind::of(&announced.event).filter(|kind| is_its && self.kinds.contains(kind))
    }
}

/// Begins to tell `webhooks` what happens from now on, and what earlier processes left.
/// Forgets every hook that is not among them. What is given back is at it until it is
/// dropped.
pub async fn start(
    webhooks: Vec<Webhook>,
    sources: Sources,
    outbound: &Outbound,
) -> Result<JoinSet<()>, StoreError> {
    sources.hooks.keep_only(webhooks.iter().map(|hook| hook.name.clone()).collect()).await?;
    let mut tasks = JoinSet::new();
    for hook in webhooks {
        tracing::info!(hook = hook.name, "webhook");
        if hook.address.is_in_the_clear() {
            tracing::warn!(
                hook = hook.name,
                "the url of the webhook is not https: everybody on the way can read what it is told"
            );
        }
        let dispatcher = Dispatcher::new(hook, sources.clone(), outbound);
        let place = dispatcher.begin().await?;
        tasks.spawn(dispatcher.run(place));
    }
    Ok(tasks)
}

#[cfg(test)]
mod tests;
