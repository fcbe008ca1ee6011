//! Tools that fail on purpose, to see what the host makes of it: `tether demo`
//! serves this component beside `tickets`.

use std::thread::sleep;
use std::time::Duration;

use tether_sdk::prelude::*;

tether_sdk::component! {
    tools: [unsteady_read, list_notes, write_note],
    migrations: [
        migration("main", "0001-notes", include_str!("../migrations/0001-notes.sql")),
    ],
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct UnsteadyRead {
    /// How many attempts fail before one succeeds.
    fails: u32,
}

#[derive(Serialize, JsonSchema)]
struct Steadied {
    /// The attempt that succeeded, counted from 1.
    attempt: u32,
}

/// A read whose first attempts fail in passing.
#[tool(read, title = "Unsteady read")]
fn unsteady_read(call: &Read, args: UnsteadyRead) -> Result<Steadied, ToolError> {
    if call.attempt() <= args.fails {
        return Err(transient("NOT_YET", "this attempt fails on purpose"));
    }
    Ok(Steadied { attempt: call.attempt() })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListNotes {
    /// Only notes with this text.
    text: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Note {
    id: i64,
    text: String,
    /// The attempt that wrote it.
    attempt: u32,
}

#[derive(Serialize, JsonSchema)]
struct Notes {
    notes: Vec<Note>,
}

/// List the notes with a given text, the oldest first.
#[tool(read, title = "List notes")]
fn list_notes(call: &Read, args: ListNotes) -> Result<Notes, ToolError> {
    let sql = "SELECT id, text, attempt FROM notes WHERE text = $1 ORDER BY id";
    Ok(Notes { notes: call.query("main", sql, params![args.text])? })
}

/// When a write's first attempt stops for a while.
#[derive(Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Stall {
    /// Before it writes anything.
    BeforeCommit,
    /// With everything written, and nobody told.
    AfterCommit,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WriteNote {
    text: String,
    /// When the first attempt stops for `seconds`; later attempts never do.
    stall: Option<Stall>,
    #[serde(default)]
    #[schemars(range(max = 3600))]
    seconds: u32,
}

/// Write a note; the first attempt may stall on the way.
#[tool(write, title = "Write note")]
fn write_note(call: &Write, args: WriteNote) -> Result<Note, ToolError> {
    let stall = |at| {
        if args.stall == Some(at) && call.attempt() == 1 {
            sleep(Duration::from_secs(args.seconds.into()));
        }
    };
    stall(Stall::BeforeCommit);
    let note = call.once("main", |tx| {
        let sql = "INSERT INTO notes (text, attempt) VALUES ($1, $2) RETURNING id, text, attempt";
        Ok(tx.query_one(sql, params![args.text, call.attempt()])?)
    })?;
    stall(Stall::AfterCommit);
    Ok(note)
}
