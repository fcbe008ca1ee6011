//! A component that can be run: compiled, linked, described.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use tether_core::digest::Digest;
use tether_core::grant::{BoundComponent, Grants};
use tether_core::id::{ComponentName, TenantId, ToolName};
use tether_core::port::databases::Scope;
use tether_core::tool::{Manifest, Migration, Offer};

use crate::bindings::ToolPre;
use crate::guest::Guest;
use crate::guest::call::OutputRule;

pub(crate) mod catalogue;
pub(crate) mod error;
pub(crate) mod kept;
pub(crate) mod load;
mod manifest;

/// Where a component's bytes come from.
#[derive(Debug, Clone)]
pub enum Source {
    /// A file.
    Path(PathBuf),
    /// Memory.
    Bytes(Vec<u8>),
}

/// A component to load.
#[derive(Debug, Clone)]
pub struct LoadRequest {
    /// Its name in the configuration.
    pub name: ComponentName,
    /// Its bytes.
    pub source: Source,
    /// What it may touch.
    pub grants: Grants,
}

/// A component that was loaded.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// Its name in the configuration.
    pub name: ComponentName,
    /// The digest of its bytes.
    pub digest: Digest,
    /// What it says of itself, checked.
    pub manifest: Manifest,
    /// The interfaces that it asks of the host, such as `tether:tool/database@0.1.0`.
    pub imports: Arc<[String]>,
}

/// A component with certain bytes and certain grants.
pub(crate) struct Component {
    pub(crate) binding: BoundComponent,
    pub(crate) code: ToolPre<Guest>,
    pub(crate) migrations: Arc<[Migration]>,
    pub(crate) tools: BTreeMap<ToolName, ToolParts>,
    pub(crate) imports: Arc<[String]>,
}

/// One tool of a component.
pub(crate) struct ToolParts {
    pub(crate) offer: Arc<Offer>,
    pub(crate) output: Arc<OutputRule>,
}

impl Component {
    pub(crate) fn loaded(&self) -> Loaded {
        let BoundComponent { component, digest, .. } = &self.binding;
        let tools = self.tools.values().map(|parts| parts.offer.tool.clone()).collect();
        let manifest = Manifest { tools, migrations: self.migrations.to_vec() };
        Loaded { name: component.clone(), digest: *digest, manifest, imports: Arc::clone(&self.imports) }
    }
}

/// The databases of a binding, for one tenant.
pub(crate) fn scope(tenant: &TenantId, binding: &BoundComponent, migrations: Arc<[Migration]>) -> Scope {
    let BoundComponent { component, grants, .. } = binding;
    Scope { tenant: tenant.clone(), component: component.clone(), grants: grants.clone(), migrations }
}
