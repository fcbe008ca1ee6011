//! From tools to a component.

use crate::bindings::exports::tether::tool::handler::Guest;
use crate::bindings::tether::tool::types;
use crate::error::failed;
use crate::tool::{Definition, Invocation};

/// One step of a database's schema, made by [`migration`].
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    database: &'static str,
    id: &'static str,
    sql: &'static str,
}

/// One step of a database's schema, for [`component!`](crate::component!).
///
/// The host applies each once per database, in the listed order, in one
/// transaction each, before the first call that opens the database. It knows
/// them by `id` and content: one that was applied is never changed, a new one
/// is added after it.
pub const fn migration(database: &'static str, id: &'static str, sql: &'static str) -> Migration {
    Migration { database, id, sql }
}

/// Makes a component of tools. Once in a crate, which has the `cdylib` type.
///
/// ```
/// use tether_sdk::prelude::*;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Greeting {
///     /// Who is greeted.
///     name: String,
/// }
///
/// /// Says hello.
/// #[tool(read)]
/// fn greet(_call: &Read, greeting: Greeting) -> Result<String, ToolError> {
///     Ok(format!("Hello, {}!", greeting.name))
/// }
///
/// tether_sdk::component! {
///     tools: [greet],
///     migrations: [
///         migration("main", "0001-names", "CREATE TABLE names (name TEXT PRIMARY KEY)"),
///     ],
/// }
/// # fn main() {}
/// ```
///
/// Two tools of one name, or two migrations of one database and id, do not
/// compile.
#[macro_export]
macro_rules! component {
    (
        tools: [$($tool:path),* $(,)?]
        $(, migrations: [$($migration:expr),* $(,)?])? $(,)?
    ) => {
        const _: () = {
            struct Component;

            impl $crate::component::Catalogue for Component {
                const TOOLS: &'static [$crate::tool::Definition] =
                    &[$(<$tool as $crate::tool::Tool>::DEFINITION),*];
                const MIGRATIONS: &'static [$crate::Migration] = &[$($($migration),*)?];
            }

            const _: () = $crate::component::check::<Component>();

            // Elsewhere there is no host to export to, and linkers reject the names.
            #[cfg(target_arch = "wasm32")]
            $crate::bindings::export_handler!(Component with_types_in $crate::bindings);
        };
    };
}

/// What a component offers; implemented by [`component!`](crate::component!).
#[doc(hidden)]
pub trait Catalogue {
    const TOOLS: &'static [Definition];
    const MIGRATIONS: &'static [Migration];
}

/// Finds repetitions while the author's crate compiles, so that they are not
/// left for whoever loads the component.
#[doc(hidden)]
pub const fn check<C: Catalogue>() {
    let mut later = 0;
    while later < C::TOOLS.len() {
        let mut earlier = 0;
        while earlier < later {
            assert!(!same(C::TOOLS[earlier].name, C::TOOLS[later].name), "two tools have the same name");
            earlier += 1;
        }
        later += 1;
    }
    let mut later = 0;
    while later < C::MIGRATIONS.len() {
        let mut earlier = 0;
        while earlier < later {
            let (one, other) = (&C::MIGRATIONS[earlier], &C::MIGRATIONS[later]);
            assert!(
                !(same(one.database, other.database) && same(one.id, other.id)),
                "two migrations of one database have the same id"
            );
            earlier += 1;
        }
        later += 1;
    }
}

const fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    let mut position = 0;
    while position < one.len() {
        if one[position] != other[position] {
            return false;
        }
        position += 1;
    }
    true
}

impl<C: Catalogue> Guest for C {
    fn describe() -> types::Manifest {
        types::Manifest {
            tools: C::TOOLS.iter().map(Into::into).collect(),
            migrations: C::MIGRATIONS.iter().map(Into::into).collect(),
        }
    }

    fn preview(invocation: Invocation) -> Result<Option<String>, types::ToolError> {
        match find(C::TOOLS, &invocation)?.preview {
            Some(preview) => Ok(preview(invocation)?),
            None => Ok(None),
        }
    }

    fn invoke(invocation: Invocation) -> Result<String, types::ToolError> {
        let tool = find(C::TOOLS, &invocation)?;
        Ok((tool.invoke)(invocation)?)
    }
}

fn find<'a>(tools: &'a [Definition], invocation: &Invocation) -> Result<&'a Definition, types::ToolError> {
    let tool = tools.iter().find(|tool| tool.name == invocation.tool);
    tool.ok_or_else(|| failed("TOOL_NOT_FOUND", "this component has no such tool").into())
}

impl From<&Definition> for types::Tool {
    fn from(tool: &Definition) -> Self {
        Self {
            name: tool.name.to_owned(),
            title: tool.title.map(str::to_owned),
            description: tool.description.to_owned(),
            effect: tool.effect,
            input_schema: (tool.input_schema)(),
            output_schema: Some((tool.output_schema)()),
        }
    }
}

impl From<&Migration> for types::Migration {
    fn from(migration: &Migration) -> Self {
        Self {
            database: migration.database.to_owned(),
            id: migration.id.to_owned(),
            sql: migration.sql.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests;
