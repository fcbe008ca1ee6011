//! Where actions are kept.

use crate::action::{Action, Proposal, State, Status};
use crate::clock::Timestamp;
use crate::digest::Digest;
use crate::id::{ActionId, IdempotencyKey, TenantId, UserId};
use crate::identity::{Actor, Channel};
use crate::ledger::Ledger;
use crate::port::BoxFuture;

/// Why the store did not do it. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The disk is full.
    #[error("the disk that holds the actions is full")]
    Full,
    /// Another program holds the file of the actions for too long.
    #[error("another program holds the file of the actions")]
    Busy,
    /// [`ActionStore::list`] never gave this cursor.
    #[error("there is no such cursor")]
    UnknownCursor,
    /// Somebody else changed what is stored of an action: it is not told, and nothing is
    /// done with it.
    #[error("action {id} was changed in the store: {what}")]
    Changed {
        /// Its id, as it is there.
        id: String,
        /// What is wrong, for the log.
        what: String,
    },
    /// Anything else: for the log.
    #[error(transparent)]
    Failed(#[from] Box<dyn std::error::Error + Send + Sync>),
}

/// A proposal that is about to become an action.
#[derive(Debug, Clone)]
pub struct NewAction {
    /// Its id, fresh.
    pub id: ActionId,
    /// What is proposed.
    pub proposal: Proposal,
    /// Until when it can be confirmed.
    pub expires_at: Timestamp,
    /// The proposer's key.
    pub key: Option<IdempotencyKey>,
    /// By which door the proposer came in.
    pub channel: Option<Channel>,
    /// How many proposals of this tool the proposer may have open, this one among them.
    pub max_open: Option<u32>,
}

/// What became of a proposal.
#[must_use]
#[derive(Debug)]
pub enum Proposed {
    /// A new action, pending.
    New(Action),
    /// The proposer used this key before, for this action; whether it is the same
    /// proposal is for the caller to see.
    Before(Action),
    /// The proposer has as many open as it may; nothing is kept.
    TooMany,
}

/// A move of one action: the only way in which an action changes.
#[derive(Debug, Clone)]
pub struct Change {
    /// The action, as the mover saw it.
    pub seen: Action,
    /// The new state, from [`Action::next`].
    pub state: State,
    /// Everything that it was seen to do.
    pub ledger: Ledger,
    /// Who moves it; none for the host itself.
    pub actor: Option<Actor>,
    /// When.
    pub at: Timestamp,
    /// A sentence for the history.
    pub detail: String,
}

/// What a compare-and-set found.
#[must_use]
#[derive(Debug)]
pub enum Swap {
    /// It was as seen, and is now as asked, durably.
    Done(Action),
    /// Somebody was first: the action as it is now.
    Stale(Action),
    /// The confirmation's key belongs to another action of this tenant and user.
    KeyTaken,
    /// There is no such action.
    Gone,
}

/// Which actions to list.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only those that stand so.
    pub status: Option<Status>,
    /// Only those that this user proposed.
    pub proposer: Option<UserId>,
}

/// A part of a list, newest first.
#[derive(Debug)]
pub struct Page {
    /// The actions.
    pub actions: Vec<Action>,
    /// Where the next page begins, if there is one; opaque.
    pub next: Option<String>,
}

/// Where a part of a list of what the host looks after ended: the next one begins after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// What the list goes by.
    pub at: Timestamp,
    /// What it goes by where that is the same: the store's own.
    pub number: i64,
}

/// What was seen of such a list.
#[derive(Debug, Default)]
pub struct Seen {
    /// How many actions, whatever became of them: as many as the limit where there may be
    /// more.
    pub count: usize,
    /// The last one of them.
    pub last: Option<Mark>,
    /// Those with which nothing was done.
    pub left: Vec<Left>,
}

/// An action that is left as it is.
#[derive(Debug)]
pub struct Left {
    /// Its id, as it is there.
    pub id: String,
    /// Why, for the log.
    pub why: String,
}

/// A part of a list of what the host looks after.
#[derive(Debug, Default)]
pub struct Part {
    /// The actions.
    pub actions: Vec<Action>,
    /// What was seen; left are those that somebody else changed in the store.
    pub seen: Seen,
}

/// One transition, as the history tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryEvent {
    /// When.
    pub at: Timestamp,
    /// Who; none for the host itself.
    pub actor: Option<Actor>,
    /// From where; none for the proposal.
    pub from: Option<Status>,
    /// To where.
    pub to: Status,
    /// Attempts that had begun by then.
    pub attempt: u32,
    /// A sentence.
    pub detail: String,
}

