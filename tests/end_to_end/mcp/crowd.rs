//! Many agents at once: each gets its own answers, and the host stops while all of them listen.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::time::Instant;

use crate::mcp::BOTH;
use crate::mcp::client::Client;
use crate::support::{Request, Server, Setup, crowd};

const CROWD: usize = 200;

/// Reads of each.
const READS: usize = 5;

/// What the process has in memory, as the system tells it.
fn memory(server: &Server) -> String {
    let status = fs::read_to_string(format!("/proc/{}/status", server.process_id())).unwrap_or_default();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    resident.unwrap_or("unknown").trim().to_owned()
}

/// Lists, reads, proposes and looks; the action that it proposed.
fn work(client: &Client, number: usize) -> String {
    let listed = client.ask("tools/list", "");
    assert!(listed.text.contains("probe_write"), "{}", listed.text);
    for read in 0..READS {
        let arguments = format!(r#"{{"who":{number},"read":{read}}}"#);
        assert_eq!(client.call("probe_echo", &arguments).said(), arguments);
    }
    let (key, arguments) = (format!("key-{number}"), format!(r#"{{"note":"of {number}"}}"#));
    let id = client.call_with(&key, "probe_write", &arguments).action();
    assert_eq!(client.call_with(&key, "probe_write", &arguments).action(), id);
    let looked = client.call("tether_actions", &format!(r#"{{"actionId":"{id}"}}"#));
    let action = &looked.result()["structuredContent"]["actions"][0];
    assert_eq!(
        (&action["status"], &action["args"]["note"]),
        (&"Pending".into(), &format!("of {number}").into())
    );
    id
}

#[test]
fn two_hundred_clients_at_once_each_get_their_own_answers() {
    let server = Setup::of(&["probe"]).start();
    let (before, start) = (memory(&server), Instant::now());
    // Half of them in sessions.
    let ids = crowd(CROWD, |number| work(&Client::new(&server, BOTH[number % 2]), number));
    println!(
        "{CROWD} clients, {} requests each: {:?}; {before} in memory before, {} after",
        READS + 4,
        start.elapsed(),
        memory(&server)
    );
    assert_eq!(BTreeSet::from_iter(&ids).len(), CROWD, "each has its own action");
    assert!(server.effects().is_empty(), "nobody said yes");
    let some = &ids[..10];
    for id in some {
        server.api.confirm(id, "{}").check("200 Succeeded");
    }
    let effects: BTreeSet<_> = server.effects().into_iter().map(|effect| effect.key).collect();
    assert_eq!(effects, some.iter().cloned().collect());
}

#[test]
fn of_more_sessions_than_there_may_be_the_longest_unused_make_room() {
    const MOST: usize = 8;
    let config = format!("[mcp]\nmax_sessions = {MOST}\n");
    let server = Setup::of(&["probe"]).config("tether.toml", &config).start();
    let clients: Vec<_> = (0..5 * MOST).map(|_| Client::new(&server, BOTH[0])).collect();
    let is_open = |client: &Client| client.ask("tools/list", "").status == 200;
    let open: Vec<_> = clients.iter().map(is_open).collect();
    let (gone, left) = open.split_at(4 * MOST);
    assert!(!gone.contains(&true) && !left.contains(&false), "{open:?}");
    // Those are told to begin anew, and may.
    assert_eq!(clients[0].ask("tools/list", "").error(), -32001);
    work(&Client::new(&server, BOTH[0]), 0);
}

/// Listens in the client's session; what comes, once there is something.
fn listen(client: &Client) -> BufReader<TcpStream> {
    let headers = [
        ("Accept", "text/event-stream"),
        ("MCP-Protocol-Version", client.revision),
        ("Mcp-Session-Id", client.session.as_deref().expect("it has a session")),
    ];
    let token = Some(client.api.token.as_str());
    let request = Request { method: "GET", path: "/mcp", token, headers: &headers, body: b"" };
    let mut stream = BufReader::new(client.api.send(&request).expect("it takes requests"));
    let mut line = String::new();
    while !line.contains("notifications/tools/list_changed") {
        assert_ne!(stream.read_line(&mut line).expect("it says so"), 0, "{line}");
    }
    stream
}

#[test]
fn a_host_to_which_two_hundred_listen_stops() {
    let mut server = Setup::of(&["probe"]).start();
    let before = memory(&server);
    let mut listening = crowd(CROWD, |_| {
        let client = Client::new(&server, BOTH[0]);
        (listen(&client), client)
    });
    println!("{CROWD} streams: {before} in memory before, {} with them", memory(&server));
    // A session is no slower for its stream.
    for (number, (_, client)) in listening.iter().enumerate().take(10) {
        work(client, number);
    }
    let start = Instant::now();
    assert_eq!(server.stop(), Some(0));
    println!("{CROWD} streams: stopped in {:?}", start.elapsed());
    let log = server.log().whole();
    assert!(!log.contains("not everything ended in time"), "{log}");
    for (stream, _) in &mut listening {
        let mut rest = String::new();
        stream.read_to_string(&mut rest).expect("it ends");
        assert!(rest.ends_with("0\r\n\r\n"), "in order: {rest:?}");
    }
}
