//! Reads that misbehave.

use std::borrow::Cow;
use std::hint::black_box;
use std::mem::forget;
use std::sync::atomic::{AtomicU32, Ordering};

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::value::RawValue;
use tether_sdk::bindings::tether::tool::database::Connection;
use tether_sdk::prelude::*;
use wasip2::clocks::monotonic_clock::subscribe_duration;
use wasip2::http::types::Fields;

use crate::end::{end, spin};

/// No arguments.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// Any object, kept as the text that came.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub struct Verbatim(Box<RawValue>);

impl Verbatim {
    /// The text.
    pub fn text(&self) -> &str {
        self.0.get()
    }
}

impl JsonSchema for Verbatim {
    fn schema_name() -> Cow<'static, str> {
        "Verbatim".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object" })
    }
}

/// Gives its arguments back to the letter.
#[tool(read)]
pub fn probe_echo(_call: &Read, args: Verbatim) -> Result<Verbatim, ToolError> {
    Ok(args)
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flaky {
    /// The first attempt that goes well.
    until: u32,
    /// How the earlier ones end.
    by: String,
}

/// Ends badly before attempt `until`, then answers with the number of the attempt.
#[tool(read)]
pub fn probe_flaky(call: &Read, args: Flaky) -> Result<u32, ToolError> {
    if call.attempt() < args.until {
        end(&args.by)?;
    }
    Ok(call.attempt())
}

/// Traps.
#[tool(read)]
pub fn probe_trap(_call: &Read, _args: Nothing) -> Result<(), ToolError> {
    end("trap")
}

#[derive(Debug, Deserialize, JsonSchema)]
pub struct Quoted {
    /// What the panic quotes.
    words: Vec<String>,
}

/// Traps with words that quote the arguments, as those of `unwrap` do.
#[tool(read)]
pub fn probe_panic(_call: &Read, args: Quoted) -> Result<(), ToolError> {
    panic!("told to quote {} and {args:?}", args.words.join(", "))
}

/// Computes without end.
#[tool(read)]
pub fn probe_spin(_call: &Read, _args: Nothing) -> Result<(), ToolError> {
    spin()
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sleep {
    /// Milliseconds.
    ms: u64,
}

/// Waits in the host.
#[tool(read)]
pub fn probe_sleep(_call: &Read, args: Sleep) -> Result<u64, ToolError> {
    end(&format!("sleep:{}", args.ms))?;
    Ok(args.ms)
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hoard {
    /// MiB to take; without end, where it is absent.
    mib: Option<usize>,
}

/// Takes memory, one MiB at a time.
#[tool(read)]
pub fn probe_hoard(_call: &Read, args: Hoard) -> Result<usize, ToolError> {
    let mut hoard = Vec::new();
    while args.mib.is_none_or(|mib| hoard.len() < mib) {
        hoard.push(black_box(vec![1_u8; 1 << 20]));
    }
    Ok(hoard.len())
}

/// Calls itself without end.
#[tool(read)]
pub fn probe_recurse(_call: &Read, _args: Nothing) -> Result<u64, ToolError> {
    // Small frames: the machine's stack ends before the one in linear memory,
    // whose end would be told as an access out of bounds.
    fn deeper(depth: u64) -> u64 {
        if depth == u64::MAX { 0 } else { deeper(black_box(depth) + 1) ^ depth }
    }
    Ok(deeper(0))
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    #[default]
    Connections,
    Clocks,
    Headers,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Handles {
    #[serde(default)]
    of: Kind,
}

/// Asks for a million handles, and gives none back.
#[tool(read)]
pub fn probe_handles(_call: &Read, args: Handles) -> Result<(), ToolError> {
    for _ in 0..1_000_000 {
        match args.of {
            Kind::Connections => {
                let connection = Connection::open("main");
                forget(connection.map_err(|error| failed("PROBE_HANDLES", error.to_string()))?);
            }
            Kind::Clocks => forget(subscribe_duration(1)),
            Kind::Headers => forget(Fields::new()),
        }
    }
    Ok(())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Big {
    /// Bytes of the output, its two quotation marks included.
    pub bytes: usize,
    /// Whether its last character has four bytes.
    #[serde(default)]
    pub emoji: bool,
}

impl Big {
    /// A string whose JSON has so many bytes.
    pub fn text(&self) -> String {
        let end = if self.emoji { "😀" } else { "" };
        let mut text = "x".repeat(self.bytes.saturating_sub(2 + end.len()));
        text.push_str(end);
        text
    }
}

/// Answers with so many bytes.
#[tool(read)]
pub fn probe_big(_call: &Read, args: Big) -> Result<String, ToolError> {
    Ok(args.text())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Log {
    /// What is written, followed by the end of a line.
    line: String,
    /// How often.
    #[serde(default = "once")]
    times: u32,
    /// Whether to standard error.
    #[serde(default)]
    error: bool,
}

fn once() -> u32 {
    1
}

/// Writes to standard output or standard error.
#[tool(read)]
pub fn probe_log(_call: &Read, args: Log) -> Result<(), ToolError> {
    for _ in 0..args.times {
        if args.error {
            eprintln!("{}", args.line);
        } else {
            println!("{}", args.line);
        }
    }
    Ok(())
}

/// Promises an integer, and is a string.
#[derive(Serialize, Deserialize)]
pub struct Lie(String);

impl Lie {
    pub fn new() -> Self {
        Self("no integer".into())
    }
}

impl JsonSchema for Lie {
    fn schema_name() -> Cow<'static, str> {
        "Lie".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer" })
    }
}

/// Answers with something else than it promises.
#[tool(read)]
pub fn probe_lie(_call: &Read, _args: Nothing) -> Result<Lie, ToolError> {
    Ok(Lie::new())
}

/// Counts its calls in memory: 1, where each call has a fresh instance.
#[tool(read)]
pub fn probe_count(_call: &Read, _args: Nothing) -> Result<u32, ToolError> {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    Ok(CALLS.fetch_add(1, Ordering::Relaxed) + 1)
}

/// Tries to change the database, though it is a read.
#[tool(read)]
pub fn probe_sneak(_call: &Read, _args: Nothing) -> Result<(), ToolError> {
    let sneaked = Connection::open("main").and_then(|main| main.begin(None));
    match sneaked {
        Ok(_) => Ok(()),
        Err(error) => Err(failed("PROBE_SNEAK", error.to_string())),
    }
}

/// The notes of all effects, in their order.
#[tool(read)]
pub fn probe_rows(call: &Read, _args: Nothing) -> Result<Vec<String>, ToolError> {
    let notes: Vec<(String,)> = call.query("main", "SELECT note FROM effects ORDER BY id", params![])?;
    Ok(notes.into_iter().map(|(note,)| note).collect())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Query {
    sql: String,
}

/// Runs a query on `main`, and says how many rows it has.
#[tool(read)]
pub fn probe_query(_call: &Read, args: Query) -> Result<usize, ToolError> {
    let main = Connection::open("main").map_err(DatabaseError::from)?;
    Ok(main.query(&args.sql, &[]).map_err(DatabaseError::from)?.rows.len())
}