/// Where actions are kept. Whatever a method answers is durable first, and is what the
/// action's history says: of one that was changed from outside there is an error, and lists
/// leave it out.
pub trait ActionStore: Send + Sync + 'static {
    /// Keeps a new action and its first history event, unless the proposer (of
    /// that tenant) used the key before, or has too many open: executing, or not over
    /// at `created_at`.
    fn propose(&self, action: NewAction) -> BoxFuture<'_, Result<Proposed, StoreError>>;

    /// The action that this user proposed with this key.
    fn proposed_with<'a>(
        &'a self,
        tenant: &'a TenantId,
        user: &'a UserId,
        key: &'a IdempotencyKey,
    ) -> BoxFuture<'a, Result<Option<Action>, StoreError>>;

    /// The action that this user's confirmation with this key approved or claimed.
    fn confirmed_with<'a>(
        &'a self,
        tenant: &'a TenantId,
        user: &'a UserId,
        key: &'a IdempotencyKey,
    ) -> BoxFuture<'a, Result<Option<ActionId>, StoreError>>;

    /// One action of this tenant.
    fn load<'a>(
        &'a self,
        tenant: &'a TenantId,
        id: ActionId,
    ) -> BoxFuture<'a, Result<Option<Action>, StoreError>>;

    /// A page of at most `limit` actions of this tenant, from `cursor` (a
    /// [`Page::next`]) on; `UnknownCursor` where it is none of ours.
    fn list<'a>(
        &'a self,
        tenant: &'a TenantId,
        filter: Filter,
        limit: usize,
        cursor: Option<String>,
    ) -> BoxFuture<'a, Result<Page, StoreError>>;

    /// The history of one action, oldest first; empty where there is no such
    /// action.
    fn history<'a>(
        &'a self,
        tenant: &'a TenantId,
        id: ActionId,
    ) -> BoxFuture<'a, Result<Vec<HistoryEvent>, StoreError>>;

    /// Compare and set: state, ledger, history event, and, where the new state is
    /// executing with a key or has an approval more, the binding of (tenant, user, key)
    /// to this action; all in one transaction. An action is not claimed whose row is
    /// another than its history says ([`StoreError::Changed`]).
    fn swap(&self, change: Change) -> BoxFuture<'_, Result<Swap, StoreError>>;

    /// Writes the ledger of an action whose attempt `attempt` executes, and nothing
    /// else: neither revision nor history. False where no such attempt does.
    fn note<'a>(
        &'a self,
        tenant: &'a TenantId,
        id: ActionId,
        attempt: u32,
        ledger: Ledger,
    ) -> BoxFuture<'a, Result<bool, StoreError>>;

    /// Every action that is executing, of all tenants.
    fn executing(&self) -> BoxFuture<'_, Result<Vec<Action>, StoreError>>;

    /// Up to `limit` pending actions, of all tenants, whose time was over at `now`; the
    /// longest overdue first, from `after` on.
    fn overdue(
        &self,
        now: Timestamp,
        after: Option<Mark>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Part, StoreError>>;

    /// The digests of components that an undecided action (pending or executing)
    /// is bound to.
    fn needed_components(&self) -> BoxFuture<'_, Result<Vec<Digest>, StoreError>>;

    /// Erases the outputs of up to `limit` actions that succeeded before `before`, at
    /// `now`, the oldest first, from `after` on; an event of each says so. The actions, their
    /// keys and the outputs' digests stay. Their records are due to be emptied from then on.
    /// Left are those of which no event can be written: nothing of them is erased.
    fn erase_outputs(
        &self,
        before: Timestamp,
        now: Timestamp,
        after: Option<Mark>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Seen, StoreError>>;

    /// The same for the arguments and the previews of actions that ended before `before`.
    fn erase_arguments(
        &self,
        before: Timestamp,
        now: Timestamp,
        after: Option<Mark>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Seen, StoreError>>;

    /// Up to `limit` actions, of all tenants, whose records are due to be emptied at
    /// `now`, because their outputs were erased; the longest due first, from `after` on.
    fn with_records(
        &self,
        now: Timestamp,
        after: Option<Mark>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Part, StoreError>>;

    /// Notes that such records are to be emptied from `due` on; none: they are empty.
    fn set_records_due<'a>(
        &'a self,
        tenant: &'a TenantId,
        id: ActionId,
        due: Option<Timestamp>,
    ) -> BoxFuture<'a, Result<(), StoreError>>;
}
