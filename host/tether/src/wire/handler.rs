//! The handler behind a tool or an action.

use serde::Serialize;
use tether_core::digest::Digest;
use tether_core::grant::Binding;
use tether_core::id::ComponentName;
use utoipa::ToSchema;

/// A component that the host runs.
#[derive(Debug, Serialize, ToSchema)]
pub struct Component {
    /// Its name in the configuration.
    pub name: String,
    /// The digest of its bytes.
    #[schema(pattern = "^sha256:[0-9a-f]{64}$")]
    pub digest: String,
}

/// A remote system.
#[derive(Debug, Serialize, ToSchema)]
pub struct Endpoint {
    /// Where it is.
    pub url: String,
}

impl Component {
    pub(super) fn new(name: &ComponentName, digest: &Digest) -> Self {
        Self { name: name.to_string(), digest: digest.to_string() }
    }
}

/// What `binding` is bound to: exactly one of the two.
pub(super) fn handler(binding: &Binding) -> (Option<Component>, Option<Endpoint>) {
    match binding {
        Binding::Component(bound) => (Some(Component::new(&bound.component, &bound.digest)), None),
        Binding::Endpoint(bound) => (None, Some(Endpoint { url: bound.url.clone() })),
    }
}
