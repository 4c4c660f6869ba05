//! examples/http_server.rs, asked by an HTTP client of somebody else's making.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::thread;

/// The example, as a program; killed when it is dropped.
struct Server(Child, String);

impl Server {
    fn start() -> Server {
        let built = Command::new(env!("CARGO"))
            .args(["build", "--features", "hyper", "--example", "http_server", "--message-format=json"])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .stderr(Stdio::null())
            .output()
            .expect("cargo can be started");
        let text = String::from_utf8_lossy(&built.stdout).into_owned();
        let program =
            text.lines().filter_map(|line| line.split("\"executable\":\"").nth(1)?.split('"').next()).next_back();
        let mut child = Command::new(program.expect("it was built"))
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
