//! Reads and writes that send requests, when they may and when they may not.

use tether_sdk::prelude::*;

use crate::end::end;
use crate::outgoing::{Answer, Outgoing, Parts};
use crate::writes::effect;

/// Sends a request, and gives its answer.
#[tool(read)]
pub fn probe_send(call: &Read, args: Outgoing) -> Result<Answer, ToolError> {
    let answer = args.send(call)?;
    end(&args.then)?;
    Ok(answer)
}

/// Sends a request through `wasi:http`, and gives its answer.
#[tool(read)]
pub fn probe_fetch(_call: &Read, args: Outgoing) -> Result<Answer, ToolError> {
    let answer = args.fetch().map_err(|code| failed("PROBE_FETCH", format!("{code:?}")))?;
    end(&args.then)?;
    Ok(answer)
}

/// Sends a request through `wasi:http`, and ends as it is told before its answer.
#[tool(read)]
pub fn probe_fetch_meanwhile(_call: &Read, args: Outgoing) -> Result<(), ToolError> {
    let answer = args.depart().map_err(|code| failed("PROBE_FETCH", format!("{code:?}")))?;
    let ended = end(&args.then);
    drop(answer);
    ended
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Many {
    request: Outgoing,
    times: usize,
    /// Whether no answer is let go of.
    hoard: bool,
}

/// Sends a request many times through `wasi:http`, and reads none of the answers.
#[tool(read)]
pub fn probe_fetch_many(_call: &Read, args: Many) -> Result<usize, ToolError> {
    let mut hoard = Vec::new();
    for _ in 0..args.times {
        let answer = args.request.answered().map_err(|code| failed("PROBE_FETCH", format!("{code:?}")))?;
        if args.hoard {
            hoard.push(answer);
        }
    }
    Ok(hoard.len())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Length {
    bytes: usize,
}

/// Says which parts of a request of `wasi:http` may have so many bytes.
#[tool(read)]
pub fn probe_long_parts(_call: &Read, args: Length) -> Result<Parts, ToolError> {
    Ok(Parts::of_length(args.bytes))
}

/// Sends a request, and gives its answer.
#[tool(write, preview = preview_send)]
pub fn probe_send_write(call: &Write, args: Outgoing) -> Result<Answer, ToolError> {
    let answer = args.send(call)?;
    end(&args.then)?;
    Ok(answer)
}

fn preview_send(call: &Read, args: Outgoing) -> Result<Option<String>, ToolError> {
    Ok(Some(args.sent(call)))
}

/// Sends the same request twice, and says how both went.
#[tool(write)]
pub fn probe_send_twice(call: &Write, args: Outgoing) -> Result<[String; 2], ToolError> {
    Ok([args.sent(call), args.sent(call)])
}

/// Sends a request while its transaction is open, and records how that went.
#[tool(write)]
pub fn probe_send_inside(call: &Write, args: Outgoing) -> Result<String, ToolError> {
    call.once("main", |_| Ok(args.sent(call)))
}

/// Sends a request after its main record, and says how that went.
#[tool(write)]
pub fn probe_send_after(call: &Write, args: Outgoing) -> Result<String, ToolError> {
    leave_main_record(call)?;
    Ok(args.sent(call))
}

/// Sends a request, leaves the answer's status as a note, and ends as it is told.
#[tool(write)]
pub fn probe_send_then_write(call: &Write, args: Outgoing) -> Result<String, ToolError> {
    let status = args.sent(call);
    let status = call.once("main", |tx| {
        effect(call, tx, &status)?;
        Ok(status)
    })?;
    end(&args.then)?;
    Ok(status)
}

/// Sends the same request twice through `wasi:http`, and says how both went.
#[tool(write)]
pub fn probe_fetch_twice(_call: &Write, args: Outgoing) -> Result<[String; 2], ToolError> {
    Ok([args.fetched(), args.fetched()])
}

/// Sends a request through `wasi:http`, and is done before its answer.
#[tool(write)]
pub fn probe_fetch_forgotten(_call: &Write, args: Outgoing) -> Result<(), ToolError> {
    let answer = args.depart().map_err(|code| failed("PROBE_FETCH", format!("{code:?}")))?;
    // Only the end of the instance lets go of it.
    std::mem::forget(answer);
    Ok(())
}

/// Begins a request through `wasi:http`, and ends as it is told in the middle of its body.
#[tool(write)]
pub fn probe_fetch_unfinished(_call: &Write, args: Outgoing) -> Result<(), ToolError> {
    let half = args.begin().map_err(|code| failed("PROBE_FETCH", format!("{code:?}")))?;
    let ended = end(&args.then);
    // Only the end of the instance lets go of it.
    std::mem::forget(half);
    ended
}

/// Sends a request through `wasi:http` while its transaction is open, and records how
/// that went.
#[tool(write)]
pub fn probe_fetch_inside(call: &Write, args: Outgoing) -> Result<String, ToolError> {
    call.once("main", |_| Ok(args.fetched()))
}

/// Sends a request through `wasi:http` after its main record, and says how that went.
#[tool(write)]
pub fn probe_fetch_after(call: &Write, args: Outgoing) -> Result<String, ToolError> {
    leave_main_record(call)?;
    Ok(args.fetched())
}

fn leave_main_record(call: &Write) -> Result<String, ToolError> {
    call.once("main", |tx| {
        effect(call, tx, "before the request")?;
        Ok("recorded".into())
    })
}
