//! What the operator lets a component touch, and what an action is bound to.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use crate::destination::Destination;
use crate::digest::Digest;
use crate::id::{ComponentName, DatabaseName};

/// Where a granted database is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DatabaseGrant {
    /// The component's own, one SQLite file for each tenant, made when first
    /// used. Configured as `sqlite`.
    Own,
    /// An existing SQLite file; `{tenant}` in its path stands for the tenant.
    /// Configured as `sqlite:PATH`.
    Sqlite {
        /// The path, as configured.
        path: String,
        /// Whether several tenants may use this one file.
        shared: bool,
    },
}

impl fmt::Display for DatabaseGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own => f.write_str("sqlite"),
            Self::Sqlite { path, shared: false } => write!(f, "sqlite:{path}"),
            Self::Sqlite { path, shared: true } => write!(f, "shared sqlite:{path}"),
        }
    }
}

/// A text that is no grant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no database: write `sqlite` (one file per tenant) or `sqlite:PATH`")]
pub struct InvalidGrant(String);

impl FromStr for DatabaseGrant {
    type Err = InvalidGrant;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (shared, place) = match text.strip_prefix("shared ") {
            Some(place) => (true, place),
            None => (false, text),
        };
        match place.strip_prefix("sqlite") {
            Some("") if !shared => Ok(Self::Own),
            Some(rest) if rest.len() > 1 && rest.starts_with(':') && !rest.contains('\n') => {
                Ok(Self::Sqlite { path: rest[1..].to_owned(), shared })
            }
            _ => Err(InvalidGrant(text.to_owned())),
        }
    }
}

/// Everything that one component may touch. Its text form is one line a grant;
/// two grants are the same exactly if their texts are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Grants {
    /// Databases by the name that the component uses.
    pub databases: BTreeMap<DatabaseName, DatabaseGrant>,
    /// Where it may send requests to: the first that matches, and lets the method
    /// through, counts.
    pub destinations: Vec<Destination>,
}

impl fmt::Display for Grants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.databases.iter().try_for_each(|(name, grant)| writeln!(f, "database {name} {grant}"))?;
        self.destinations.iter().try_for_each(|destination| writeln!(f, "destination {destination}"))
    }
}

impl FromStr for Grants {
    type Err = InvalidGrant;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut grants = Self::default();
        for line in text.split_terminator('\n') {
            let invalid = || InvalidGrant(line.to_owned());
            if let Some(destination) = line.strip_prefix("destination ") {
                grants.destinations.push(destination.parse().map_err(|_| invalid())?);
                continue;
            }
            let database = line.strip_prefix("database ").and_then(|database| database.split_once(' '));
            let (name, grant) = database.ok_or_else(invalid)?;
            grants.databases.insert(name.parse().map_err(|_| invalid())?, grant.parse()?);
        }
        Ok(grants)
    }
}

/// The handler that an action is bound to: what was shown is what runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Binding {
    /// A component that the host runs.
    Component(BoundComponent),
    /// A remote system that speaks the tool endpoint's protocol.
    Endpoint(BoundEndpoint),
}

/// See [`Binding::Endpoint`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundEndpoint {
    /// Where it is: `http` or `https`, without user, query and fragment.
    pub url: String,
    /// The digest of the tool's definition, and of how the host calls it.
    pub definition: Digest,
}

/// See [`Binding::Component`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundComponent {
    /// The component, by its name in the configuration.
    pub component: ComponentName,
    /// The digest of its bytes.
    pub digest: Digest,
    /// What it may touch.
    pub grants: Grants,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grants_survive_their_text() {
        let text = "database crm shared sqlite:/srv/a b.db\ndatabase main sqlite\n\
                    destination https://a.test\tGET\t\t\t\tauthorization: Bearer ${T}\n";
        let grants: Grants = text.parse().unwrap();
        assert_eq!(grants.to_string(), text);
        assert!("database main postgres".parse::<Grants>().is_err());
        assert!("database main sqlite:".parse::<Grants>().is_err());
        assert!("destination a.test\tGET\t\t\t".parse::<Grants>().is_err());
    }
}
