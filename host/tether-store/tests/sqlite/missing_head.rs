//! Where a tenant's history ends is not in the file any more.

use tether_core::port::actions::{ActionStore, Proposed};
use tether_store::SqliteActions;

use crate::chain::{findings, history, tamper};
use crate::contract::given::*;
use crate::folder::Folder;

#[tokio::test]
async fn a_history_whose_head_is_gone_is_not_begun_anew() {
    for changed in [
        "DELETE FROM chain_heads WHERE tenant = 'acme'",
        "UPDATE chain_heads SET tenant = '' WHERE tenant = 'acme'",
        "DELETE FROM chain_heads WHERE tenant = 'acme'; DELETE FROM history WHERE action = 1",
    ] {
        let folder = Folder::new();
        history(&folder).await;
        tamper(&folder, changed);
        let before = findings(&folder, &[]);

        let store = SqliteActions::open(folder.path("a.db")).unwrap();
        let waits = store.load(&"acme".parse().unwrap(), id(3)).await.unwrap().unwrap();
        for refused in [
            store.propose(new_action(4)).await.map(drop),
            store.swap(change(&waits, executing(None))).await.map(drop),
        ] {
            let why = refused.unwrap_err().to_string();
            assert!(why.contains("where the history of acme ends was changed"), "{changed}: {why}");
        }
        // Others go on, and whoever is new begins.
        for (number, tenant) in [(5, "umbrella"), (6, "initech"), (7, "initech")] {
            let mut new = new_action(number);
            new.proposal.tenant = tenant.parse().unwrap();
            assert!(matches!(store.propose(new).await, Ok(Proposed::New(_))), "{changed}: {tenant}");
        }
        drop(store);
        assert_eq!(findings(&folder, &[]), before, "{changed}: nothing is added to it");
    }
}
