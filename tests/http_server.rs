//! examples/http_server.rs, asked by a third-party HTTP client.

use crate::programs::built;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The example, as a program; killed when it is dropped.
struct Server(Child, String);

impl Server {
    fn start() -> Server {
        let mut child = Command::new(built("http_server", "hyper"))
            .arg("127.0.0.1:0")
            .stdout(Stdio::piped())
            .spawn()
            .expect("it can be started");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("it says where it listens");
        let address = line.trim().rsplit(' ').next().expect("an address").to_owned();
        Server(child, address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn it_answers_many_clients_at_once() {
    let server = Server::start();
    let at = &server.1;
    thread::scope(|scope| {
        for client in 0..8 {
            scope.spawn(move || {
                let agent = ureq::Agent::new_with_defaults();
                for round in 0..20 {
                    let mut hello = agent.get(format!("{at}/")).call().expect("an answer");
                    assert!(hello.body_mut().read_to_string().expect("text").contains("hello"));
                    let body: Vec<u8> = (0..10_000 * client + round).map(|n| n as u8).collect();
                    let echo = agent.post(format!("{at}/echo")).send(&body[..]).expect("an answer");
                    let mut came = Vec::new();
                    echo.into_body().into_reader().read_to_end(&mut came).expect("a body");
                    assert!(came == body, "{} bytes came back of {}", came.len(), body.len());
                    let nothing = agent.get(format!("{at}/nothing")).call();
                    assert!(matches!(nothing, Err(ureq::Error::StatusCode(404))), "{nothing:?}");
                }
            });
        }
    });
}

#[cfg(target_os = "linux")]
mod asked_to_end {
    use super::*;
    use rustix::process::{Pid, Signal, kill_process};

    /// Seconds after which something hangs.
    const LONG: Duration = Duration::from_secs(60);

    fn kill(server: &Server, signal: Signal) {
        kill_process(Pid::from_child(&server.0), signal).expect("a process of ours");
    }

    fn connect(server: &Server) -> std::io::Result<TcpStream> {
        TcpStream::connect(server.1.trim_start_matches("http://"))
    }

    /// A connection on which half a request was sent, and has been heard: what was sent of the body has come back.
    fn half_asked(server: &Server) -> TcpStream {
        let mut client = connect(server).expect("a connection");
        client.set_read_timeout(Some(LONG)).expect("a time");
        client.write_all(b"POST /echo HTTP/1.1\r\nHost: here\r\nContent-Length: 6\r\n\r\nabc").expect("it is sent");
        let mut came = String::new();
        while !came.contains("abc") {
            let mut some = [0; 1000];
            let n = client.read(&mut some).expect("a part of the answer");
            assert!(n > 0, "it ended after {came}");
            came.push_str(&String::from_utf8_lossy(&some[..n]));
        }
        client
    }

    fn until_nobody_listens(server: &Server) {
        let from = Instant::now();
        while connect(server).is_ok() {
            assert!(from.elapsed() < LONG, "it still listens");
            thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn it_answers_who_has_asked_and_goes_without_an_error() {
        let mut server = Server::start();
        let idle = connect(&server).expect("a connection");
        let mut client = half_asked(&server);
        kill(&server, Signal::TERM);
        until_nobody_listens(&server);
        client.write_all(b"def").expect("it is sent");
        let mut rest = String::new();
        client.read_to_string(&mut rest).expect("the rest, and the end");
        assert!(rest.contains("def"), "{rest}");
        assert!(server.0.wait().expect("its status").success());
        drop(idle);
    }

    #[test]
    fn twice_it_goes_at_once() {
        let mut server = Server::start();
        let _client = half_asked(&server);
        kill(&server, Signal::TERM);
        until_nobody_listens(&server);
        kill(&server, Signal::TERM);
        let from = Instant::now();
        assert_eq!(server.0.wait().expect("its status").code(), Some(1));
        assert!(from.elapsed() < Duration::from_secs(5), "it took its time");
    }
}
