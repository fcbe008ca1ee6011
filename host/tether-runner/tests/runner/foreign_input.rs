//! A component's bytes are foreign input, what it says of itself included: whatever
//! they are, they are loaded or refused. 2,000 cases.

use std::time::Duration;

use tether_core::port::handlers::Handlers;
use tether_runner::Settings;

use crate::text::{Manifest, Tool, describing};
use crate::world::{Folder, World};

/// A generator of numbers that all follow from its seed (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).unwrap()
    }
}

/// A component that offers a tool and has a migration, so that there is text to
/// damage.
fn whole() -> Vec<u8> {
    let output = Some(r##"{"type":"object","properties":{"n":{"$ref":"#/$defs/n"}},"$defs":{"n":{}}}"##);
    let tool = Tool { output, ..Tool::default() };
    describing(&Manifest {
        tools: vec![tool, Tool { name: "other", ..Tool::default() }],
        migrations: vec![["main", "1", "CREATE TABLE t (id)"]],
    })
}

/// A host in `folder`, without components: none can be loaded twice.
fn host(folder: &Folder) -> World {
    let mut settings = Settings::new(folder.path());
    settings.max_instances = 2;
    settings.describe_time = Duration::from_millis(200);
    World::new(settings)
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_components_are_loaded_or_refused() {
    let (folder, whole) = (Folder::new(), whole());
    let mut world = host(&folder);
    let (mut loaded, mut refused) = (0, 0);
    for seed in 1..=2_000_u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut bytes = whole.clone();
        for _ in 0..=random.below(4) {
            let place = random.below(bytes.len());
            match random.below(8) {
                0 => bytes.truncate(place.max(1)),
                1 => bytes.insert(place, bytes[place]),
                _ => bytes[place] = u8::try_from(random.below(256)).unwrap(),
            }
        }
        match world.load("crm", &bytes).await {
            Ok(described) => {
                loaded += 1;
                assert!(!described.manifest.tools.is_empty(), "seed {seed}");
                world = host(&folder);
            }
            Err(error) => {
                refused += 1;
                assert!(!error.to_string().is_empty(), "seed {seed}");
            }
        }
    }
    assert!(loaded > 100 && refused > 100, "{loaded} loaded, {refused} refused");
    // The host is none the worse for it.
    world.load("crm", &whole).await.unwrap();
    assert_eq!(world.runner.offers().len(), 2);
}
