//! Something between the bridge and the gateway that loses answers.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// See the module. It listens until the test's process ends.
pub(super) struct Proxy {
    address: SocketAddr,
    seen: Arc<Seen>,
}

#[derive(Default)]
struct Seen {
    /// Calls whose answers are still to be lost.
    cuts: AtomicUsize,
    /// So much of each is passed on.
    bytes: AtomicUsize,
    /// Answers that were lost.
    lost: AtomicUsize,
}

impl Proxy {
    /// One in front of `gateway`.
    pub(super) fn start(gateway: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it has an address");
        let seen = Arc::new(Seen::default());
        let proxy = Self { address, seen: Arc::clone(&seen) };
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = TcpStream::connect(gateway) else { continue };
                let seen = Arc::clone(&seen);
                // A connection that breaks off is no fault of the test.
                thread::spawn(move || join(&client, &server, &seen));
            }
        });
        proxy
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Loses the answers to the next calls, this many, after so many bytes of each.
    pub(super) fn lose(&self, calls: usize, bytes: usize) {
        self.seen.bytes.store(bytes, Ordering::SeqCst);
        self.seen.lost.store(0, Ordering::SeqCst);
        self.seen.cuts.store(calls, Ordering::SeqCst);
    }

    /// How many were lost.
    pub(super) fn lost(&self) -> usize {
        self.seen.lost.load(Ordering::SeqCst)
    }
}

/// Passes bytes in both directions until either side ends.
fn join(client: &TcpStream, server: &TcpStream, seen: &Seen) {
    let cut = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let _ = forth(client, server, seen, &cut);
            let _ = server.shutdown(Shutdown::Both);
        });
        let _ = back(server, client, seen, &cut);
        for stream in [client, server] {
            let _ = stream.shutdown(Shutdown::Both);
        }
    });
}

fn forth(mut from: &TcpStream, mut to: &TcpStream, seen: &Seen, cut: &AtomicBool) -> io::Result<()> {
    let mut piece = vec![0; 64 << 10];
    loop {
        let length = from.read(&mut piece)?;
        if length == 0 {
            return Ok(());
        }
        // Requests of these tests arrive in one piece, or begin another with their head.
        let is_call = piece[..length].windows(12).any(|window| window == b"\"tools/call\"");
        let count = |left: usize| left.checked_sub(1);
        if is_call && seen.cuts.fetch_update(Ordering::SeqCst, Ordering::SeqCst, count).is_ok() {
            cut.store(true, Ordering::SeqCst);
        }
        to.write_all(&piece[..length])?;
    }
}

fn back(mut from: &TcpStream, mut to: &TcpStream, seen: &Seen, cut: &AtomicBool) -> io::Result<()> {
    let mut piece = vec![0; 64 << 10];
    let mut passed = 0;
    loop {
        let length = from.read(&mut piece)?;
        if length == 0 {
            return Ok(());
        }
        if cut.load(Ordering::SeqCst) {
            let left = seen.bytes.load(Ordering::SeqCst) - passed;
            if length >= left {
                to.write_all(&piece[..left])?;
                seen.lost.fetch_add(1, Ordering::SeqCst);
                return Ok(());
            }
            passed += length;
        }
        to.write_all(&piece[..length])?;
    }
}
