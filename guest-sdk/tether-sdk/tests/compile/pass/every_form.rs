//! Every form that an author may use, with all warnings denied.
#![deny(warnings)]

mod reads {
    use tether_sdk::prelude::*;

    #[derive(Deserialize, JsonSchema)]
    pub struct Nothing {}

    /// A doc comment is the description,
    /// however long.
    #[tool(read)]
    pub fn documented(_call: &Read, _args: Nothing) -> Result<Vec<String>, ToolError> {
        Ok(Vec::new())
    }

    #[tool(read, name = "idle.v-2", title = "Idle", description = "Does nothing",)]
    pub(crate) fn named(call: &tether_sdk::Read, _: Nothing) -> Result<(), DatabaseError> {
        call.query_one("main", "SELECT 1", params![])
    }
}

mod writes {
    use tether_sdk::prelude::*;

    use super::reads::Nothing;

    #[derive(Deserialize, JsonSchema)]
    #[serde(tag = "kind")]
    pub enum Choice {
        Amount { cents: i64 },
        Everything,
    }

    type Outcome = Result<i64, ToolError>;
    pub type OutcomeResult = Outcome;

    /// Chooses.
    #[tool(write, preview = previews::choose)]
    pub fn r#match(call: &Write, args: Choice) -> OutcomeResult {
        let seen = looks(call)?;
        call.step("main", "first", |tx| Ok(tx.execute("DELETE FROM seen", params![])?))?;
        call.once("main", move |_| match args {
            Choice::Amount { cents } => Ok(cents + seen),
            Choice::Everything => Err(refused("TOO_MUCH", "not everything")),
        })
    }

    /// Names of the author's own do not collide with those of the expansion.
    #[tool(write)]
    pub fn write(_call: &Write, _args: Nothing) -> Result<Definition, ToolError> {
        Ok(Definition {})
    }

    #[derive(Serialize, JsonSchema)]
    pub struct Definition {}

    fn looks(call: &Read) -> Result<i64, DatabaseError> {
        call.query_one("main", "SELECT count(*) FROM seen", params![])
    }

    mod previews {
        use tether_sdk::prelude::*;

        pub fn choose(call: &Read, _args: super::Choice) -> Result<Option<String>, ToolError> {
            Ok(Some(format!("Choose for {}", call.user())))
        }
    }
}

use reads::{documented, named};

tether_sdk::component! {
    tools: [documented, named, writes::r#match, writes::write],
    migrations: [tether_sdk::migration("main", "0001", "CREATE TABLE seen (id INTEGER)")],
}

fn main() {}
