//! The components of a host: those that are configured, and older versions of
//! them that undecided actions are bound to.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use tether_core::digest::Digest;
use tether_core::grant::BoundComponent;
use tether_core::id::{ComponentName, ToolName};
use tether_core::tool::Offer;

use super::Component;
use super::error::LoadProblem;

/// See the module.
#[derive(Default)]
pub(crate) struct Catalogue(RwLock<Components>);

#[derive(Default)]
struct Components {
    configured: BTreeMap<ComponentName, Arc<Component>>,
    tools: BTreeMap<ToolName, Arc<Offer>>,
    older: HashMap<(ComponentName, Digest), Arc<Component>>,
}

/// What the catalogue knows of a binding.
pub(crate) enum Found {
    /// It can be run.
    Here(Arc<Component>),
    /// Its component is configured with the same grants; these bytes of it are not
    /// in memory.
    Older,
    /// It is not to be run any more, for this reason.
    Outdated(String),
}

impl Catalogue {
    fn read(&self) -> RwLockReadGuard<'_, Components> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Components> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a configured component with all its tools, or nothing of it.
    pub(crate) fn add(&self, component: Arc<Component>) -> Result<(), LoadProblem> {
        let mut components = self.write();
        let name = &component.binding.component;
        if components.configured.contains_key(name) {
            return Err(LoadProblem::NameTaken);
        }
        for tool in component.tools.keys() {
            let mut others = components.configured.values();
            if let Some(owner) = others.find(|other| other.tools.contains_key(tool)) {
                let other = owner.binding.component.clone();
                return Err(LoadProblem::ToolTaken { tool: tool.clone(), other });
            }
        }
        let offers = component.tools.iter().map(|(tool, parts)| (tool.clone(), Arc::clone(&parts.offer)));
        components.tools.extend(offers);
        components.configured.insert(name.clone(), component);
        Ok(())
    }

    /// Every tool, by name.
    pub(crate) fn offers(&self) -> Vec<Arc<Offer>> {
        self.read().tools.values().cloned().collect()
    }

    /// The tool of this name.
    pub(crate) fn offer(&self, tool: &ToolName) -> Option<Arc<Offer>> {
        self.read().tools.get(tool).cloned()
    }

    /// What is to be run for `binding`.
    pub(crate) fn find(&self, binding: &BoundComponent) -> Found {
        let BoundComponent { component: name, digest, grants } = binding;
        let components = self.read();
        let Some(current) = components.configured.get(name) else {
            return Found::Outdated(format!("the component `{name}` is no longer configured"));
        };
        if current.binding.grants != *grants {
            return Found::Outdated(format!("what the component `{name}` may touch has changed since"));
        }
        if current.binding.digest == *digest {
            return Found::Here(Arc::clone(current));
        }
        match components.older.get(&(name.clone(), *digest)) {
            // Its grants were the same when it was put here, and are while the
            // process runs.
            Some(older) => Found::Here(Arc::clone(older)),
            None => Found::Older,
        }
    }

    /// Keeps an older version at hand.
    pub(crate) fn add_older(&self, component: Arc<Component>) {
        let BoundComponent { component: name, digest, .. } = &component.binding;
        let key = (name.clone(), *digest);
        self.write().older.insert(key, component);
    }

    /// Forgets older versions that are not `needed`; the digests that remain.
    pub(crate) fn retain(&self, needed: &[Digest]) -> HashSet<Digest> {
        let mut digests: HashSet<Digest> = needed.iter().copied().collect();
        let mut components = self.write();
        components.older.retain(|(_, digest), _| digests.contains(digest));
        digests.extend(components.configured.values().map(|component| component.binding.digest));
        digests
    }
}
