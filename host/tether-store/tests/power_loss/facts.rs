//! What was asked for, what was told, and what must therefore be there.

use std::collections::BTreeMap;

use tether_core::action::{Output, State};
use tether_core::id::{ActionId, StepName};
use tether_core::ledger::Ledger;
use tether_core::port::actions::NewAction;

/// Something that was asked for, or told. What an action is told by is the number of
/// one of its versions, in the order of asking, 0 for the proposal.
#[derive(Debug, Clone)]
pub(crate) enum Fact {
    Proposing(Box<NewAction>),
    Moving(ActionId, Version),
    /// The version is durable.
    Moved(ActionId, usize),
    /// Somebody else was first: no such version.
    Refused(ActionId, usize),
    Committing(WriteId, Write),
    Committed(WriteId),
    /// It failed, and is undone: for good, unless it is asked for again.
    Undone(WriteId),
    /// Its outputs, the action's and the records', may be gone.
    Erasing(ActionId),
    /// The action's output is.
    Erased(ActionId),
    /// The outputs of its records are.
    Emptied(ActionId),
    /// A database was opened: it is known by its id, and has its tables.
    Opened(Database),
}

/// A tenant, and the name of one of its databases.
pub(crate) type Database = (&'static str, &'static str);

/// The key of a write is the id of its action.
pub(crate) type WriteId = (ActionId, Option<StepName>);

/// An action at some moment.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Version {
    pub(crate) revision: u64,
    pub(crate) state: State,
    pub(crate) ledger: Ledger,
}

/// A transaction: where, how many rows, and its record.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Write {
    pub(crate) database: Database,
    pub(crate) rows: i64,
    pub(crate) output: String,
}

/// What stores say.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The version of an action, and the actions that its proposal's key and its claim's
    /// key lead to.
    pub(crate) actions: BTreeMap<ActionId, (Version, Keys)>,
    /// By database and write: the record's output, `null` once it is emptied.
    pub(crate) records: BTreeMap<(Database, WriteId), String>,
    /// By database and write: how many rows.
    pub(crate) rows: BTreeMap<(Database, WriteId), i64>,
    /// Databases whose ids are remembered.
    pub(crate) known: Vec<Database>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Keys {
    pub(crate) proposed: Option<ActionId>,
    pub(crate) confirmed: Vec<ActionId>,
}

/// Everything that is known to have been asked and told so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts {
    pub(crate) actions: BTreeMap<ActionId, Asked>,
    pub(crate) writes: BTreeMap<WriteId, (Write, Told)>,
    opened: Vec<Database>,
}

/// What was told of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    Nothing,
    Committed,
    Undone,
}

/// An action that was proposed.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) new: NewAction,
    versions: Vec<(Version, bool)>,
    /// The latest version that was told.
    told: Option<usize>,
    erasing: bool,
    erased: bool,
    emptied: bool,
}

impl Facts {
    /// Adds what came next.
    pub(crate) fn add(&mut self, fact: &Fact) {
        match fact {
            Fact::Proposing(new) => {
                let state = State::Pending {
                    attempts_used: 0,
                    expires_at: new.expires_at,
                    last_failure: None,
                    approvals: Vec::new(),
                };
                let first = Version { revision: 1, state, ledger: Ledger::default() };
                let asked = Asked {
                    new: (**new).clone(),
                    versions: vec![(first, true)],
                    told: None,
                    erasing: false,
                    erased: false,
                    emptied: false,
                };
                self.actions.insert(new.id, asked);
            }
            Fact::Moving(id, version) => self.asked(id).versions.push((version.clone(), true)),
            Fact::Moved(id, version) => {
                let asked = self.asked(id);
                asked.told = asked.told.max(Some(*version));
            }
            Fact::Refused(id, version) => self.asked(id).versions[*version].1 = false,
            Fact::Committing(id, write) => {
                self.writes.insert(id.clone(), (write.clone(), Told::Nothing));
            }
            Fact::Committed(id) => self.tell(id, Told::Committed),
            Fact::Undone(id) => self.tell(id, Told::Undone),
            Fact::Erasing(id) => self.asked(id).erasing = true,
            Fact::Erased(id) => self.asked(id).erased = true,
            Fact::Emptied(id) => self.asked(id).emptied = true,
            Fact::Opened(database) => self.opened.push(*database),
        }
    }

    fn tell(&mut self, id: &WriteId, told: Told) {
        let before = &mut self.writes.get_mut(id).expect("it was asked for").1;
        // Nobody can take that back.
        if *before != Told::Committed {
            *before = told;
        }
    }

    fn asked(&mut self, id: &ActionId) -> &mut Asked {
        self.actions.get_mut(id).expect("it was proposed")
    }

