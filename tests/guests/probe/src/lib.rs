//! Tools that misbehave, each in one way, so that tests can see what a host
//! makes of it. Every write leaves its effects in the table `effects` of the
//! database `main`, where a test can count them.

mod end;
mod keep;
mod outgoing;
mod reads;
mod sandbox;
mod sends;
mod writes;

use keep::*;
use reads::*;
use sandbox::*;
use sends::*;
use tether_sdk::prelude::*;
use writes::*;

tether_sdk::component! {
    tools: [
        probe_echo, probe_flaky, probe_trap, probe_panic, probe_spin, probe_sleep, probe_hoard, probe_recurse, probe_handles,
        probe_big, probe_log, probe_lie, probe_count, probe_sneak, probe_sandbox, probe_rows, probe_query,
        probe_write, probe_write_until, probe_constraint, probe_read_then_write, probe_no_record, probe_steps,
        probe_big_write, probe_lie_write, probe_two_at_once, probe_after_main, probe_nothing, probe_preview,
        probe_keep, probe_numbers, probe_hold, probe_send, probe_fetch, probe_send_write, probe_send_twice,
        probe_send_inside, probe_send_after, probe_send_then_write, probe_fetch_twice, probe_fetch_inside,
        probe_fetch_after, probe_fetch_forgotten, probe_fetch_unfinished, probe_long_parts,
        probe_fetch_many, probe_fetch_meanwhile, probe_look_first,
    ],
    migrations: [
        migration("main", "0001-effects", include_str!("../migrations/0001-effects.sql")),
        migration("main", "0002-numbers", include_str!("../migrations/0002-numbers.sql")),
    ],
}
