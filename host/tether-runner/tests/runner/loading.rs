//! What is no component of ours is told so, with what to do.

use std::time::{Duration, Instant};

use tether_core::json::JsonText;
use tether_core::port::handlers::Handlers;
use tether_runner::{LoadRequest, Settings, Source};

use crate::text::{Manifest, Tool, describing, importing, running, sending_in_describe};
use crate::world::{Folder, World, component, grants, probe_bytes};

/// Loads `bytes`, and looks for all of `words` in the error.
#[track_caller]
fn check(bytes: &[u8], words: &[&str]) {
    let folder = Folder::new();
    let mut settings = Settings::new(folder.path());
    settings.max_instances = 2;
    settings.describe_time = Duration::from_millis(200);
    let world = World::new(settings);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let error = runtime.block_on(world.load("crm", bytes)).unwrap_err().to_string();
    for word in [&["component `crm`: "], words].concat() {
        assert!(error.contains(word), "{error:?} says {word:?}");
    }
    assert!(world.runner.offers().is_empty(), "nothing of it is offered");
}

#[track_caller]
fn check_manifest(manifest: &Manifest, words: &[&str]) {
    check(&describing(manifest), &[&["what it says of itself is wrong"], words].concat());
}

fn offering(tools: &[Tool]) -> Manifest {
    Manifest { tools: tools.to_vec(), ..Manifest::default() }
}

fn migrating(migrations: &[[&'static str; 3]]) -> Manifest {
    Manifest { migrations: migrations.to_vec(), ..offering(&[Tool::default()]) }
}

#[test]
fn bytes_that_are_no_component() {
    check(b"", &["no WebAssembly", "tether build"]);
    check(b"#!/bin/sh\n", &["no WebAssembly"]);
    check(b"\0asm", &["damaged, incomplete", "build or copy it again"]);
    check(&wat::parse_str("(module)").unwrap(), &["core WebAssembly module", "wasm32-wasip2"]);
    check(&probe_bytes()[..probe_bytes().len() / 2], &["damaged, incomplete"]);
    check(&wat::parse_str("(component)").unwrap(), &["does not export `tether:tool/handler`", "tether-sdk"]);
    let empty = r#"(component (instance $i) (export "tether:tool/handler@0.1.0" (instance $i)))"#;
    check(&wat::parse_str(empty).unwrap(), &["does not export `tether:tool/handler`", "describe"]);
}

#[test]
fn an_import_that_the_host_does_not_offer_is_named() {
    check(&importing("wasi:keyvalue/store@0.2.0"), &["imports `wasi:keyvalue/store@0.2.0`"]);
}

#[test]
fn a_component_that_cannot_be_asked() {
    check(&running("unreachable"), &["could not be asked what it offers", "trapped"]);
    check(&sending_in_describe(), &["imports are not available in describe"]);
    check(&running("i32.const -4"), &["could not be asked what it offers"]);
    let begin = Instant::now();
    check(&running("(loop (br 0)) unreachable"), &["not done after 200 ms"]);
    assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
}

#[test]
fn tools_that_cannot_be() {
    let tool = Tool::default;
    check_manifest(&offering(&[]), &["offers no tool"]);
    check_manifest(&offering(&[Tool { name: "void ticket", ..tool() }]), &["`void ticket`", "A-Z a-z 0-9"]);
    check_manifest(&offering(&[tool(), tool()]), &["two of its tools", "`tool`"]);
    check_manifest(&offering(&[Tool { input: "{", ..tool() }]), &["tool `tool`: its input schema", "JSON"]);
    check_manifest(&offering(&[Tool { input: r#"{"type":"objekt"}"#, ..tool() }]), &["its input schema"]);
    check_manifest(&offering(&[Tool { input: r#"{"type":"string"}"#, ..tool() }]), &["schema of an object"]);
    check_manifest(&offering(&[Tool { input: "true", ..tool() }]), &["schema of an object"]);
    check_manifest(&offering(&[Tool { output: Some("[]"), ..tool() }]), &["its output schema"]);
}

#[test]
fn migrations_that_cannot_be() {
    let sql = "CREATE TABLE t (id)";
    check_manifest(
        &migrating(&[["main", "1", sql], ["main", "1", sql]]),
        &["migration `1`", "two migrations"],
    );
    check_manifest(&migrating(&[["crm", "1", sql]]), &["`crm`, which is not granted", "grant it"]);
    check_manifest(&migrating(&[["main", "", sql]]), &["1 to 128 characters"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_cannot_be_read() {
    let folder = Folder::new();
    let world = World::new(Settings::new(folder.path()));
    let source = Source::Path(folder.path().join("missing.wasm"));
    let request = LoadRequest { name: component("crm"), source, grants: grants() };
    let error = world.runner.load(request).await.unwrap_err().to_string();
    assert!(error.contains("cannot read") && error.contains("missing.wasm"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn names_are_given_once() {
    let folder = Folder::new();
    let world = World::new(Settings::new(folder.path()));
    let first = describing(&offering(&[Tool::default()]));
    let second = describing(&offering(&[Tool { name: "other", ..Tool::default() }]));
    let loaded = world.load("first", &first).await.unwrap();
    assert_eq!(loaded.manifest.tools[0].name.as_str(), "tool");
    let taken = world.load("second", &first).await.unwrap_err().to_string();
    assert!(taken.contains("tool `tool` is offered by the component `first`"), "{taken}");
    let taken = world.load("first", &second).await.unwrap_err().to_string();
    assert!(taken.contains("another component has the same name"), "{taken}");
    world.load("second", &second).await.unwrap();
    let names: Vec<_> = world.runner.offers().iter().map(|offer| offer.tool.name.to_string()).collect();
    assert_eq!(names, ["other", "tool"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schema_that_refers_to_itself_harms_nobody() {
    let folder = Folder::new();
    let world = World::new(Settings::new(folder.path()));
    let endless = Tool { input: r##"{"type":"object","$ref":"#"}"##, ..Tool::default() };
    if world.load("crm", &describing(&offering(&[endless]))).await.is_ok() {
        let offer = world.runner.offer(&"tool".parse().unwrap()).unwrap();
        let _ = offer.input.check(&JsonText::empty_object());
    }
}
