//! The chain of a tenant's history: each event's hash holds the one before it.
//!
//! Whoever changes, drops, adds or moves an event breaks it there. Whoever can write the
//! file can compute all of it anew: only a hash that was kept elsewhere (a head that was
//! printed, an export, a webhook) shows that. No chain passes for another tenant's, and a
//! hash tells nothing about other tenants.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::action::Revision;
use crate::digest::Digest;
use crate::id::{ActionId, TenantId};
use crate::identity::Channel;
use crate::port::actions::HistoryEvent;

/// What stands before the first event of a tenant.
pub fn genesis(tenant: &TenantId) -> Digest {
    Digest::of(format!("tether history 1\n{tenant}"))
}

/// One event, with everything that its hash covers.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// Whose history it is in.
    pub tenant: &'a TenantId,
    /// Where in it, from 1, without gaps.
    pub place: u64,
    /// What it happened to.
    pub action: ActionId,
    /// The action's revision from then on.
    pub revision: Revision,
    /// What happened.
    pub event: &'a HistoryEvent,
    /// Of what never changes of the action; the same in each of its events.
    pub proposal: Digest,
    /// Of how it stood from then on.
    pub state: Digest,
    /// Of the key that somebody confirmed with, of nothing where there was none. None for
    /// what is no confirmation, and for those of before this was kept.
    pub confirm_key: Option<Digest>,
}

impl Line<'_> {
    /// The hash of this event after the one that has the hash `previous`.
    pub fn hash(&self, previous: &Digest) -> Digest {
        let HistoryEvent { at, actor, from, to, attempt, detail } = self.event;
        let user = actor.as_ref().map_or("", |actor| actor.user.as_str());
        let channel = actor.as_ref().and_then(|actor| actor.channel).map_or("", Channel::as_str);
        let from = from.map_or("", |status| status.as_str());
        let Self { tenant, place, action, revision: Revision(revision), proposal, state, .. } = self;
        let (at, to, detail) = (at.as_millis(), to.as_str(), Digest::of(detail));
        let confirm_key = self.confirm_key.map(|key| format!("\n{key}")).unwrap_or_default();
        let mut line = String::with_capacity(512);
        // No name holds a line break, and free text is there as its digest: two events
        // never give one text.
        let written = write!(
            line,
            "{previous}\n{tenant}\n{place}\n{action}\n{revision}\n{at}\n{user}\n{channel}\n{from}\n{to}\n\
             {attempt}\n{detail}\n{proposal}\n{state}{confirm_key}"
        );
        debug_assert!(written.is_ok(), "a String takes everything");
        Digest::of(line)
    }
}

/// The end of a tenant's chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The tenant.
    pub tenant: TenantId,
    /// The place of its last event.
    pub place: u64,
    /// The hash of that.
    pub hash: Digest,
}

/// Where a chain is broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// Whose.
    pub tenant: TenantId,
    /// At which place.
    pub place: u64,
    /// The action whose event is there, where there is one.
    pub action: Option<ActionId>,
    /// What is wrong, for people.
    pub what: String,
}

/// Checks the chains of all tenants in one go: it keeps one head for each, and one more
/// for each that it was told of.
///
/// Events come as they were written; those of different tenants may be mixed.
#[derive(Debug, Default)]
pub struct Checker {
    heads: HashMap<TenantId, (u64, Digest)>,
    /// Heads of earlier, which must be passed.
    witnesses: HashMap<(TenantId, u64), Digest>,
}

impl Checker {
    /// A checker that also wants to pass by each of these heads, kept earlier.
    pub fn with_witnesses(witnesses: impl IntoIterator<Item = Head>) -> Self {
        let witnesses = witnesses.into_iter().map(|head| ((head.tenant, head.place), head.hash));
        Self { witnesses: witnesses.collect(), ..Self::default() }
    }

    /// Takes the next event, with the hash that it is stored with. After a break it goes
    /// on from what is stored, so that each one is told once.
    pub fn next(&mut self, line: &Line<'_>, hash: &Digest) -> Option<Broken> {
        let (before, previous) =
            self.heads.get(line.tenant).copied().unwrap_or_else(|| (0, genesis(line.tenant)));
        let what = if line.place <= before {
            Some(format!("it comes after place {before}"))
        } else if line.place > before + 1 {
            Some(match line.place - before - 1 {
                1 => format!("the event at place {} is missing", before + 1),
                _ => format!("the events at places {} to {} are missing", before + 1, line.place - 1),
            })
        } else if line.hash(&previous) != *hash {
            Some("the event, or the one before it, is another than was written".to_owned())
        } else {
            None
        };
        let key = (line.tenant.clone(), line.place);
        let what = match self.witnesses.remove(&key) {
            Some(kept) if kept != *hash => Some("its hash is another than was kept elsewhere".to_owned()),
            _ => what,
        };
        let (tenant, place) = key;
        self.heads.insert(tenant.clone(), (place, *hash));
        what.map(|what| Broken { tenant, place, action: Some(line.action), what })
    }

    /// Where each chain ends.
    pub fn heads(&self) -> Vec<Head> {
        let head = |(tenant, (place, hash)): (&TenantId, &(u64, Digest))| Head {
            tenant: tenant.clone(),
            place: *place,
            hash: *hash,
        };
        let mut heads: Vec<_> = self.heads.iter().map(head).collect();
        heads.sort_by(|a, b| a.tenant.cmp(&b.tenant));
        heads
    }

    /// All events were taken: whether the chains end where they should, which `stored`
    /// tells, and whether everything was passed that was kept elsewhere.
    pub fn end(self, stored: &[Head]) -> Vec<Broken> {
        let mut broken = Vec::new();
        let mut wrong = |tenant: &TenantId, place, what: String| {
            broken.push(Broken { tenant: tenant.clone(), place, action: None, what });
        };
        for Head { tenant, place, hash } in stored {
            match self.heads.get(tenant) {
                Some(end) if *end == (*place, *hash) => {}
                Some((end, _)) if end < place => {
                    wrong(tenant, *end, format!("the history ends at place {end}, and should at {place}"));
                }
                Some((end, _)) => {
                    wrong(tenant, *end, format!("the head that is kept, at place {place}, is another"));
                }
                None => wrong(tenant, 0, format!("the history is gone, and should end at place {place}")),
            }
        }
        for (tenant, (place, _)) in &self.heads {
            if !stored.iter().any(|head| head.tenant == *tenant) {
                wrong(tenant, *place, "no head is kept of this history".to_owned());
            }
        }
        for (tenant, place) in self.witnesses.keys() {
            wrong(tenant, *place, "the event that was kept elsewhere is not there".to_owned());
        }
        broken.sort_by(|a, b| (&a.tenant, a.place).cmp(&(&b.tenant, b.place)));
        broken
    }
}

#[cfg(test)]
mod tests;
