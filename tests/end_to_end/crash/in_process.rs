//! A whole host in this process, with the real store and the real runner: at every
//! passing of every fault point its files are copied away (see `camera`), opened again,
//! recovered, and the write is confirmed again; and so at every passing of that life.
//! Effects are counted outside: in the tool's own rows, and by the upstream.
//!
//! With every test: each passing once, and a sample of the pairs. All pairs (tens of
//! minutes on two cores), and the sample of a run that failed:
//!
//! ```text
//! TETHER_CRASH_PAIRS=all cargo test -p tether --test end_to_end crash::in_process -- --nocapture
//! TETHER_CRASH_SEED=42 cargo test -p tether --test end_to_end crash::in_process -- --nocapture
//! ```

mod camera;
mod host;
mod judge;
mod story;

use std::collections::BTreeSet;
use std::fs;
use std::time::Instant;

use tether_core::fault::Point;

use self::camera::{Remains, watch};
use self::host::House;
use self::judge::judge;
use self::story::Story;
use super::pairs::Pairs;
use super::past::{Past, World};
use super::writes::Write;
use crate::support::lend;

/// A life on `remains`: what was interrupted is recovered, and the story goes on to its
/// end.
fn live(house: &House, story: Story, remains: &mut Remains) {
    let before = house.upstream.received().len();
    house.live(remains.folder.path(), story.people(), async |gateway| {
        gateway.recover().await.unwrap_or_else(|error| panic!("{}: {error}", remains.story));
        judge(house, story.write(), remains).await;
        story.live(house, &gateway, &remains.story).await;
    });
    remains.sent += house.upstream.received().len() - before;
}

/// What the files of a host hold whose story has ended.
fn check(house: &House, story: Story, remains: &Remains) {
    house.live(remains.folder.path(), story.people(), async |_| judge(house, story.write(), remains).await);
    story.check_end(remains);
}

/// A life; what it would have left at each passing.
fn watched(house: &House, story: Story, mut remains: Remains) -> Vec<Remains> {
    let taken = watch(&mut remains, &house.upstream, |remains| live(house, story, remains));
    check(house, story, &remains);
    taken
}

/// What is there before the story begins.
fn before(house: &House, story: Story) -> Remains {
    let mut remains = Remains::none(format!("{story:?}"));
    if let Some(earlier) = story.earlier() {
        live(house, earlier, &mut remains);
    }
    remains
}

fn die_everywhere(story: Story) {
    let _turn = camera::turn();
    let (start, pairs, house) = (Instant::now(), Pairs::asked_for(), House::new());
    println!("{story:?}: {pairs}");
    let firsts = watched(&house, story, before(&house, story));
    let (died_once, mut died_twice) = (firsts.len(), 0);
    for (index, first) in firsts.into_iter().enumerate() {
        if !pairs.follow(index) {
            let mut again = first;
            live(&house, story, &mut again);
            check(&house, story, &again);
            continue;
        }
        let mut seconds = watched(&house, story, first);
        for second in pairs.of(index, seconds.len()) {
            live(&house, story, &mut seconds[second]);
            check(&house, story, &seconds[second]);
            died_twice += 1;
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("{story:?}: died once at {died_once} passings, twice at {died_twice} pairs, in {seconds:.0} s");
}

#[test]
fn a_step_and_a_main_transaction() {
    die_everywhere(Story::Confirm(Write::Steps));
}

#[test]
fn a_handler_that_looks_first_what_it_has_done() {
    die_everywhere(Story::Confirm(Write::LookFirst));
}

#[test]
fn a_request_with_a_step_and_a_main_transaction() {
    die_everywhere(Story::Confirm(Write::Request));
}

#[test]
fn a_request_through_wasi_http() {
    die_everywhere(Story::Confirm(Write::Fetch));
}

#[test]
fn a_call_of_an_endpoint() {
    die_everywhere(Story::Confirm(Write::Endpoint));
}

#[test]
fn two_persons() {
    die_everywhere(Story::TwoPersons);
}

#[test]
fn a_no() {
    die_everywhere(Story::Decline);
}

#[test]
fn an_expiry() {
    die_everywhere(Story::Expire);
}

#[test]
fn the_end_of_a_retention() {
    die_everywhere(Story::Forget);
}

/// Otherwise some of the above would be about nothing.
#[test]
fn every_point_is_passed_by_something() {
    let mut past = Past::none(Write::Steps);
    lend(&past.data());
    fs::write(past.data().join("cache/of-another.cwasm"), "").expect("the tests can write files");
    let served = World::new(Write::Steps).finish(&mut past).passed;
    let name = |passing: &String| passing.split_once('#').map(|(point, _)| point.to_owned());
    let mut passed: BTreeSet<_> = served.iter().filter_map(name).collect();
    let _turn = camera::turn();
    let house = House::new();
    for story in Story::ALL {
        let taken = watched(&house, story, before(&house, story));
        passed
            .extend(taken.iter().filter_map(|remains| remains.point).map(|point| point.as_str().to_owned()));
    }
    let missed: Vec<_> = Point::ALL.iter().filter(|point| !passed.contains(point.as_str())).collect();
    assert!(missed.is_empty(), "{missed:?}");
}
