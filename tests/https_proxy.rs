//! examples/https_proxy, between curl and Python's own web server: a client and a server of others' making.

#![cfg(target_os = "linux")]

use crate::programs::killed::Killed;
use crate::programs::{Folder, LONG, built, is_there, until};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

fn program() -> String {
    built("https_proxy", "hyper,signal")
}

/// curl with HTTP/2: the client of almost every test here.
fn curl_is_there() -> bool {
    is_there("curl", "--version", "HTTP2")
}

/// The proxy; where it listens, where its page is, and the certificate.
struct Proxy {
    program: Killed,
    port: String,
    metrics: String,
    folder: Folder,
}

impl Proxy {
    fn before(upstream: SocketAddr, name: &str, options: &[&str]) -> Proxy {
        let folder = Folder::new(name);
        let mut child = Command::new(program())
            .args(["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--upstream", &upstream.to_string()])
            .arg("--self-signed")
            .arg(folder.0.join("cert.pem"))
            .args(options)
            .stdout(Stdio::piped())
            .spawn()
            .expect("started");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("it says where it listens");
        let (first, metrics) = line.trim().split_once(", metrics on ").expect("both addresses");
        let port = first.rsplit(':').next().expect("a port").to_owned();
        Proxy { program: Killed(child), port, metrics: metrics.to_owned(), folder }
    }

    fn curl(&self, path: &str, options: &[&str]) -> Command {
        let mut curl = Command::new("curl");
        curl.args(["-sS", "--max-time", "50", "--cacert"]).arg(self.folder.0.join("cert.pem")).args(options);
        curl.arg(format!("https://localhost:{}{path}", self.port));
        curl
    }

    fn ask(&self, path: &str, options: &[&str]) -> Output {
        self.curl(path, options).output().expect("curl is there")
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.program.0), signal).expect("a process of ours");
    }

    /// A number of its page.
    fn count(&self, name: &str) -> u64 {
        let page = Command::new("curl").args(["-sS", &self.metrics]).output().expect("curl is there");
        let page = String::from_utf8(page.stdout).expect("text");
        let line = page.lines().find(|line| line.starts_with(&format!("{name} ")));
        let line = line.unwrap_or_else(|| panic!("no {name} in:\n{page}"));
        line.rsplit(' ').next().expect("a number").parse().expect("a number")
    }

    fn is_listening(&self) -> bool {
        TcpStream::connect(format!("127.0.0.1:{}", self.port)).is_ok()
    }
}

/// Python's web server, of the files in a folder.
fn python(folder: &Folder) -> (Killed, SocketAddr) {
    let at = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let program = Command::new("python3")
        .args(["-m", "http.server", "--bind", "127.0.0.1", "--protocol", "HTTP/1.1", &at.port().to_string()])
        .current_dir(&folder.0)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("python3 is there");
    let program = Killed(program);
    until("listening", || TcpStream::connect(at).is_ok());
    (program, at)
}

/// A server that answers each connection's first request by what `answer` makes of its head.
fn server(answer: impl Fn(&str, &mut TcpStream) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let at = listener.local_addr().expect("an address");
    let answer = std::sync::Arc::new(answer);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, answer) = (stream.expect("accepted"), answer.clone());
            thread::spawn(move || {
                let mut head = String::new();
                while !head.ends_with("\r\n\r\n") {
                    let mut one = [0];
                    match stream.read(&mut one) {
                        Ok(1) => head.push(one[0].into()),
                        _ => return,
                    }
                }
                answer(&head, &mut stream);
            });
        }
    });
    at
}

fn text(output: &Output) -> &str {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::str::from_utf8(&output.stdout).expect("text")
}

#[test]
fn files_of_another_server_come_by_both_protocols() {
    if !curl_is_there() || !is_there("python3", "--version", "Python 3") {
        return;
    }
    let files = Folder::new("files");
    let large: Vec<u8> = (0..3_000_000_u32).map(|n| (n % 251) as u8).collect();
    std::fs::write(files.0.join("large"), &large).expect("written");
    std::fs::write(files.0.join("small"), "some text").expect("written");
    let (_python, at) = python(&files);
    let proxy = Proxy::before(at, "files-proxy", &[]);
    for (option, version) in [("--http1.1", "1.1"), ("--http2", "2")] {
        let small = proxy.ask("/small", &[option, "-w", " by %{http_version}, %{http_code}"]);
        assert_eq!(text(&small), format!("some text by {version}, 200"));
        let came = proxy.ask("/large", &[option]);
        assert!(came.status.success() && came.stdout == large, "{} bytes came by {option}", came.stdout.len());
        let missing = proxy.ask("/missing", &[option, "-o", "/dev/null", "-w", "%{http_code}"]);
        assert_eq!(text(&missing), "404");
    }
    assert_eq!(proxy.count("proxy_answers_total{class=\"2xx\"}"), 4);
    assert_eq!(proxy.count("proxy_answers_total{class=\"4xx\"}"), 2);
    assert!(proxy.count("proxy_upstream_reused_total") > 0, "each time a new connection");
    assert!(proxy.count("runtime_dispatches_total") > 0);
}

