//! A folder that is watched: everything that is done to it is written down in order,
//! together with what was asked and told meanwhile.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use super::facts::Fact;
use super::model::{Change, Event, FileId, Model, Node};

/// The disks of this process, by their roots.
static DISKS: RwLock<Vec<Arc<Disk>>> = RwLock::new(Vec::new());

/// The disk that holds `path`.
pub(crate) fn of(path: &Path) -> Option<Arc<Disk>> {
    let disks = DISKS.read().unwrap_or_else(PoisonError::into_inner);
    disks.iter().find(|disk| path.starts_with(&disk.root)).cloned()
}

/// How long a sync takes: others wait meanwhile, and share the next one.
const SYNC: Duration = Duration::from_millis(1);

/// A file or folder was synced.
#[expect(clippy::disallowed_methods, reason = "whoever syncs is on a thread that may block")]
pub(crate) fn synced(descriptor: c_int) {
    let Ok(path) = fs::read_link(format!("/proc/self/fd/{descriptor}")) else { return };
    if let Some(disk) = of(&path) {
        std::thread::sleep(SYNC);
        disk.synced(&path);
    }
}

/// See the module.
pub(crate) struct Disk {
    root: PathBuf,
    state: Mutex<State>,
}

struct State {
    names: BTreeMap<PathBuf, Node>,
    files: FileId,
    trace: Vec<Event>,
}

impl Disk {
    /// Watches the folder `root`, in which `model` was written down as it is for those
    /// who run.
    pub(crate) fn watch(root: &Path, model: &Model) -> Watched {
        let names = model.names().map(|(path, node)| (path.clone(), node)).collect();
        let files = model.files.keys().next_back().map_or(0, |last| last + 1);
        let state = Mutex::new(State { names, files, trace: Vec::new() });
        let disk = Arc::new(Self { root: fs::canonicalize(root).unwrap(), state });
        DISKS.write().unwrap_or_else(PoisonError::into_inner).push(disk.clone());
        Watched(disk)
    }

    /// Its root, without symbolic links.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Something was asked for or told, between what was done before and after.
    pub(crate) fn told(&self, fact: Fact) {
        self.state().trace.push(Event::Told(fact));
    }

    /// Everything up to now.
    pub(crate) fn trace(&self) -> Vec<Event> {
        self.state().trace.clone()
    }

    /// Opens the file at `path` by `open`, and watches it if that succeeds.
    pub(crate) fn opened(self: &Arc<Self>, path: &Path, open: impl FnOnce() -> bool) -> Option<Handle> {
        let mut state = self.state();
        let there = path.exists();
        if !open() {
            return None;
        }
        let path = self.relative(path);
        if !there {
            state.names.remove(&path);
        }
        let file = state.file(&self.root, &path)?;
        Some(Handle { disk: self.clone(), file })
    }

    /// The file at `path` was deleted.
    pub(crate) fn deleted(&self, path: &Path) {
        let (path, mut state) = (self.relative(path), self.state());
        if state.names.remove(&path).is_some() {
            state.trace.push(Event::Named(path, None));
        }
    }

    fn synced(&self, path: &Path) {
        let (relative, mut state) = (self.relative(path), self.state());
        if !path.is_dir() {
            if let Some(file) = state.file(&self.root, &relative) {
                state.trace.push(Event::FileSynced(file));
            }
            return;
        }
        state.folders(&relative);
        let mut entries = BTreeMap::new();
        for entry in fs::read_dir(path).unwrap() {
            let entry = relative.join(entry.unwrap().file_name());
            if let Some(node) = state.node(&self.root, &entry) {
                entries.insert(entry, node);
            }
        }
        state.names.retain(|name, _| name.parent() != Some(&relative) || entries.contains_key(name));
        state.trace.push(Event::FolderSynced(relative, entries));
    }

    fn relative(&self, path: &Path) -> PathBuf {
        path.strip_prefix(&self.root).expect("it is on this disk").to_owned()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// What is at `path`, known before or not; none where there is nothing, or only the
    /// index of a write-ahead log, which does not outlive the power.
    fn node(&mut self, root: &Path, path: &Path) -> Option<Node> {
        let there = root.join(path);
        if there.is_dir() {
            self.folders(path);
            return Some(Node::Folder);
        }
        let index = path.as_os_str().as_encoded_bytes().ends_with(b"-shm");
        self.file(root, path).filter(|_| !index).map(Node::File)
    }

    /// The file at `path`. One that was made without SQLite is seen here first.
    fn file(&mut self, root: &Path, path: &Path) -> Option<FileId> {
        if let Some(Node::File(file)) = self.names.get(path) {
            return Some(*file);
        }
        let bytes = fs::read(root.join(path)).ok()?;
        self.folders(path.parent()?);
        let file = self.files;
        self.files += 1;
        self.name(path, Node::File(file));
        if !bytes.is_empty() {
            self.trace.push(Event::Changed(file, Change::Write { at: 0, bytes: bytes.into() }));
        }
        Some(file)
    }

    /// The folder at `path`, and those above it.
    fn folders(&mut self, path: &Path) {
        let unseen = path.ancestors().take_while(|above| !above.as_os_str().is_empty());
        let mut unseen: Vec<&Path> = unseen.filter(|above| !self.names.contains_key(*above)).collect();
        unseen.reverse();
        unseen.into_iter().for_each(|folder| self.name(folder, Node::Folder));
    }

    fn name(&mut self, path: &Path, node: Node) {
        self.names.insert(path.to_owned(), node);
        self.trace.push(Event::Named(path.to_owned(), Some(node)));
    }
}

/// An open file on a disk.
#[derive(Clone)]
pub(crate) struct Handle {
    disk: Arc<Disk>,
    file: FileId,
}

impl Handle {
    /// These bytes were written.
    pub(crate) fn wrote(&self, at: usize, bytes: &[u8]) {
        self.changed(Change::Write { at, bytes: bytes.into() });
    }

    /// It was cut, or made longer.
    pub(crate) fn truncated(&self, length: usize) {
        self.changed(Change::Truncate(length));
    }

    fn changed(&self, change: Change) {
        self.disk.state().trace.push(Event::Changed(self.file, change));
    }
}

/// A disk that is watched until this is dropped.
pub(crate) struct Watched(pub(crate) Arc<Disk>);

impl Drop for Watched {
    fn drop(&mut self) {
        let mut disks = DISKS.write().unwrap_or_else(PoisonError::into_inner);
        disks.retain(|disk| !Arc::ptr_eq(disk, &self.0));
    }
}
