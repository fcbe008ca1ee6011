//! What a disk holds for sure, what it was told since, and what it may hold once the
//! power is gone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::facts::Fact;
use super::random::Random;

/// What the system writes at once.
const PAGE: usize = 4096;

/// A file, whatever its name is by now.
pub(crate) type FileId = usize;

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Node {
    Folder,
    File(FileId),
}

/// One change of a file.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    Write { at: usize, bytes: Arc<[u8]> },
    Truncate(usize),
}

/// What those who run see of changes that the system did not write and forgot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Forgotten {
    /// The changes, as long as the system runs.
    Changes,
    /// What was there before.
    Before,
}

/// What happens to a disk, in order. Paths are relative to its root.
#[derive(Debug, Clone)]
pub(crate) enum Event {
    Changed(FileId, Change),
    /// The same bytes were written again, without SQLite.
    WrittenAgain(FileId, Change),
    /// So many of the file's first changes are durable.
    FileSynced(FileId, usize),
    /// So many should have become durable and did not, and the system takes them for
    /// written: it does not write them again.
    SyncFailed(FileId, usize, Forgotten),
    /// A name has another meaning, or none any more.
    Named(PathBuf, Option<Node>),
    /// A folder is durable, with these names in it.
    FolderSynced(PathBuf, BTreeMap<PathBuf, Node>),
    /// A folder is not.
    FolderNotSynced,
    /// Somebody asked for something, or was told something.
    Told(Fact),
}

impl Event {
    /// Whether the disk is another one afterwards, or more must be on it.
    pub(crate) fn is_place(&self) -> bool {
        self.told().is_none() || self.is_answer()
    }

    /// Whether somebody was told that something is durable.
    pub(crate) fn is_answer(&self) -> bool {
        matches!(self.told(), Some(Fact::Moved(..) | Fact::Committed(_)))
    }

    /// What was asked for or told.
    pub(crate) fn told(&self) -> Option<&Fact> {
        match self {
            Self::Told(fact) => Some(fact),
            _ => None,
        }
    }
}

/// A disk at one moment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Model {
    pub(crate) files: BTreeMap<FileId, File>,
    names: BTreeMap<PathBuf, Name>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct File {
    durable: Vec<u8>,
    /// What the system forgot, and shows to those who run, before anything below.
    forgotten: Vec<Change>,
    since: Vec<Change>,
    /// How many changes there were before these.
    before: usize,
}

#[derive(Debug, Clone, Default)]
struct Name {
    durable: Option<Node>,
    since: Vec<Option<Node>>,
}

impl Model {
    /// The folder `root` as it is, all of it synced.
    pub(crate) fn durable(root: &Path) -> Self {
        let mut model = Self::default();
        let mut folders = vec![PathBuf::new()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(root.join(&folder)).unwrap() {
                let path = folder.join(entry.unwrap().file_name());
                let node = match fs::read(root.join(&path)) {
                    Ok(durable) => {
                        let id = model.files.len();
                        model.files.insert(id, File { durable, ..File::default() });
                        Node::File(id)
                    }
                    Err(_) => {
                        folders.push(path.clone());
                        Node::Folder
                    }
                };
                model.names.insert(path, Name { durable: Some(node), since: Vec::new() });
            }
        }
        model
    }

    /// The disk after `event`.
    pub(crate) fn apply(&mut self, event: &Event) {
        match event {
            Event::Changed(id, change) | Event::WrittenAgain(id, change) => {
                self.files.entry(*id).or_default().since.push(change.clone());
            }
            Event::FileSynced(id, changes) => self.files.entry(*id).or_default().synced(*changes),
            Event::SyncFailed(id, changes, forgotten) => {
                let file = self.files.entry(*id).or_default();
                let lost = file.take(*changes);
                if *forgotten == Forgotten::Changes {
                    file.forgotten.extend(lost);
                }
            }
            Event::Named(path, node) => {
                if let Some(Node::File(id)) = node {
                    self.files.entry(*id).or_default();
                }
                self.names.entry(path.clone()).or_default().since.push(*node);
            }
            Event::FolderSynced(folder, entries) => {
                for (path, name) in &mut self.names {
                    if path.parent() == Some(folder) {
                        *name = Name { durable: entries.get(path).copied(), since: Vec::new() };
                    }
                }
                for (path, node) in entries {
                    self.names.insert(path.clone(), Name { durable: Some(*node), since: Vec::new() });
                }
            }
            Event::FolderNotSynced | Event::Told(_) => {}
        }
    }

    /// What every name stands for, for those who run.
    pub(crate) fn names(&self) -> impl Iterator<Item = (&PathBuf, Node)> {
        self.names.iter().filter_map(|(path, name)| Some((path, name.now()?)))
    }

    /// Writes down, in the empty folder `to`, what is there when a process was killed:
    /// the system keeps what it was told.
    pub(crate) fn killed(&self, to: &Path) {
        self.write_down(to, Name::now, File::now);
    }

    /// Writes down what may be there once the power is gone.
    pub(crate) fn powerless(&self, to: &Path, random: &mut Random) {
        let mut names = Random::new(random.next(), 1);
        self.write_down(to, |name| name.after_loss(&mut names), |file| file.after_loss(random));
    }

