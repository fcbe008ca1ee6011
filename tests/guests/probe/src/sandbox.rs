//! What a component gets of the machine that it runs on.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::time::{Instant, SystemTime};
use std::{env, fs};

use tether_sdk::prelude::*;

use crate::reads::Nothing;

#[derive(Serialize, JsonSchema)]
pub struct Sandbox {
    variables: usize,
    arguments: usize,
    reads_files: bool,
    writes_files: bool,
    connects: bool,
    listens: bool,
    clocks: bool,
    random: bool,
}

/// Says what it can reach.
#[tool(read)]
pub fn probe_sandbox(_call: &Read, _args: Nothing) -> Result<Sandbox, ToolError> {
    let begin = Instant::now();
    let draw = || RandomState::new().hash_one(0);
    Ok(Sandbox {
        variables: env::vars().count(),
        arguments: env::args().count(),
        reads_files: ["/", ".", "/etc/passwd"].iter().any(|path| fs::metadata(path).is_ok()),
        writes_files: fs::write("probe", "").is_ok() || fs::write("/tmp/probe", "").is_ok(),
        connects: TcpStream::connect("127.0.0.1:80").is_ok() || TcpStream::connect("localhost:80").is_ok(),
        listens: TcpListener::bind("127.0.0.1:0").is_ok() || UdpSocket::bind("127.0.0.1:0").is_ok(),
        clocks: SystemTime::now() > SystemTime::UNIX_EPOCH && begin.elapsed().as_secs() < 60,
        random: draw() != draw(),
    })
}
