//! What was shown is what runs: older versions, and what is kept of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tether_core::digest::Digest;
use tether_core::failure::Cause;
use tether_core::grant::{Binding, BoundComponent, BoundEndpoint, Grants};
use tether_core::port::databases::Unfit;
use tether_core::port::handlers::Handlers;
use tether_runner::{Settings, Source};

use crate::text::{Manifest, Tool, describing};
use crate::world::{Folder, World, allowance, call, component, fresh_key, tenant};

fn version(description: &'static str) -> Vec<u8> {
    describing(&Manifest { tools: vec![Tool { description, ..Tool::default() }], migrations: Vec::new() })
}

/// A host that starts with this version of the component `crm`.
async fn start(folder: &Path, bytes: &[u8]) -> World {
    let mut settings = Settings::new(folder);
    settings.max_instances = 2;
    let world = World::new(settings);
    world.load("crm", bytes).await.unwrap();
    world
}

async fn fits(world: &World, binding: &Binding) -> Result<(), String> {
    world.runner.fits(&tenant(), binding).await.unwrap().map_err(|outdated| outdated.to_string())
}

#[track_caller]
fn says(result: Result<(), String>, word: &str) {
    let sentence = result.unwrap_err();
    assert!(sentence.contains(word), "{sentence:?} says {word:?}");
}

fn only_file(folder: &Path) -> PathBuf {
    let files: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    let [file] = files.as_slice() else { panic!("one file, not {files:?}") };
    file.clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_version_runs_while_it_is_kept() {
    let folder = Folder::new();
    let world = start(folder.path(), &version("old")).await;
    let (old, digest) = (world.binding("tool"), world.bound("tool").digest);
    assert_eq!(fits(&world, &old).await, Ok(()));
    drop(world);

    let world = start(folder.path(), &version("new")).await;
    assert_ne!(world.bound("tool").digest, digest);
    assert_eq!(fits(&world, &old).await, Ok(()));
    world.runner.retain(&[digest]);
    assert_eq!(fits(&world, &old).await, Ok(()), "an action needs it");
    world.runner.retain(&[]);
    says(fits(&world, &old).await, "is gone");
    assert_eq!(fits(&world, &world.binding("tool")).await, Ok(()), "the configured one stays");
    only_file(&folder.path().join("components"));
    only_file(&folder.path().join("cache"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_changed_is_told() {
    let folder = Folder::new();
    let world = start(folder.path(), &version("old")).await;
    let (binding, bound) = (world.binding("tool"), world.bound("tool"));
    let other = BoundComponent { component: component("mail"), ..bound.clone() };
    says(fits(&world, &Binding::Component(other)).await, "`mail` is no longer configured");
    let other = BoundComponent { grants: Grants::default(), ..bound };
    says(fits(&world, &Binding::Component(other)).await, "may touch has changed");
    let endpoint = BoundEndpoint { url: "https://a.test/".into(), definition: Digest::of("") };
    let endpoint = Binding::Endpoint(endpoint);
    says(fits(&world, &endpoint).await, "a remote endpoint");
    let records = world.runner.records(&tenant(), &endpoint, fresh_key()).await.unwrap();
    assert!(records.is_empty(), "{records:?}");
    let migration = "0009-later".to_owned();
    world.databases.set_unfit(Unfit::UnknownMigration { database: "main".parse().unwrap(), migration });
    says(fits(&world, &binding).await, "0009-later");
}

#[tokio::test(flavor = "multi_thread")]
async fn kept_bytes_that_changed_count_as_gone() {
    let folder = Folder::new();
    let world = start(folder.path(), &version("old")).await;
    let old = world.binding("tool");
    drop(world);
    fs::write(only_file(&folder.path().join("components")), version("forged")).unwrap();
    let world = start(folder.path(), &version("new")).await;
    says(fits(&world, &old).await, "is gone");
}

#[tokio::test(flavor = "multi_thread")]
async fn kept_bytes_that_cannot_be_read_now_may_be_read_later() {
    let folder = Folder::new();
    let world = start(folder.path(), &version("old")).await;
    let old = world.binding("tool");
    drop(world);
    let file = only_file(&folder.path().join("components"));
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    let world = start(folder.path(), &version("new")).await;
    let call = call("tool", "{}", 1);
    let failure = world.runner.read(&old, call, allowance(1, Duration::from_secs(10))).await.unwrap_err();
    assert_eq!(failure.cause, Cause::Unreachable, "{failure:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_compiled_is_used_again_and_made_again() {
    let folder = Folder::new();
    let cache = folder.path().join("cache");
    drop(start(folder.path(), &version("one")).await);
    let artefact = only_file(&cache);
    let made = fs::metadata(&artefact).unwrap().modified().unwrap();
    drop(start(folder.path(), &version("one")).await);
    assert_eq!(fs::metadata(&artefact).unwrap().modified().unwrap(), made, "it was used");
    fs::write(&artefact, "no longer code").unwrap();
    drop(start(folder.path(), &version("one")).await);
    assert!(fs::metadata(&artefact).unwrap().len() > 1000, "it was made again");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&cache).unwrap().permissions().mode() & 0o777, 0o700);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_component_is_loaded_from_a_file() {
    let folder = Folder::new();
    let world = World::new(Settings::new(folder.path()));
    let path = folder.path().join("crm.wasm");
    fs::write(&path, version("file")).unwrap();
    let (source, name) = (Source::Path(path), component("crm"));
    let request = tether_runner::LoadRequest { name, source, grants: Grants::default() };
    world.runner.load(request).await.unwrap();
}