    fn write_down(
        &self,
        to: &Path,
        mut meaning: impl FnMut(&Name) -> Option<Node>,
        mut content: impl FnMut(&File) -> Vec<u8>,
    ) {
        // A folder comes before what is in it.
        for (path, name) in &self.names {
            let (node, path) = (meaning(name), to.join(path));
            match node {
                _ if !path.parent().is_some_and(Path::is_dir) => {}
                None => {}
                Some(Node::Folder) => fs::create_dir(path).unwrap(),
                Some(Node::File(id)) => {
                    fs::write(path, self.files.get(&id).map(&mut content).unwrap_or_default()).unwrap();
                }
            }
        }
    }
}

impl Name {
    fn now(&self) -> Option<Node> {
        self.since.last().copied().unwrap_or(self.durable)
    }

    /// Any meaning that it had since its folder was synced.
    fn after_loss(&self, random: &mut Random) -> Option<Node> {
        match random.below(self.since.len() + 1) {
            0 => self.durable,
            nth => self.since[nth - 1],
        }
    }
}

impl File {
    pub(crate) fn now(&self) -> Vec<u8> {
        let mut bytes = self.durable.clone();
        self.forgotten.iter().chain(&self.since).for_each(|change| change.apply(&mut bytes));
        bytes
    }

    /// How often it was changed.
    pub(crate) fn changes(&self) -> usize {
        self.before + self.since.len()
    }

    /// Takes out those changes that are among the first `changes` of all.
    fn take(&mut self, changes: usize) -> Vec<Change> {
        let count = changes.saturating_sub(self.before).min(self.since.len());
        self.before += count;
        self.since.drain(..count).collect()
    }

    /// The system writes whole pages: what it forgot of a page is written with what was
    /// changed on it since.
    fn synced(&mut self, changes: usize) {
        let synced = self.take(changes);
        let pages = |change: &Change| change.pieces(PAGE).map(|piece| piece.page()).collect::<Vec<_>>();
        let written: BTreeSet<_> = synced.iter().flat_map(pages).collect();
        let forgotten = std::mem::take(&mut self.forgotten);
        for piece in forgotten.iter().flat_map(|change| change.pieces(PAGE)) {
            match written.contains(&piece.page()) {
                true => piece.apply(&mut self.durable),
                false => self.forgotten.push(piece),
            }
        }
        synced.iter().for_each(|change| change.apply(&mut self.durable));
    }

    /// What was durable, and of every change since, sector by sector: it arrived, or it
    /// did not. Or else the changes arrived in order, up to one that is torn.
    fn after_loss(&self, random: &mut Random) -> Vec<u8> {
        let mut bytes = self.durable.clone();
        if random.percent(30) {
            let arrived = random.below(self.since.len() + 1);
            self.since[..arrived].iter().for_each(|change| change.apply(&mut bytes));
            if let Some(torn) = self.since.get(arrived) {
                torn.apply_torn(&mut bytes, random);
            }
        } else {
            let (sector, odds) = (random.of(&[512, 4096]), random.of(&[0, 10, 50, 90, 100]));
            for change in &self.since {
                for piece in change.pieces(sector).filter(|_| random.percent(odds)) {
                    piece.apply(&mut bytes);
                }
            }
            if let Some(last) = self.since.last().filter(|_| random.percent(50)) {
                last.apply_torn(&mut bytes, random);
            }
        }
        // The length may be written down before what it is made of.
        let length = self.now().len();
        if length > bytes.len() && random.percent(30) {
            bytes.resize(length, random.of(&[0, 0xA5]));
        }
        bytes
    }
}

impl Change {
    fn apply(&self, to: &mut Vec<u8>) {
        match self {
            Self::Write { at, bytes } => put(to, *at, bytes),
            Self::Truncate(length) => to.resize(*length, 0),
        }
    }

    /// Any number of its first bytes arrive.
    fn apply_torn(&self, to: &mut Vec<u8>, random: &mut Random) {
        if let Self::Write { at, bytes } = self {
            put(to, *at, &bytes[..random.below(bytes.len() + 1)]);
        }
    }

    /// The page that a piece is on.
    fn page(&self) -> usize {
        match self {
            Self::Write { at, .. } => at / PAGE,
            Self::Truncate(length) => length / PAGE,
        }
    }

    /// The parts of a write that lie in one sector each.
    fn pieces(&self, sector: usize) -> impl Iterator<Item = Change> {
        let (start, length) = match self {
            Self::Write { at, bytes } => (*at, bytes.len()),
            Self::Truncate(_) => (0, 1),
        };
        (start / sector..(start + length).div_ceil(sector)).map(move |number| match self {
            Self::Truncate(length) => Self::Truncate(*length),
            Self::Write { at, bytes } => {
                let from = (number * sector).max(*at);
                let to = ((number + 1) * sector).min(at + bytes.len());
                Self::Write { at: from, bytes: bytes[from - at..to - at].into() }
            }
        })
    }
}

fn put(to: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    if to.len() < at + bytes.len() {
        to.resize(at + bytes.len(), 0);
    }
    to[at..at + bytes.len()].copy_from_slice(bytes);
}
