//! The columns of a binding, whichever kind of handler it is.

use tether_core::grant::{Binding, BoundComponent, BoundEndpoint};

use super::Columns;

/// The word for a component in the column `handler`.
const COMPONENT: &str = "component";

/// The word for an endpoint.
const ENDPOINT: &str = "endpoint";

/// What a binding leaves in its row.
pub(super) struct HandlerColumns {
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) digest: String,
    pub(super) grants: String,
}

impl From<&Binding> for HandlerColumns {
    fn from(binding: &Binding) -> Self {
        match binding {
            Binding::Component(BoundComponent { component, digest, grants }) => Self {
                kind: COMPONENT.to_owned(),
                name: component.to_string(),
                digest: digest.to_string(),
                grants: grants.to_string(),
            },
            Binding::Endpoint(BoundEndpoint { url, definition }) => Self {
                kind: ENDPOINT.to_owned(),
                name: url.clone(),
                digest: definition.to_string(),
                grants: String::new(),
            },
        }
    }
}

impl HandlerColumns {
    pub(super) fn read(columns: &mut Columns<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            kind: columns.next()?,
            name: columns.next()?,
            digest: columns.next()?,
            grants: columns.next()?,
        })
    }

    /// The binding that left these columns.
    pub(super) fn binding(self) -> anyhow::Result<Binding> {
        let Self { kind, name, digest, grants } = self;
        Ok(match kind.as_str() {
            COMPONENT => Binding::Component(BoundComponent {
                component: name.parse()?,
                digest: digest.parse()?,
                grants: grants.parse()?,
            }),
            ENDPOINT => Binding::Endpoint(BoundEndpoint { url: name, definition: digest.parse()? }),
            kind => anyhow::bail!("its handler is {kind:?}"),
        })
    }
}

/// A binding as its action's fingerprint covers it. No component's name has a blank,
/// and what may hold line breaks comes last: two bindings never give one text.
pub(super) fn text(binding: &Binding) -> String {
    match binding {
        Binding::Component(BoundComponent { component, digest, grants }) => {
            format!("{component}\n{digest}\n{grants}")
        }
        Binding::Endpoint(BoundEndpoint { url, definition }) => format!("endpoint {definition}\n{url}"),
    }
}
