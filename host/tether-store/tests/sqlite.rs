//! The contract of both ports on SQLite, and what only SQLite has.

#[path = "sqlite/announced.rs"]
mod announced;
#[path = "sqlite/chain.rs"]
mod chain;
#[path = "sqlite/chain_of_erased.rs"]
mod chain_of_erased;
#[path = "sqlite/chain_of_evidence.rs"]
mod chain_of_evidence;
#[path = "sqlite/chain_of_old_files.rs"]
mod chain_of_old_files;
#[path = "sqlite/changed_rows.rs"]
mod changed_rows;
mod contract;
#[path = "sqlite/existing_files.rs"]
mod existing_files;
#[path = "../src/sqlite/test_folder.rs"]
mod folder;
#[path = "sqlite/missing_head.rs"]
mod missing_head;
#[path = "sqlite/store_file.rs"]
mod store_file;

use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use tether_core::port::actions::ActionStore;
use tether_core::port::databases::{Databases, SqlLimits};
use tether_store::{SqliteActions, SqliteDatabases};

use self::contract::cancelled::Outside;
use self::folder::Folder;

fn actions(folder: &Folder) -> Arc<dyn ActionStore> {
    Arc::new(SqliteActions::open(folder.path("actions.db")).unwrap())
}

fn databases(folder: &Folder, limits: SqlLimits) -> Arc<dyn Databases> {
    Arc::new(SqliteDatabases::new(folder.path(""), limits))
}

/// The file of `acme`'s tickets, by a connection of nobody's.
fn outside(folder: &Folder) -> Outside {
    let path = folder.path("databases/tickets/acme/main.db");
    Box::new(move |sql| {
        let file = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        file.query_row(sql, [], |row| row.get(0)).unwrap()
    })
}

/// Limits that no case meets by accident on a slow machine.
fn roomy() -> SqlLimits {
    let minute = Duration::from_secs(60);
    SqlLimits { transaction_time: minute, turn_time: minute, read_time: minute, ..SqlLimits::default() }
}

macro_rules! contract {
    ($module:ident, |$folder:ident| $backend:expr, $($case:ident),* $(,)?) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $case() {
            let $folder = Folder::new();
            contract::$module::$case($backend).await;
        }
    )*};
}

contract!(
    actions,
    |folder| actions(&folder),
    lists_are_newest_first_and_their_pages_join,
    the_history_tells_every_move,
    no_tenant_sees_another_tenants_actions,
    what_the_host_looks_after_is_found,
);

contract!(
    keys,
    |folder| actions(&folder),
    fifty_racing_swaps_have_one_winner,
    a_proposal_key_names_one_action_of_its_proposer,
    a_confirm_key_is_bound_when_its_claim_wins,
    the_key_of_an_approval_is_bound_with_it,
);

contract!(
    kept,
    |folder| actions(&folder),
    what_is_sent_is_noted_while_its_attempt_executes_and_at_no_other_time,
    an_action_is_bound_to_an_endpoint_as_well,
    every_state_survives_its_row,
    a_proposal_survives_to_the_letter,
);

contract!(
    retention,
    |folder| actions(&folder),
    of_fifty_proposals_at_once_as_many_are_kept_as_may_be_open,
    outputs_are_erased_and_their_records_are_due_until_they_are_empty,
    arguments_are_erased_once_their_action_has_ended,
);

contract!(
    databases,
    |folder| databases(&folder, roomy()),
    values_are_exact,
    parameters_bind_by_number,
    changed_rows_are_counted,
    a_constraint_leaves_the_transaction_usable,
    a_read_changes_nothing,
    one_statement_a_call,
    only_granted_databases_open,
    migrations_are_applied_once_whoever_comes_first,
    migrations_come_in_order_and_are_never_edited,
    every_tenant_has_a_database_of_its_own,
);

contract!(
    databases,
    |folder| databases(&folder, SqlLimits { max_rows: 10, max_bytes: 1_000, ..roomy() }),
    answers_and_statements_have_limits,
);

contract!(
    guarded_sql,
    |folder| databases(&folder, roomy()),
    forbidden_sql_is_forbidden_everywhere,
    forbidden_sql_is_forbidden_in_migrations,
    everything_else_is_allowed,
    what_the_host_keeps_prepared_is_not_the_guests,
    a_statement_that_is_kept_prepared_is_what_it_was_when_it_comes_again,
);

contract!(
    records,
    |folder| databases(&folder, roomy()),
    a_write_and_its_record_commit_together,
    steps_have_records_of_their_own_and_the_main_one_is_the_last,
    fifty_attempts_at_once_write_once,
    emptied_records_still_say_that_it_was_done,
    a_record_keeps_a_bounded_part_of_the_statements,
    records_wait_for_the_writers_turn,
    fifty_reads_then_writes_at_once_are_never_locked_out,
);

contract!(
    interruption,
    |folder| databases(&folder, roomy()),
    a_dropped_transaction_is_undone,
    whatever_await_is_dropped_the_next_one_is_clean,
    a_statement_ends_with_its_attempt_and_the_transaction_with_it,
    a_commit_runs_to_its_end_once_it_began,
    a_statement_that_ends_the_transaction_ends_all_of_it,
);

contract!(
    cancelled,
    |folder| databases(&folder, roomy()),
    a_call_given_up_among_writers_leaves_nothing_behind,
    an_opening_given_up_leaves_nothing_half_made,
);

contract!(
    cancelled,
    |folder| (databases(&folder, roomy()), outside(&folder)),
    a_commit_given_up_is_in_the_records_as_it_is_in_the_file,
);

contract!(
    interruption,
    |folder| databases(&folder, SqlLimits { transaction_time: Duration::from_secs(1), ..roomy() }),
    a_transaction_that_stays_open_is_undone_and_gives_its_turn_back,
);

contract!(
    interruption,
    |folder| databases(&folder, SqlLimits { turn_time: Duration::from_millis(500), ..roomy() }),
    a_turn_that_does_not_come_is_busy,
);

contract!(
    interruption,
    |folder| databases(&folder, SqlLimits { read_time: Duration::from_secs(1), ..roomy() }),
    a_read_ends_in_time,
);
