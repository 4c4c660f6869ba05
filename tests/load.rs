//! Many connections for a while: none fails, nothing is mixed up, and when they are gone so is their memory. The server
//! is a process of its own: this program, called with `serve`. As a test it is short; longer by
//! `SPINPARK_LOAD=CONNECTIONSxSECONDS cargo test --release --test load`, 10000x60 for instance. With
//! `SPINPARK_LOAD_HTTP=ADDRESS` requests are sent to examples/http_server.rs, which was started there.

use spinpark::net::{TcpListener, TcpStream};
use spinpark::{Runtime, spawn, time};
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// The memory of this process, in kilobytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

fn runtime() -> Runtime {
    Runtime::builder().procs(2).build().expect("a runtime")
}

/// Echoes on each connection, until its standard input ends; tells its address, and on each line its memory and how
/// many connections there are.
fn serve() {
    let runtime = runtime();
    let open = Arc::new(AtomicU64::new(0));
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("no deadlock").expect("a listener");
    println!("{}", listener.local_addr().expect("an address"));
    let counted = Arc::clone(&open);
    drop(runtime.spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.expect("a connection");
            let open = Arc::clone(&counted);
            open.fetch_add(1, Relaxed);
            drop(spawn(async move {
                let mut buffer = [0; 256];
                loop {
                    match stream.read(&mut buffer).await {
                        Ok(0) => break,
                        Ok(n) => stream.write_all(&buffer[..n]).await.expect("written"),
                        Err(error) => panic!("the server could not read: {error}"),
                    }
                }
                open.fetch_sub(1, Relaxed);
            }));
        }
    }));
    for line in std::io::stdin().lines() {
        drop(line);
        println!("{} {}", resident(), open.load(Relaxed));
    }
}

struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Server {
    fn start() -> (Server, SocketAddr) {
        let me = std::env::current_exe().expect("this program");
        let mut child = Command::new(me)
            .arg("serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it can be started");
        let input = child.stdin.take().expect("a pipe");
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        output.read_line(&mut line).expect("its address");
        (Server { child, input, output }, line.trim().parse().expect("an address"))
    }

    /// Its memory in kilobytes, and its connections.
    fn ask(&mut self) -> (u64, u64) {
        writeln!(self.input).expect("it lives");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("it answers");
        let mut numbers = line.split_whitespace().map(|number| number.parse().expect("a number"));
        (numbers.next().expect("its memory"), numbers.next().expect("its connections"))
    }

    /// Waits until it has so many connections.
    fn until(&mut self, connections: u64) -> u64 {
        let start = Instant::now();
        loop {
            let (memory, open) = self.ask();
            if open == connections {
                return memory;
            }
            assert!(start.elapsed() < Duration::from_secs(60), "{open} connections are open, not {connections}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nhost: load\r\n\r\n";
const ANSWER: &[u8] = b"\r\n\r\nhello from spinpark\n";

/// Sends what is so many bytes long and gets it back.
async fn echo(stream: &TcpStream, n: u64, count: u64) {
    let mut sent = [0; 64];
    sent[..8].copy_from_slice(&n.to_le_bytes());
    sent[8..16].copy_from_slice(&count.to_le_bytes());
    stream.write_all(&sent).await.expect("written");
    let (mut came, mut got) = ([0; 64], 0);
    while got < 64 {
        match stream.read(&mut came[got..]).await.expect("read") {
            0 => panic!("the server has closed connection {n}"),
            more => got += more,
        }
    }
    assert_eq!(came, sent, "connection {n} got what another sent");
}

/// Sends a request and gets its answer.
async fn ask(stream: &TcpStream, n: u64) {
    stream.write_all(REQUEST).await.expect("written");
    let (mut came, mut got) = ([0; 1024], 0);
    while !came[..got].ends_with(ANSWER) {
        match stream.read(&mut came[got..]).await.expect("read") {
            0 => panic!("the server has closed connection {n}"),
            more => got += more,
        }
    }
    assert!(came.starts_with(b"HTTP/1.1 200 OK\r\n"), "{}", String::from_utf8_lossy(&came[..got]));
}

/// Opens the connections, and uses all of them until the time is over. Returns how many round trips there were.
async fn use_it(address: SocketAddr, connections: u64, seconds: u64, is_http: bool) -> u64 {
    let (trips, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let mut clients = Vec::new();
    for n in 0..connections {
        let stream = TcpStream::connect(address).await.expect("a connection");
        let (trips, stop) = (Arc::clone(&trips), Arc::clone(&stop));
        clients.push(spawn(async move {
            let mut count = 0_u64;
            while !stop.load(Relaxed) {
                match is_http {
                    true => ask(&stream, n).await,
                    false => echo(&stream, n, count).await,
                }
                count += 1;
            }
            trips.fetch_add(count, Relaxed);
        }));
    }
    time::sleep(Duration::from_secs(seconds)).await;
    stop.store(true, Relaxed);
    for client in clients {
        client.await.expect("no panic");
    }
    trips.load(Relaxed)
}

fn main() -> ExitCode {
    if std::env::args().any(|arg| arg == "serve") {
        serve();
        return ExitCode::SUCCESS;
    }
    let load = std::env::var("SPINPARK_LOAD").unwrap_or_else(|_| "500x1".to_owned());
    let (connections, seconds) = load.split_once('x').expect("CONNECTIONSxSECONDS");
    let (connections, seconds): (u64, u64) =
        (connections.parse().expect("a number"), seconds.parse().expect("a number"));

    let runtime = runtime();
    if let Ok(address) = std::env::var("SPINPARK_LOAD_HTTP") {
        let address = address.parse().expect("an address");
        let trips = runtime.block_on(use_it(address, connections, seconds, true)).expect("no deadlock");
        println!("{connections} connections: {trips} requests in {seconds} s, each answered");
        return ExitCode::SUCCESS;
    }
    let (mut server, address) = Server::start();
    // Twice: what is taken once is kept, what is taken each time is lost.
    let mut levels = Vec::new();
    for _ in 0..2 {
        let start = Instant::now();
        let trips = runtime.block_on(use_it(address, connections, seconds, false)).expect("no deadlock");
        let (took, theirs) = (start.elapsed(), server.until(0));
        println!(
            "{connections} connections: {trips} round trips in {took:.1?}, and then the server has {theirs} kB, the client {} kB",
            resident()
        );
        assert!(trips >= connections, "some connections made no round trip");
        levels.push((theirs, resident()));
    }
    let [first, second] = levels[..] else { unreachable!("two rounds") };
    let room = 2 * 1024 + connections / 2;
    assert!(second.0 < first.0 + room && second.1 < first.1 + room, "memory grows: {first:?}, then {second:?} kB");
    drop(server.input);
    assert!(server.child.wait().expect("it ends").success());
    println!("test many_connections_for_a_while ... ok");
    ExitCode::SUCCESS
}
