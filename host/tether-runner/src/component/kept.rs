//! The files that the runner keeps: components by digest, and what was compiled
//! of them.

use std::collections::HashSet;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use tether_core::digest::Digest;
use tether_core::fault::{self, Point};
use wasmtime::Engine;
use wasmtime::component::Component;

/// The folders `components` and `cache` of the data folder.
///
/// A file gets its name once it is whole and synced, so a crash leaves either
/// all of it or nothing under that name.
pub(crate) struct Kept {
    components: PathBuf,
    cache: PathBuf,
    /// Changes with the version and the settings of the engine.
    compatibility: String,
}

impl Kept {
    /// Opens the folders, makes them where they are missing, and clears away what
    /// an earlier process did not finish.
    pub(crate) fn open(data_dir: &Path, engine: &Engine) -> io::Result<Self> {
        let mut hasher = DefaultHasher::new();
        engine.precompile_compatibility_hash().hash(&mut hasher);
        let kept = Self {
            components: data_dir.join("components"),
            cache: data_dir.join("cache"),
            compatibility: format!("{:016x}", hasher.finish()),
        };
        for folder in [&kept.components, &kept.cache] {
            make_private(folder)?;
            for file in fs::read_dir(folder)?.flatten() {
                if file.file_name().to_string_lossy().starts_with('.') {
                    fs::remove_file(file.path())?;
                }
            }
        }
        Ok(kept)
    }

    /// Where components are kept.
    pub(crate) fn components(&self) -> &Path {
        &self.components
    }

    fn component(&self, digest: Digest) -> PathBuf {
        self.components.join(format!("{}.wasm", digest.hex()))
    }

    fn artefact(&self, digest: Digest) -> PathBuf {
        self.cache.join(format!("{}-{}.cwasm", digest.hex(), self.compatibility))
    }

    /// Keeps a component.
    pub(crate) fn keep(&self, digest: Digest, bytes: &[u8]) -> io::Result<()> {
        if self.bytes(digest).is_ok_and(|kept| kept.is_some()) {
            return Ok(());
        }
        write_whole(&self.component(digest), bytes)
    }

    /// The bytes of a kept component; none where it is not kept, or not as it was.
    pub(crate) fn bytes(&self, digest: Digest) -> io::Result<Option<Vec<u8>>> {
        match fs::read(self.component(digest)) {
            Ok(bytes) => Ok(Some(bytes).filter(|bytes| Digest::of(bytes) == digest)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// What was compiled of this component for this engine, if it is there and can
    /// be used.
    pub(crate) fn compiled(&self, engine: &Engine, digest: Digest) -> Option<Component> {
        let path = self.artefact(digest);
        if !path.exists() {
            return None;
        }
        // SAFETY: the file must be what `Component::serialize` returned, unchanged,
        // for it is run as it stands. Only `keep_compiled` writes into this folder,
        // which is inside the data folder that this process holds the lock of and
        // which none but its user may enter (`make_private`): whoever can write
        // there can replace the host itself. A file of another engine or version,
        // or a damaged header, is recognised by wasmtime and compiled again.
        match unsafe { Component::deserialize_file(engine, &path) } {
            Ok(component) => Some(component),
            Err(error) => {
                tracing::warn!(%digest, "a compiled component cannot be used, compiling it again: {error}");
                None
            }
        }
    }

    /// Keeps what was compiled. It can be made again, so failing is no error.
    pub(crate) fn keep_compiled(&self, digest: Digest, component: &Component) {
        let written = match component.serialize() {
            Ok(bytes) => write_whole(&self.artefact(digest), &bytes),
            Err(error) => Err(io::Error::other(error.to_string())),
        };
        if let Err(error) = written {
            tracing::warn!(%digest, "a compiled component is not kept, the next start is slower: {error}");
        }
    }

    /// Deletes everything of components that are not among `needed`, and what was
    /// compiled for other engines.
    pub(crate) fn retain(&self, needed: &HashSet<Digest>) -> io::Result<()> {
        let needed: HashSet<PathBuf> =
            needed.iter().flat_map(|digest| [self.component(*digest), self.artefact(*digest)]).collect();
        for folder in [&self.components, &self.cache] {
            for file in fs::read_dir(folder)? {
                let path = file?.path();
                let ours = path.extension().is_some_and(|ending| ending == "wasm" || ending == "cwasm");
                if ours && !needed.contains(&path) {
                    fs::remove_file(path)?;
                    fault::reached(Point::ComponentRemoved);
                }
            }
        }
        Ok(())
    }
}

/// Makes a folder that only its owner may enter.
fn make_private(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    #[cfg(unix)]
    fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
    Ok(())
}

/// Writes a file so that under its name there is all of it or what was before.
fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let draft = folder.join(format!(".{}.{count}", name.to_string_lossy()));
    let written = (|| {
        let mut file = File::create(&draft)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fault::reached(Point::ComponentDrafted);
        fs::rename(&draft, path)?;
        File::open(folder)?.sync_all()?;
        fault::reached(Point::ComponentKept);
        Ok(())
    })();
    if written.is_err() {
        // The draft is of no use, and may be what fills the disk.
        let _ = fs::remove_file(&draft);
    }
    written
}
