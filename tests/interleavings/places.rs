//! Places for handlers that run at the same time.

use std::sync::Arc;

use shuttle::future::spawn;
use tether_core::problem::Code;
use tether_interleavings::{Called, Settings, Told};

use crate::check;
use crate::handlers::Act;
use crate::world::{Hourglass, World, all, count, json, live, of_tenant};

/// So many places, and one for each tenant.
fn places(max_concurrent: usize) -> Settings {
    Settings { max_concurrent, max_concurrent_per_tenant: 1, ..Settings::default() }
}

/// A read that is given up whenever the checker says so: its place is free again.
#[test]
fn no_place_is_lost_by_who_gives_up() {
    check("reads that are given up", || {
        live(async {
            let world = World::with(&[], places(2), Hourglass { runs_out: false });
            let readers = ["acme", "acme", "bolt", "coal"].map(|tenant| {
                let gateway = Arc::clone(&world.gateway);
                spawn(async move { gateway.call(&of_tenant(tenant), "read", json("{}"), None).await.is_ok() })
            });
            readers[0].abort();
            readers[2].abort();
            for reader in readers {
                assert_ne!(reader.await.ok(), Some(false), "only who gave up has no answer");
            }
            for tenant in ["acme", "bolt"] {
                let answer = world.gateway.call(&of_tenant(tenant), "read", json("{}"), None).await;
                assert!(matches!(answer, Ok(Called::Answer(_))));
            }
        });
    });
}

#[test]
fn who_was_told_that_it_is_full_ran_nothing_and_holds_nothing() {
    check("patience that ends", || {
        live(async {
            let world = World::with(&[Act::Commit; 3], places(1), Hourglass { runs_out: true });
            let ids = [world.actions.add(), world.actions.add(), world.actions.add()];
            let answers = all(ids.map(|id| world.confirm(id, None, None)).into()).await;
            let [done, full] = [Ok(Told::Succeeded), Err(Code::Overloaded)].map(|told| count(&answers, told));
            assert_eq!(done + full, 3, "{answers:?}");
            assert_ne!(done, 0, "the first one finds the place free");
            assert_eq!(world.handlers.effects(), done);
            world.gateway.idle().await;
            // Nobody is there: the place is free.
            for id in ids {
                let told = world.confirm(id, None, None).await.unwrap();
                assert!(matches!(told, Ok(Told::Succeeded | Told::Replayed)), "{told:?}");
            }
        });
    });
}
