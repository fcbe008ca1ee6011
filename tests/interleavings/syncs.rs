//! Those who share a sync: nobody is told of a commit before one that covers it.

use std::sync::Arc;

use shuttle::future::{JoinHandle, spawn};
use tether_interleavings::Log;

use crate::check;
use crate::world::live;

/// Whether what somebody was told of was on the disk by then.
fn commit(log: &Arc<Log>) -> JoinHandle<bool> {
    let log = Arc::clone(log);
    spawn(async move {
        let told = log.commit().await;
        if let Some(number) = told {
            assert!(log.is_durable(number), "commit {number} was told, and is not synced");
        }
        told.is_some()
    })
}

/// The same by who does not wait for others.
fn commit_in_turn(log: &Arc<Log>) -> JoinHandle<bool> {
    let log = Arc::clone(log);
    spawn(async move {
        let told = log.commit_in_turn();
        if let Some(number) = told {
            assert!(log.is_durable(number), "commit {number} was told, and is not synced");
        }
        told.is_some()
    })
}

fn read(log: &Arc<Log>) -> JoinHandle<()> {
    let log = Arc::clone(log);
    spawn(async move {
        for number in log.read().await.unwrap_or_default() {
            assert!(log.is_durable(number), "commit {number} was read and told, and is not synced");
        }
    })
}

#[test]
fn who_is_told_of_a_commit_waited_for_its_sync() {
    check("commits", || {
        live(async {
            let log = Log::new(None);
            for committed in [commit(&log), commit(&log), commit_in_turn(&log), commit(&log)] {
                assert!(committed.await.unwrap());
            }
        });
    });
}

#[test]
fn who_reads_waits_for_the_sync_of_what_was_seen() {
    check("readers", || {
        live(async {
            let log = Log::new(None);
            let (commits, reads) = ([commit(&log), commit(&log)], [read(&log), read(&log)]);
            for committed in commits {
                assert!(committed.await.unwrap());
            }
            for read in reads {
                read.await.unwrap();
            }
        });
    });
}

#[test]
fn a_sync_that_fails_is_told_to_whom_it_covered_and_the_next_ones_go_on() {
    check("a sync that fails", || {
        live(async {
            let log = Log::new(Some(2));
            let commits = [commit(&log), commit_in_turn(&log), commit(&log), commit(&log), commit(&log)];
            let read = read(&log);
            for committed in commits {
                committed.await.unwrap();
            }
            read.await.unwrap();
            // Once it failed, the file is mended by whoever comes next.
            let last = [commit(&log).await.unwrap(), commit(&log).await.unwrap()];
            assert!(last.contains(&true), "nothing is in the way any more");
        });
    });
}
