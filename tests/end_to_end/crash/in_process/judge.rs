//! What must hold of a host's files once it has recovered.

use std::sync::Arc;

use tether_core::audit::{Auditor, Case};
use tether_core::chain::Checker;
use tether_core::grant::Binding;
use tether_core::port::databases::{Databases as _, Scope};
use tether_store::{Archive, Chained, Damaged, Kept};

use super::camera::Remains;
use super::host::House;
use crate::crash::told::Account;
use crate::crash::writes::{Outside, Write};
use crate::support::effects;

/// Checks the files that the house has open: by the history checker, and by what was
/// counted outside. All of this is about one action, if there is any.
pub(super) async fn judge(house: &House, write: Write, remains: &Remains) {
    let (data, when) = (remains.folder.path(), &remains.story);
    let mut archive = Archive::open(data.join("actions.db")).expect("the file can be opened");
    check_chain(&archive, when);
    let page = archive.next_page(10).expect("the file can be read");
    let rows = effects(&data.join("databases/probe/default/main.db"));
    assert!(page.len() <= 1, "{when}: one proposal is one action");
    assert!(!page.is_empty() || rows.is_empty() && remains.sent == 0, "{when}: nothing comes from nowhere");

    for kept in page {
        let Kept { action, history, key_names, fits, records_due: _ } =
            kept.unwrap_or_else(|damaged| panic!("{when}: {damaged}"));
        let id = action.id.to_string();
        assert!(fits, "{when}: it is another than its history says");
        assert!(rows.iter().all(|effect| effect.key == id), "{when}: {rows:?}");
        let outside = Outside { rows: rows.clone(), requests: remains.sent };
        Account::kept(&action, when).check(write, &outside, when);

        let records = match &action.proposal.binding {
            Binding::Component(bound) => {
                let scope = Scope {
                    tenant: action.proposal.tenant.clone(),
                    component: bound.component.clone(),
                    grants: bound.grants.clone(),
                    migrations: Arc::default(),
                };
                house.databases.records(&scope, action.id.into()).await
            }
            Binding::Endpoint(_) => Ok(Vec::new()),
        };
        let findings = Auditor::default().check(&Case { action, history, records, key_names, seen: None });
        assert!(findings.is_empty(), "{when}: {findings:?}");
    }
}

/// The history is whole, and ends where it should.
fn check_chain(archive: &Archive, when: &str) {
    let mut checker = Checker::default();
    let check = |event: Result<Chained, Damaged>| {
        let event = event.unwrap_or_else(|damaged| panic!("{when}: {damaged}"));
        assert_eq!(checker.next(&event.line(), &event.announced.hash), None, "{when}");
        Ok(())
    };
    archive.events(check).expect("the file can be read");
    let heads = archive.heads().expect("the file can be read").into_iter();
    let heads: Vec<_> =
        heads.map(|head| head.unwrap_or_else(|damaged| panic!("{when}: {damaged}"))).collect();
    assert_eq!(checker.end(&heads), [], "{when}");
}
