//! What is told of the histories.

use std::sync::Arc;
use std::time::Duration;

use tether_core::action::State;
use tether_core::port::actions::{ActionStore, Swap};
use tether_core::port::announcements::Announcements;
use tether_store::SqliteActions;

use crate::contract::given::*;
use crate::folder::Folder;

#[tokio::test]
async fn events_of_all_tenants_come_in_the_order_in_which_they_were_written() {
    let folder = Folder::new();
    let store = SqliteActions::open(folder.path("a.db")).unwrap();
    assert_eq!(store.newest().await.unwrap(), 0);
    for (number, tenant) in [(1, "acme"), (2, "umbrella"), (3, "acme")] {
        let mut new = new_action(number);
        new.proposal.tenant = tenant.parse().unwrap();
        let _ = store.propose(new).await.unwrap();
    }
    let first = store.load(&"acme".parse().unwrap(), id(1)).await.unwrap().unwrap();
    let ended = State::Expired { attempts_used: 0, at: at(5) };
    assert!(matches!(store.swap(change(&first, ended)).await.unwrap(), Swap::Done(_)));

    let told = store.after(0, 9).await.unwrap();
    let told: Vec<_> = told
        .iter()
        .map(|told| (told.tenant.as_str(), told.place, told.action, told.revision.0, told.event.to.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            ("acme", 1, id(1), 1, "Pending"),
            ("umbrella", 1, id(2), 1, "Pending"),
            ("acme", 2, id(3), 1, "Pending"),
            ("acme", 3, id(1), 2, "Expired"),
        ]
    );
    let newest = store.newest().await.unwrap();
    let [last] = &store.after(newest - 1, 9).await.unwrap()[..] else { panic!("one") };
    assert_eq!((last.number, last.event.actor.is_some()), (newest, true));
    assert_eq!(store.after(0, 2).await.unwrap().len(), 2);
    assert!(store.after(newest, 9).await.unwrap().is_empty());
}

#[tokio::test]
async fn who_waits_is_told_of_what_is_durable_and_misses_nothing() {
    let folder = Folder::new();
    let store = Arc::new(SqliteActions::open(folder.path("a.db")).unwrap());
    let writer = tokio::spawn({
        let store = store.clone();
        async move {
            for number in 1..=50 {
                let _ = store.propose(new_action(number)).await.unwrap();
            }
        }
    });
    let mut seen = 0;
    while seen < 50 {
        let waiting = store.written(seen);
        tokio::time::timeout(Duration::from_secs(60), waiting).await.expect("it is told");
        let told = store.after(seen, 7).await.unwrap();
        assert!(!told.is_empty());
        seen = told.last().unwrap().number;
    }
    writer.await.unwrap();
    assert_eq!(seen, store.newest().await.unwrap());
    let mut waiting = store.written(seen);
    let nothing = tokio::time::timeout(Duration::from_millis(50), &mut waiting).await;
    assert!(nothing.is_err(), "nothing came after it");
}
