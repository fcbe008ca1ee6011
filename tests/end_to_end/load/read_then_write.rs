//! F14: many handlers that read and then write one tenant's database, all at once.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use super::{Length, check_audit};
use crate::support::{Setup, crowd, open_read_only};

/// Handlers at once.
const CROWD: usize = 50;

/// What full length is, in time.
const FULL: Duration = Duration::from_secs(60);

/// A number that the file of the database holds.
fn number(database: &Path, sql: &str) -> usize {
    let number = open_read_only(database).query_row(sql, [], |row| row.get::<_, u32>(0));
    number.expect("it can be read") as usize
}

#[test]
fn f14_fifty_that_read_and_then_write_at_once_succeed_round_after_round() {
    let length = Length::asked_for();
    let (rounds, at_least) =
        (length.rounds(6, 1), if length == Length::Full { FULL } else { Duration::ZERO });
    let (mut server, begin) = (Setup::of(&["probe"]).start(), Instant::now());
    let mut confirmed = 0;
    for round in 1.. {
        let ids = crowd(CROWD, |_| server.api.propose("probe_read_then_write", "{}"));
        let answers = crowd(CROWD, |number| server.api.confirm(&ids[number], "{}"));
        let values: BTreeSet<_> = answers
            .iter()
            .map(|answer| answer.check("200 Succeeded").body["result"].as_u64().expect("a whole number"))
            .collect();
        let (before, now) = (confirmed as u64, (confirmed + CROWD) as u64);
        assert_eq!(values, (before + 1..=now).collect(), "nobody read what another was about to replace");
        confirmed += CROWD;
        if round >= rounds && begin.elapsed() >= at_least {
            break;
        }
    }
    let database = server.database("probe");
    assert_eq!(number(&database, "SELECT value FROM counters WHERE name = 'one'"), confirmed);
    assert_eq!(number(&database, "SELECT count(*) FROM tether_records"), confirmed);
    println!("{confirmed} read and wrote, {CROWD} at once, in {:.1} s", begin.elapsed().as_secs_f64());
    check_audit(&mut server, confirmed);
}