#[test]
fn a_hundred_at_once_are_answered_on_one_connection() {
    if !curl_is_there() {
        return;
    }
    let files = Folder::new("many");
    std::fs::write(files.0.join("a"), "text").expect("written");
    let (_python, at) = python(&files);
    let proxy = Proxy::before(at, "many-proxy", &[]);
    let mut curl =
        proxy.curl("/a?[1-100]", &["--http2", "--parallel", "--parallel-max", "50", "-w", "\\n%{http_code}\\n"]);
    let output = curl.output().expect("curl is there");
    assert_eq!(text(&output).matches("200").count(), 100, "{}", text(&output));
    until("rested", || proxy.count("proxy_requests_open") == 0);
    assert!(proxy.count("proxy_connections_total") < 20, "they were to share one");
}

#[test]
fn the_server_behind_is_told_who_asks_and_what_is_ours_is_not_passed_on() {
    if !curl_is_there() {
        return;
    }
    let at = server(|head, stream| {
        let body = head.to_lowercase();
        let answer = format!(
            "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close, x-secret\r\nx-secret: 1\r\nx-open: 1\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(answer.as_bytes()).expect("written");
    });
    let proxy = Proxy::before(at, "heads", &[]);
    for option in ["--http1.1", "--http2"] {
        let options =
            [option, "-i", "-H", "Connection: X-Mine", "-H", "X-Mine: 1", "-H", "X-Kept: 1", "-H", "TE: trailers"];
        let answer = proxy.ask("/path?a=b", &options);
        let (head, body) = text(&answer).split_once("\r\n\r\n").expect("a head");
        assert!(body.starts_with("get /path?a=b http/1.1\r\n"), "{body}");
        assert!(body.contains(&format!("\r\nhost: localhost:{}\r\n", proxy.port)), "{body}");
        assert!(
            body.contains("\r\nx-forwarded-for: 127.0.0.1\r\n") && body.contains("\r\nx-forwarded-proto: https\r\n")
        );
        assert!(body.contains("\r\nx-kept: 1\r\n") && !body.contains("\r\nte: "), "{body}");
        // HTTP/2 has no such heads: curl leaves `Connection` out there.
        assert!(option == "--http2" || !body.contains("x-mine"), "{body}");
        assert!(head.contains("x-open: 1") && !head.contains("x-secret"), "{head}");
    }
}

#[test]
fn a_body_that_is_sent_comes_to_the_server_behind() {
    if !curl_is_there() {
        return;
    }
    let at = server(|head, stream| {
        // By HTTP/1 curl says how long it is; by HTTP/2, too, and that is passed on.
        let length = head
            .to_lowercase()
            .split("content-length: ")
            .nth(1)
            .and_then(|rest| rest.split("\r\n").next()?.parse::<usize>().ok());
        let mut body = vec![0; length.expect("a length")];
        stream.read_exact(&mut body).expect("the body");
        let sum: u64 = body.iter().map(|&byte| u64::from(byte)).sum();
        let answer = format!("HTTP/1.1 201 Created\r\nconnection: close\r\n\r\n{} {sum}", body.len());
        stream.write_all(answer.as_bytes()).expect("written");
    });
    let proxy = Proxy::before(at, "bodies", &[]);
    let body: Vec<u8> = (0..500_000_u32).map(|n| (n % 251) as u8).collect();
    let expected = format!("{} {}", body.len(), body.iter().map(|&byte| u64::from(byte)).sum::<u64>());
    let file = proxy.folder.0.join("body");
    std::fs::write(&file, &body).expect("written");
    for option in ["--http1.1", "--http2"] {
        let data = format!("@{}", file.display());
        assert_eq!(text(&proxy.ask("/", &[option, "--data-binary", &data])), expected, "{option}");
    }
}

mod a_server_behind {
    use super::*;

    fn code(proxy: &Proxy) -> String {
        text(&proxy.ask("/", &["-o", "/dev/null", "-w", "%{http_code}"])).to_owned()
    }

    #[test]
    fn that_is_not_there_is_502() {
        if !curl_is_there() {
            return;
        }
        let unused = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
        let proxy = Proxy::before(unused, "nobody", &[]);
        assert_eq!(code(&proxy), "502");
    }

    #[test]
    fn that_does_not_answer_is_504() {
        if !curl_is_there() {
            return;
        }
        let at = server(|_, _| thread::sleep(LONG));
        let proxy = Proxy::before(at, "mute", &["--timeout", "0.2"]);
        let from = Instant::now();
        assert_eq!(code(&proxy), "504");
        assert!(from.elapsed() >= Duration::from_millis(200));
    }

    #[test]
    fn that_speaks_another_language_is_502() {
        if !curl_is_there() {
            return;
        }
        let at = server(|_, stream| stream.write_all(b"what do you want?\r\n\r\n").expect("written"));
        let proxy = Proxy::before(at, "strange", &[]);
        assert_eq!(code(&proxy), "502");
    }

    #[test]
    fn that_closes_its_connections_is_connected_to_again() {
        if !curl_is_there() {
            return;
        }
        // Each is closed a moment after its answer, though it was said that it stays.
        let at = server(|_, stream| {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").expect("written");
        });
        let proxy = Proxy::before(at, "closes", &[]);
        for _ in 0..20 {
            assert_eq!(text(&proxy.ask("/", &[])), "ok");
        }
        assert_eq!(proxy.count("proxy_answers_total{class=\"2xx\"}"), 20);
    }
}

mod asked_to_end {
    use super::*;

    /// A server that sends the first half of its answer at once, and the second when it is told.
    fn slow() -> (SocketAddr, std::sync::mpsc::Sender<()>) {
        let (go_on, goes_on) = std::sync::mpsc::channel();
        let goes_on = std::sync::Mutex::new(goes_on);
        let at = server(move |_, stream| {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nfirst").expect("written");
            if goes_on.lock().expect("no panic").recv().is_ok() {
                stream.write_all(b"other").expect("written");
            }
        });
        (at, go_on)
    }

    fn half_answered(proxy: &Proxy, option: &str) -> Child {
        let curl = proxy.curl("/", &[option, "-N"]).stdout(Stdio::piped()).spawn();
        let mut curl = curl.expect("curl is there");
        let mut first = [0; 5];
        curl.stdout.as_mut().expect("a pipe").read_exact(&mut first).expect("the first half");
        assert_eq!(&first, b"first");
        curl
    }

    #[test]
    fn it_answers_who_has_asked_and_goes_without_an_error() {
        if !curl_is_there() {
            return;
        }
        for option in ["--http1.1", "--http2"] {
            let (at, go_on) = slow();
            let mut proxy = Proxy::before(at, &format!("ends{option}"), &[]);
            let curl = half_answered(&proxy, option);
            proxy.signal(Signal::TERM);
            until("closed", || !proxy.is_listening());
            go_on.send(()).expect("it waits");
            assert_eq!(text(&curl.wait_with_output().expect("its end")), "other");
            assert!(proxy.program.0.wait().expect("its end").success(), "{option}");
        }
    }

    #[test]
    fn it_cuts_off_what_takes_too_long() {
        if !curl_is_there() {
            return;
        }
        let (at, _go_on) = slow();
        let mut proxy = Proxy::before(at, "cuts", &["--grace", "0.3"]);
        let curl = half_answered(&proxy, "--http2");
        proxy.signal(Signal::INT);
        assert!(proxy.program.0.wait().expect("its end").success());
        assert!(!curl.wait_with_output().expect("its end").status.success(), "it was to be cut off");
    }

    #[test]
    fn twice_it_goes_at_once() {
        if !curl_is_there() {
            return;
        }
        let (at, _go_on) = slow();
        let mut proxy = Proxy::before(at, "twice", &["--grace", "1000"]);
        let _curl = Killed(half_answered(&proxy, "--http1.1"));
        proxy.signal(Signal::TERM);
        until("closed", || !proxy.is_listening());
        proxy.signal(Signal::TERM);
        assert_eq!(proxy.program.0.wait().expect("its end").code(), Some(1));
    }
}

#[test]
fn bad_input_is_an_error() {
    for (args, message) in [
        (&["--upstream", "a:1"][..], "a certificate is wanted"),
        (&["--self-signed", "/tmp/x"], "--upstream is wanted"),
        (&["--quick"], "unknown option `--quick`"),
        (&["--timeout", "soon"], "--timeout is a number of seconds, not `soon`"),
        (&["--listen"], "--listen wants a value"),
    ] {
        let output = Command::new(program()).args(args).output().expect("started");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(message), "{args:?}: {said}");
    }
    let missing = ["--upstream", "a:1", "--cert", "/no/cert", "--key", "/no/key"];
    let output = Command::new(program()).args(missing).output().expect("started");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && said.contains("/no/cert: "), "{said}");
}