    /// Whoever was shown what was `found` was told it.
    pub(crate) fn learn(&mut self, found: &Found) {
        for (id, (version, _)) in &found.actions {
            let asked = self.asked(id);
            let erased = matches!(version.state, State::Succeeded { output: Output::Erased, .. });
            asked.erased |= erased;
            let shown = asked.versions.iter().position(|(known, may)| *may && asked_for(known, version));
            asked.told = asked.told.max(shown);
        }
        for (_, id) in found.records.keys() {
            self.tell(id, Told::Committed);
        }
        self.opened.extend(&found.known);
    }

    /// Whether what was `found` is what must be there and nothing that must not; else,
    /// what is wrong with it.
    pub(crate) fn check(&self, found: &Found) -> Result<(), String> {
        for (id, asked) in &self.actions {
            asked.check(found.actions.get(id)).map_err(|wrong| format!("action {id}: {wrong}"))?;
        }
        for (id, (write, told)) in &self.writes {
            self.check_write(id, write, *told, found)
                .map_err(|wrong| format!("write {id:?} in {:?}: {wrong}", write.database))?;
        }
        let asked = |(database, id): &(Database, WriteId)| {
            self.writes.get(id).is_some_and(|(write, _)| write.database == *database)
        };
        if let Some(stray) = found.records.keys().chain(found.rows.keys()).find(|found| !asked(found)) {
            return Err(format!("{stray:?} was never committed"));
        }
        match self.opened.iter().find(|opened| !found.known.contains(opened)) {
            Some(forgotten) => Err(format!("the id of {forgotten:?} is forgotten")),
            None => Ok(()),
        }
    }

    fn check_write(&self, id: &WriteId, write: &Write, told: Told, found: &Found) -> Result<(), String> {
        let place = (write.database, id.clone());
        let rows = found.rows.get(&place).copied().unwrap_or(0);
        let Some(output) = found.records.get(&place) else {
            return match (told, rows) {
                (Told::Committed, _) => Err("it was told, and its record is lost".to_owned()),
                (_, 0) => Ok(()),
                (_, _) => Err(format!("it has {rows} rows and no record")),
            };
        };
        if told == Told::Undone {
            return Err("it was told as undone, and its record is there".to_owned());
        }
        if rows != write.rows {
            return Err(format!("it has a record and {rows} of {} rows", write.rows));
        }
        let (erasing, emptied) =
            self.actions.get(&id.0).map_or((false, false), |asked| (asked.erasing, asked.emptied));
        match output {
            output if *output == write.output && !emptied => Ok(()),
            output if output == "null" && erasing => Ok(()),
            output => Err(format!("its record says {output}, not {}", write.output)),
        }
    }
}

impl Asked {
    /// Whether it succeeded, and its output is kept.
    pub(crate) fn has_output(&self) -> bool {
        let last = self.versions.last().map(|(version, _)| &version.state);
        matches!(last, Some(State::Succeeded { .. })) && !self.erased
    }

    fn check(&self, found: Option<&(Version, Keys)>) -> Result<(), String> {
        let Some((version, keys)) = found else {
            return match self.told {
                Some(told) => Err(format!("version {told} was told, and nothing is there")),
                None => Ok(()),
            };
        };
        let is_erased = matches!(version.state, State::Succeeded { output: Output::Erased, .. });
        if is_erased && !self.erasing || self.erased && !is_erased {
            return Err("its output is erased or kept, and was told to be the other".to_owned());
        }
        let from = self.told.unwrap_or(0);
        let known = |(known, may): &(Version, bool)| *may && asked_for(known, version);
        if !self.versions[from..].iter().any(known) {
            return Err(format!("version {from} was told, and this is neither that nor later: {version:?}"));
        }
        // Each attempt was claimed with a key of its own, bound with the claim.
        let expected = Keys {
            proposed: self.new.key.as_ref().map(|_| self.new.id),
            confirmed: vec![self.new.id; version.state.attempts_used() as usize],
        };
        match *keys == expected {
            true => Ok(()),
            false => Err(format!("its keys lead to {keys:?}, not {expected:?}")),
        }
    }
}

/// Whether `found` is the version that was asked for, its output erased or not.
fn asked_for(asked: &Version, found: &Version) -> bool {
    let erased = match (&asked.state, &found.state) {
        (
            State::Succeeded { output: Output::Kept(_), attempts_used, claim, at, approvals },
            State::Succeeded { output: Output::Erased, .. },
        ) => Some(Version {
            revision: asked.revision + 1,
            state: State::Succeeded {
                output: Output::Erased,
                attempts_used: *attempts_used,
                claim: claim.clone(),
                at: *at,
                approvals: approvals.clone(),
            },
            ledger: asked.ledger.clone(),
        }),
        _ => None,
    };
    found == erased.as_ref().unwrap_or(asked)
}
