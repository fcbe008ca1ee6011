//! Two who meet, in lives so short that every schedule is tried.

use std::sync::Arc;

use shuttle::future::spawn;
use tether_interleavings::{Settings, Told};

use crate::check_all;
use crate::handlers::Act;
use crate::world::{Hourglass, World, json, live, of_tenant, person, told};

#[test]
fn who_waits_is_woken_whenever_it_comes() {
    check_all("a waiter", || {
        live(async {
            let world = World::new(&[Act::Return]);
            let id = world.actions.add();
            let winner = world.confirm(id, None, None);
            world.handlers.start().await;
            let waited = told(world.gateway.confirm(&person(), id, None, None).await);
            assert_eq!(waited, Ok(Told::Replayed));
            assert_eq!(winner.await.unwrap(), Ok(Told::Succeeded));
            assert_eq!(world.handlers.effects(), 1);
        });
    });
}

#[test]
fn a_sweeper_that_comes_while_an_attempt_runs_leaves_it_alone() {
    check_all("a round", || {
        live(async {
            let world = World::new(&[Act::Return]);
            let id = world.actions.add();
            let winner = world.confirm(id, None, None);
            world.handlers.start().await;
            world.gateway.sweep().await.unwrap();
            assert_eq!(winner.await.unwrap(), Ok(Told::Succeeded));
        });
    });
}

#[test]
fn idle_is_told_whenever_the_last_attempt_ends() {
    check_all("the end of the last", || {
        live(async {
            let world = World::new(&[Act::Return]);
            let id = world.actions.add();
            let winner = world.confirm(id, None, None);
            world.handlers.start().await;
            world.gateway.idle().await;
            world.rest(id).await;
            assert_eq!(winner.await.unwrap(), Ok(Told::Succeeded));
        });
    });
}

#[test]
fn a_place_is_free_again_whenever_its_reader_gives_up() {
    check_all("a place", || {
        live(async {
            let settings =
                Settings { max_concurrent: 1, max_concurrent_per_tenant: 1, ..Settings::default() };
            let world = World::with(&[], settings, Hourglass { runs_out: false });
            let read = |tenant| {
                let gateway = Arc::clone(&world.gateway);
                async move { gateway.call(&of_tenant(tenant), "read", json("{}"), None).await.is_ok() }
            };
            let first = spawn(read("acme"));
            first.abort();
            assert!(read("bolt").await);
            let _ = first.await;
            assert!(read("acme").await);
        });
    });
}
