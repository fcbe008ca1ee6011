//! Writes that misbehave, before or after their commit.

use tether_sdk::bindings::tether::tool::database::Connection;
use tether_sdk::prelude::*;

use crate::end::end;
use crate::reads::{Big, Lie, Nothing};

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Done {
    /// The row in `effects`.
    id: i64,
    /// The attempt that did it.
    attempt: u32,
}

/// Leaves a row in `effects`.
pub fn effect(call: &Write, tx: &Transaction, note: &str) -> Result<Done, ToolError> {
    let id = tx.query_one(
        "INSERT INTO effects (key, attempt, note) VALUES ($1, $2, $3) RETURNING id",
        params![call.request_id(), call.attempt(), note],
    )?;
    Ok(Done { id, attempt: call.attempt() })
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum When {
    Before,
    After,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Misbehave {
    /// What the row says.
    note: String,
    /// How the call ends: `ok`, `trap`, `spin`, `sleep:MS`, `transient`, `refuse`, `fail`.
    #[serde(default = "ok")]
    then: String,
    /// Whether before or after the commit.
    #[serde(default = "after")]
    when: When,
}

fn ok() -> String {
    "ok".into()
}

fn after() -> When {
    When::After
}

/// Leaves a row, and then ends as it is told.
#[tool(write, preview = preview_write)]
pub fn probe_write(call: &Write, args: Misbehave) -> Result<Done, ToolError> {
    let done = call.once("main", |tx| {
        let done = effect(call, tx, &args.note)?;
        if let When::Before = args.when {
            end(&args.then)?;
        }
        Ok(done)
    })?;
    if let When::After = args.when {
        end(&args.then)?;
    }
    Ok(done)
}

fn preview_write(_call: &Read, args: Misbehave) -> Result<Option<String>, ToolError> {
    Ok(Some(format!("Leave the note “{}”", args.note)))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Until {
    /// The first attempt that goes well.
    succeed_on: u32,
}

/// Is transient before attempt `succeed_on`; then leaves a row.
#[tool(write)]
pub fn probe_write_until(call: &Write, args: Until) -> Result<Done, ToolError> {
    call.once("main", |tx| {
        let done = effect(call, tx, "until")?;
        if call.attempt() < args.succeed_on {
            end("transient")?;
        }
        Ok(done)
    })
}

/// Breaks a rule of the database, catches that, and goes on.
#[tool(write)]
pub fn probe_constraint(call: &Write, _args: Nothing) -> Result<Done, ToolError> {
    call.once("main", |tx| {
        let taken = tx.execute("INSERT INTO counters (name, value) VALUES ('one', 1)", params![]);
        if !matches!(taken, Err(DatabaseError::Constraint(_))) {
            return Err(failed("PROBE_CONSTRAINT", "no rule said no"));
        }
        effect(call, tx, "after a constraint")
    })
}

/// Reads a counter, and writes it one higher.
#[tool(write)]
pub fn probe_read_then_write(call: &Write, _args: Nothing) -> Result<i64, ToolError> {
    call.once("main", |tx| {
        let value: i64 = tx.query_one("SELECT value FROM counters WHERE name = 'one'", params![])?;
        tx.execute("UPDATE counters SET value = $1 WHERE name = 'one'", params![value + 1])?;
        Ok(value + 1)
    })
}

/// Begins its main transaction, undoes it, and claims that all is well.
#[tool(write)]
pub fn probe_no_record(call: &Write, _args: Nothing) -> Result<String, ToolError> {
    let undone: Result<Done, ToolError> = call.once("main", |tx| {
        effect(call, tx, "to be undone")?;
        Err(refused("PROBE_UNDONE", "told to undo it"))
    });
    match undone {
        Err(ToolError::Refused(fault)) if fault.code == "PROBE_UNDONE" => Ok("done, or so it says".into()),
        Err(error) => Err(error),
        Ok(_) => Err(failed("PROBE_NO_RECORD", "it was done before")),
    }
}

/// Does nothing, and says so.
#[tool(write)]
pub fn probe_nothing(_call: &Write, _args: Nothing) -> Result<String, ToolError> {
    Ok("nothing".into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Steps {
    /// Steps, each with a row, before the main transaction.
    steps: u32,
    /// In the first attempt, the step after whose commit the call ends badly.
    #[serde(default)]
    stop_after: Option<u32>,
    /// How it ends then.
    #[serde(default = "transiently")]
    by: String,
}

fn transiently() -> String {
    "transient".into()
}

/// Leaves a row for each step, and one for the whole.
#[tool(write)]
pub fn probe_steps(call: &Write, args: Steps) -> Result<Vec<Done>, ToolError> {
    let mut done = Vec::new();
    for step in 1..=args.steps {
        let name = format!("step-{step}");
        done.push(call.step("main", &name, |tx| effect(call, tx, &name))?);
        if call.attempt() == 1 && args.stop_after == Some(step) {
            end(&args.by)?;
        }
    }
    call.once("main", |tx| {
        done.push(effect(call, tx, "main")?);
        Ok(done)
    })
}

/// Looks for its step's record, and at its rows, before it leaves a row for the step
/// and one for the whole.
#[tool(write)]
pub fn probe_look_first(call: &Write, _args: Nothing) -> Result<Vec<Done>, ToolError> {
    let before: Option<Done> = call.recorded("main", "step")?;
    let sql = "SELECT count(*) FROM effects WHERE key = $1";
    let rows: i64 = call.query_one("main", sql, params![call.request_id()])?;
    if rows != i64::from(before.is_some()) {
        return Err(failed("PROBE_LOOK_FIRST", "the record and the row are not both there, or both missing"));
    }
    let step = before.map_or_else(|| call.step("main", "step", |tx| effect(call, tx, "step")), Ok)?;
    call.once("main", |tx| Ok(vec![step, effect(call, tx, "main")?]))
}

/// Records an output of so many bytes.
#[tool(write)]
pub fn probe_big_write(call: &Write, args: Big) -> Result<String, ToolError> {
    call.once("main", |tx| {
        effect(call, tx, "big")?;
        Ok(args.text())
    })
}

/// Records something else than it promises.
#[tool(write)]
pub fn probe_lie_write(call: &Write, _args: Nothing) -> Result<Lie, ToolError> {
    call.once("main", |tx| {
        effect(call, tx, "lie")?;
        Ok(Lie::new())
    })
}

/// Begins a second transaction in the first, and records what the host said.
#[tool(write)]
pub fn probe_two_at_once(call: &Write, _args: Nothing) -> Result<String, ToolError> {
    call.once("main", |_| Ok(said(begin(Some("second")))))
}

/// Begins a step after its main record, and answers with what the host said.
#[tool(write)]
pub fn probe_after_main(call: &Write, _args: Nothing) -> Result<String, ToolError> {
    call.once("main", |tx| {
        effect(call, tx, "main")?;
        Ok("main".to_owned())
    })?;
    Ok(said(begin(Some("after"))))
}

fn begin(step: Option<&str>) -> Result<(), DatabaseError> {
    Connection::open("main")?.begin(step)?;
    Ok(())
}

fn said(result: Result<(), DatabaseError>) -> String {
    result.map_or_else(|error| error.to_string(), |()| "it began".into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hold {
    /// Milliseconds.
    ms: u64,
}

/// Leaves a row, and holds its transaction open before it commits.
#[tool(write)]
pub fn probe_hold(call: &Write, args: Hold) -> Result<Done, ToolError> {
    call.once("main", |tx| {
        let done = effect(call, tx, "held")?;
        end(&format!("sleep:{}", args.ms))?;
        Ok(done)
    })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shown {
    /// What the preview says.
    text: String,
    /// How the preview ends, where it does not say it.
    #[serde(default = "ok")]
    then: String,
}

/// Does nothing; its preview says what it is told to say, or ends as it is told.
#[tool(write, preview = preview_preview)]
pub fn probe_preview(_call: &Write, _args: Shown) -> Result<(), ToolError> {
    Ok(())
}

fn preview_preview(_call: &Read, args: Shown) -> Result<Option<String>, ToolError> {
    if args.then == "sneak" {
        begin(None)?;
    } else {
        end(&args.then)?;
    }
    Ok(Some(args.text))
}
