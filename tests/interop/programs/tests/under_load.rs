//! Both programs under load, from a client on tokio's own runtime, until they are told to end in its middle.

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Lines};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, pki_types::CertificateDer, pki_types::ServerName};

/// How many clients ask at once, each over a connection of its own.
const CLIENTS: usize = 32;
/// For how long before the programs are told to end.
const BEFORE: Duration = Duration::from_millis(1500);

/// A program that has said where it listens.
struct Program {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    address: String,
}

impl Program {
    fn start(path: &str, args: &[&str]) -> Program {
        let mut child = Command::new(path).args(args).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut lines = BufReader::new(child.stdout.take().expect("it was asked for")).lines();
        let line = lines.next().expect("a line").expect("text");
        let address = line.strip_prefix("listening on ").expect("an address").to_owned();
        Program { child, lines, address }
    }

    fn terminate(&self) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().expect("kill").success());
    }

    /// It ends by itself, and says so.
    fn ends(mut self) {
        let from = Instant::now();
        assert_eq!(self.lines.next().expect("a line").expect("text"), "ended");
        assert!(self.child.wait().expect("it ended").success());
        assert!(from.elapsed() < Duration::from_secs(20), "{:?}", from.elapsed());
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

fn temporary(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("spinpark-{}-{name}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

type Client = SendRequest<Full<Bytes>>;

/// How a client comes to a connection.
#[derive(Clone)]
enum Way {
    Plain,
    Tls(TlsConnector),
}

/// `None`: nothing listens there any more.
async fn connect(address: &str, way: &Way) -> Option<Client> {
    let stream = TcpStream::connect(address).await.ok()?;
    stream.set_nodelay(true).ok()?;
    match way {
        Way::Plain => {
            let (client, connection) = handshake(TokioIo::new(stream)).await.ok()?;
            tokio::spawn(connection);
            Some(client)
        }
        Way::Tls(connector) => {
            let name = ServerName::try_from("localhost").expect("a name");
            let stream = connector.connect(name, stream).await.ok()?;
            let (client, connection) = handshake(TokioIo::new(stream)).await.ok()?;
            tokio::spawn(connection);
            Some(client)
        }
    }
}

async fn ask(client: &mut Client, request: Request<Full<Bytes>>) -> Option<(StatusCode, Value)> {
    client.ready().await.ok()?;
    let response = client.send_request(request).await.ok()?;
    let status = response.status();
    let body = response.into_body().collect().await.expect("an answer that has begun is whole").to_bytes();
    Some((status, serde_json::from_slice(&body).unwrap_or(Value::Null)))
}

fn post(text: &str) -> Request<Full<Bytes>> {
    let body = json!({ "text": text }).to_string();
    let request = Request::post("/notes").header("host", "localhost").header("content-type", "application/json");
    request.body(Full::from(body)).expect("a request")
}

fn get(id: i64) -> Request<Full<Bytes>> {
    Request::get(format!("/notes/{id}")).header("host", "localhost").body(Full::default()).expect("a request")
}

/// Adds notes, and looks at each, until no answer comes; returns those that were answered for.
async fn use_it(number: usize, address: String, way: Way) -> BTreeMap<i64, String> {
    let mut known = BTreeMap::new();
    let Some(mut client) = connect(&address, &way).await else { return known };
    for round in 0.. {
        // Now and then over a new connection.
        if round % 50 == 49 {
            match connect(&address, &way).await {
                Some(new) => client = new,
                None => break,
            }
        }
        let text = format!("{number}: {round}");
        let Some((status, note)) = ask(&mut client, post(&text)).await else { break };
        assert_eq!(status, StatusCode::CREATED, "{note}");
        let id = note["id"].as_i64().expect("a number");
        assert_eq!(note["text"], *text);
        assert!(known.insert(id, text.clone()).is_none(), "{id} comes twice");
        let Some((status, shown)) = ask(&mut client, get(id)).await else { break };
        assert_eq!((status, &shown), (StatusCode::OK, &note));
    }
    known
}

/// All clients, and what ends them.
async fn load(address: &str, way: Way, ends: impl FnOnce()) -> BTreeMap<i64, String> {
    let clients: Vec<_> = (0..CLIENTS).map(|n| tokio::spawn(use_it(n, address.to_owned(), way.clone()))).collect();
    tokio::time::sleep(BEFORE).await;
    ends();
    let mut all = BTreeMap::new();
    for client in clients {
        for (id, text) in client.await.expect("no panic") {
            assert!(all.insert(id, text).is_none(), "{id} comes twice");
        }
    }
    all
}

/// Every note that was answered for is in the file, and at most one for each client that was not.
fn holds(file: &str, answered: &BTreeMap<i64, String>) {
    let again = Program::start(env!("CARGO_BIN_EXE_notes"), &[file]);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let stored = runtime.block_on(async {
        let mut client = connect(&again.address, &Way::Plain).await.expect("it listens");
        for (id, text) in answered {
            let (status, note) = ask(&mut client, get(*id)).await.expect("an answer");
            assert_eq!((status, note), (StatusCode::OK, json!({ "id": id, "text": text })));
        }
        let (_, last) = ask(&mut client, post("last")).await.expect("an answer");
        last["id"].as_i64().expect("a number") - 1
    });
    assert!(answered.len() > 10 * CLIENTS, "{} notes", answered.len());
    assert!(stored as usize <= answered.len() + CLIENTS, "{stored} notes, {} answers", answered.len());
    again.terminate();
    again.ends();
    println!("{} requests were answered", 2 * answered.len());
}

#[test]
fn a_service_of_axum_and_sqlx_loses_no_note_when_it_is_told_to_end() {
    let file = temporary("notes.db");
    let file = file.to_str().expect("text");
    let service = Program::start(env!("CARGO_BIN_EXE_notes"), &[file]);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let answered = runtime.block_on(load(&service.address, Way::Plain, || service.terminate()));
    service.ends();
    holds(file, &answered);
    let _ = std::fs::remove_file(file);
}

#[test]
fn a_proxy_with_tls_before_it_passes_on_every_answer() {
    let (file, certificate) = (temporary("behind.db"), temporary("certificate"));
    let (file, certificate) = (file.to_str().expect("text"), certificate.to_str().expect("text"));
    let service = Program::start(env!("CARGO_BIN_EXE_notes"), &[file]);
    let proxy = Program::start(env!("CARGO_BIN_EXE_proxy"), &[&service.address, certificate]);
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(std::fs::read(certificate).expect("a certificate"))).expect("it is one");
    let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    let way = Way::Tls(TlsConnector::from(Arc::new(config)));
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let answered = runtime.block_on(load(&proxy.address, way, || proxy.terminate()));
    proxy.ends();
    service.terminate();
    service.ends();
    holds(file, &answered);
    for file in [file, certificate] {
        let _ = std::fs::remove_file(file);
    }
}
