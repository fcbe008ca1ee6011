//! A folder that is watched: everything that is done to it is written down in order,
//! together with what was asked and told meanwhile.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use super::facts::Fact;
use super::model::{Change, Event, FileId, Forgotten, Model, Node};

/// The disks of this process, by their roots.
static DISKS: RwLock<Vec<Arc<Disk>>> = RwLock::new(Vec::new());

/// The disk that holds `path`.
pub(crate) fn of(path: &Path) -> Option<Arc<Disk>> {
    let disks = DISKS.read().unwrap_or_else(PoisonError::into_inner);
    disks.iter().find(|disk| path.starts_with(&disk.root)).cloned()
}

/// How long a sync takes, so that others wait meanwhile, and share the next one.
pub(crate) const SHORT: Duration = Duration::from_millis(1);

/// The file or folder behind `descriptor` is being synced. Whether that goes well.
pub(crate) fn synced(descriptor: c_int) -> bool {
    let Ok(path) = fs::read_link(format!("/proc/self/fd/{descriptor}")) else { return true };
    of(&path).is_none_or(|disk| disk.synced(&path))
}

/// Bytes are about to be written at `at` to the file behind `descriptor`, and not by
/// SQLite.
pub(crate) fn writes(descriptor: c_int, at: usize, bytes: &[u8]) {
    let Ok(path) = fs::read_link(format!("/proc/self/fd/{descriptor}")) else { return };
    if let Some(disk) = of(&path) {
        let (path, mut state) = (disk.relative(&path), disk.state());
        if let Some(file) = state.file(&disk.root, &path) {
            state.change(Event::WrittenAgain(file, Change::Write { at, bytes: bytes.into() }));
        }
    }
}

/// Syncs that fail: of what is at this path, from which one on and how many, and what
/// is left for those who run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Failing {
    pub(crate) path: &'static str,
    pub(crate) after: usize,
    pub(crate) count: usize,
    pub(crate) forgotten: Forgotten,
}

/// See the module.
pub(crate) struct Disk {
    root: PathBuf,
    start: Model,
    sync: Duration,
    state: Mutex<State>,
}

struct State {
    names: BTreeMap<PathBuf, Node>,
    files: FileId,
    /// How often each was changed.
    changes: BTreeMap<FileId, usize>,
    failing: Vec<Failing>,
    trace: Vec<Event>,
}

impl Disk {
    /// Watches the folder `root`, in which `model` was written down as it is for those
    /// who run. A sync takes as long as `sync`.
    pub(crate) fn watch(root: &Path, model: &Model, sync: Duration) -> Watched {
        let names = model.names().map(|(path, node)| (path.clone(), node)).collect();
        let files = model.files.keys().next_back().map_or(0, |last| last + 1);
        let state = State {
            names,
            files,
            changes: model.files.iter().map(|(file, content)| (*file, content.changes())).collect(),
            failing: Vec::new(),
            trace: Vec::new(),
        };
        let root = fs::canonicalize(root).unwrap();
        let disk = Arc::new(Self { root, start: model.clone(), sync, state: Mutex::new(state) });
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

    /// Some syncs fail from now on.
    pub(crate) fn fail(&self, failing: Failing) {
        self.state().failing.push(failing);
    }

    /// What it holds now, and may hold without power.
    pub(crate) fn model(&self) -> Model {
        self.model_of(&self.state())
    }

    fn model_of(&self, state: &State) -> Model {
        let mut model = self.start.clone();
        state.trace.iter().for_each(|event| model.apply(event));
        model
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

    #[expect(clippy::disallowed_methods, reason = "whoever syncs is on a thread that may block")]
    fn synced(&self, path: &Path) -> bool {
        let relative = self.relative(path);
        // What is written while it syncs, it need not write.
        let changes = {
            let mut state = self.state();
            let file = if path.is_dir() { None } else { state.file(&self.root, &relative) };
            file.map(|file| (file, state.changes.get(&file).copied().unwrap_or(0)))
        };
        std::thread::sleep(self.sync);
        let mut state = self.state();
        let fails = state.fails(&relative);
        if let Some((file, changes)) = changes {
            let event = match fails {
                Some(forgotten) => Event::SyncFailed(file, changes, forgotten),
                None => Event::FileSynced(file, changes),
            };
            state.trace.push(event);
            if fails == Some(Forgotten::Before) {
                self.put_back(&state, file, path);
            }
        }
        if changes.is_some() || !path.is_dir() {
            return fails.is_none();
        }
        if fails.is_some() {
            state.trace.push(Event::FolderNotSynced);
            return false;
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
        true
    }

    /// Lets those who run see what the disk has of `file`.
    fn put_back(&self, state: &State, file: FileId, path: &Path) {
        let now = self.model_of(state).files[&file].now();
        let there = fs::File::options().write(true).open(path).unwrap();
        let zeros = vec![0; (there.metadata().unwrap().len() as usize).saturating_sub(now.len())];
        there.write_all_at(&[now, zeros].concat(), 0).unwrap();
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
            self.change(Event::Changed(file, Change::Write { at: 0, bytes: bytes.into() }));
        }
        Some(file)
    }

    fn change(&mut self, event: Event) {
        if let Event::Changed(file, _) | Event::WrittenAgain(file, _) = &event {
            *self.changes.entry(*file).or_default() += 1;
        }
        self.trace.push(event);
    }

    /// Whether a sync of `path` fails now, and how.
    fn fails(&mut self, path: &Path) -> Option<Forgotten> {
        let failing = self.failing.iter_mut().find(|failing| Path::new(failing.path) == path)?;
        if failing.after > 0 {
            failing.after -= 1;
            return None;
        }
        failing.count = failing.count.checked_sub(1)?;
        Some(failing.forgotten)
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
        self.disk.state().change(Event::Changed(self.file, change));
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
