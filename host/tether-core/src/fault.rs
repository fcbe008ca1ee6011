//! Named fault points: before and after everything that a write does for good.
//!
//! They are compiled in where `debug_assertions` are, that is in tests; in a
//! release build [`reached`] is nothing. What happens at a point is for the
//! installed hook to say: this crate does no I/O.

macro_rules! points {
    ($($(#[$doc:meta])* $point:ident = $name:literal,)*) => {
        /// A point that the host passes on its way. Most are passed by a confirmed write,
        /// some of them more than once; nothing is passed where nothing is to be done.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Point {
            $($(#[$doc])* $point,)*
        }

        impl Point {
            /// Every point, in the order in which a write would pass them.
            pub const ALL: &[Self] = &[$(Self::$point,)*];

            /// The point's name, for the command line of a test.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$point => $name,)*
                }
            }
        }
    };
}

points! {
    // The first start.

    /// The token's draft is whole and synced; it has not its name yet.
    TokenDrafted = "token-drafted",
    /// The token has its name, durably.
    TokenKept = "token-kept",
    /// A step of the schema of the actions was run; nothing is committed.
    SchemaWritten = "schema-written",
    /// The schema of the actions is durable.
    SchemaKept = "schema-kept",
    /// A file of a component is whole and synced; it has not its name yet.
    ComponentDrafted = "component-drafted",
    /// A file of a component has its name, durably.
    ComponentKept = "component-kept",

    // A proposal, and a decision that runs nothing.

    /// A proposal was admitted; nothing is written yet.
    BeforePropose = "before-propose",
    /// The proposal's rows are written; nothing is committed.
    ProposalWritten = "proposal-written",
    /// The proposal is durable; nobody was told yet.
    Proposed = "proposed",
    /// A person said no; nothing is written yet.
    BeforeDecline = "before-decline",
    /// The no is durable; nobody was told yet.
    Declined = "declined",
    /// The time to decide is over; nothing is written yet.
    BeforeExpire = "before-expire",
    /// The expiry is durable.
    Expired = "expired",

    // A confirmation.

    /// A confirmation was admitted that is not enough alone; it is not written yet.
    BeforeApprove = "before-approve",
    /// That confirmation is durable; nobody was told yet.
    Approved = "approved",
    /// The confirmation was admitted; the claim is not written yet.
    BeforeClaim = "before-claim",
    /// An action's move (a claim, an end, a no) is written; nothing is committed.
    MoveWritten = "move-written",
    /// The claim is durable; the handler has not started.
    Claimed = "claimed",

    // The handler's databases.

    /// The handler asked for a database.
    BeforeOpen = "before-open",
    /// The list of known databases is there; nothing is in it for this one.
    ListMade = "list-made",
    /// The file of a database was made, empty; its name may not be durable.
    FileMade = "file-made",
    /// The tables of records are written; nothing is committed.
    BookkeepingWritten = "bookkeeping-written",
    /// The tables of records are durable; the database's id is not remembered yet.
    BookkeepingKept = "bookkeeping-kept",
    /// The database's id is remembered, durably.
    IdRemembered = "id-remembered",
    /// A migration was run; it is not noted, and nothing is committed.
    MigrationRun = "migration-run",
    /// A migration was run and noted; nothing is committed.
    MigrationNoted = "migration-noted",
    /// A migration and its note are durable.
    Migrated = "migrated",
    /// The handler has its database.
    Opened = "opened",
    /// The handler asked for a record, outside of a transaction.
    BeforeLookup = "before-lookup",
    /// The record was looked up; the handler has not been told yet.
    LookedUp = "looked-up",
    /// The handler reads, outside of a transaction.
    BeforeQuery = "before-query",
    /// It was read; the handler has not been told yet.
    Queried = "queried",
    /// The handler asked for a transaction; the writer's turn is not taken.
    BeforeBegin = "before-begin",
    /// The writer's turn is taken; nothing has begun.
    TurnTaken = "turn-taken",
    /// The transaction has begun, or its record was found.
    Begun = "begun",
    /// The handler runs a statement in its transaction.
    BeforeStatement = "before-statement",
    /// The statement was run; nothing is committed.
    StatementRun = "statement-run",
    /// The handler asked to commit; nothing is recorded yet.
    BeforeCommit = "before-commit",
    /// The record is written beside what the handler wrote; nothing is committed.
    RecordWritten = "record-written",
    /// The COMMIT has ended; whether it is synced is not known, and nobody was told.
    CommitRun = "commit-run",
    /// The commit is durable; the handler has not been told yet.
    Committed = "committed",

    // The handler's requests.

    /// A request of the write is about to be noted.
    BeforeNote = "before-note",
    /// The note is written; it is not committed.
    NoteWritten = "note-written",
    /// The request is noted, durably; it has not left yet.
    Noted = "noted",
    /// The connection is there: from now on the request may have left.
    Connected = "connected",
    /// The request left, and the head of its answer has come.
    HeadArrived = "head-arrived",
    /// The whole answer has come; the journal does not know yet.
    Answered = "answered",
    /// The journal knows the answer; the handler has not been told yet.
    AnswerTold = "answer-told",

    // The end of an attempt, or of what a crash left of one.

    /// The attempt has ended; its records were not asked yet.
    BeforeRecords = "before-records",
    /// Whoever confirmed was told of an end that the records keep; it is not written yet.
    EndTold = "end-told",
    /// The records were read; the end is not written yet.
    BeforeFinish = "before-finish",
    /// The end is durable; nobody was told yet.
    Finished = "finished",
    /// Those who wait were told; whoever confirmed was not.
    WaitersTold = "waiters-told",

    // Retention.

    /// A result was erased; nothing is committed.
    ErasureWritten = "erasure-written",
    /// Records are about to be emptied: their result is erased, durably.
    BeforeEmpty = "before-empty",
    /// The records are empty, durably; that is not noted yet.
    Emptied = "emptied",
    /// It is noted that the records are empty; nothing is committed.
    EmptyNoteWritten = "empty-note-written",
    /// It is noted that the records are empty, durably.
    EmptyNoted = "empty-noted",
    /// A file of a component that nobody needs is gone.
    ComponentRemoved = "component-removed",
}

#[cfg(debug_assertions)]
static HOOK: std::sync::OnceLock<fn(Point)> = std::sync::OnceLock::new();

/// Installs what happens at a point, once for the process.
#[cfg(debug_assertions)]
pub fn install(hook: fn(Point)) {
    // A second hook would be a mistake of the caller's; the first one stays.
    let _ = HOOK.set(hook);
}

/// The host has come to `point`.
#[inline]
pub fn reached(point: Point) {
    #[cfg(debug_assertions)]
    if let Some(hook) = HOOK.get() {
        hook(point);
    }
    #[cfg(not(debug_assertions))]
    let _ = point;
}
