//! examples/chat, with tungstenite's own client, with clients that break the rules, and with its page in a browser.

#![cfg(target_os = "linux")]

use crate::programs::browser::Browser;
use crate::programs::killed::Killed;
use crate::programs::{LONG, built, until};
use async_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use async_tungstenite::tungstenite::{Message, WebSocket, client};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

fn program() -> String {
    built("chat", "hyper,signal")
}

/// The server, and where it listens.
struct Chat {
    program: Killed,
    at: SocketAddr,
}

impl Chat {
    fn start(options: &[&str]) -> Chat {
        let mut child = Command::new(program())
            .args(["--listen", "127.0.0.1:0"])
            .args(options)
            .stdout(Stdio::piped())
            .spawn()
            .expect("started");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("it says where it listens");
        let at = line.trim().strip_prefix("chat on http://").and_then(|at| at.parse().ok()).expect("an address");
        Chat { program: Killed(child), at }
    }

    fn connect(&self) -> Client {
        let stream = TcpStream::connect(self.at).expect("connected");
        stream.set_read_timeout(Some(LONG)).expect("set");
        let (socket, _) = client(format!("ws://{}/ws", self.at), stream).expect("a WebSocket");
        Client(socket)
    }

    /// Connects, and comes into the room; and what it was welcomed with.
    fn join(&self, room: &str, name: &str) -> (Client, Value) {
        let mut client = self.connect();
        client.send(&json!({"type": "join", "room": room, "name": name}));
        let welcome = client.next();
        assert_eq!(welcome["type"], "welcome", "{welcome}");
        (client, welcome)
    }

    /// The status of the answer to a request that is written by hand.
    fn status(&self, request: &str) -> u16 {
        let mut stream = TcpStream::connect(self.at).expect("connected");
        stream.set_read_timeout(Some(LONG)).expect("set");
        stream.write_all(request.replace("HOST", &self.at.to_string()).as_bytes()).expect("written");
        let mut head = [0; 12];
        stream.read_exact(&mut head).expect("an answer");
        std::str::from_utf8(&head).ok().and_then(|head| head.rsplit(' ').next()?.parse().ok()).expect("a status")
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.program.0), signal).expect("a process of ours");
    }

    fn is_listening(&self) -> bool {
        TcpStream::connect(self.at).is_ok()
    }
}

struct Client(WebSocket<TcpStream>);

impl Client {
    fn send(&mut self, message: &Value) {
        self.0.send(Message::text(message.to_string())).expect("sent");
    }

    fn say(&mut self, text: &str) {
        self.send(&json!({"type": "say", "text": text}));
    }

    /// The next message to the user.
    fn next(&mut self) -> Value {
        loop {
            match self.0.read().expect("a message") {
                Message::Text(text) => return serde_json::from_str(&text).expect("JSON"),
                Message::Ping(_) => (),
                other => panic!("it was to say something, not {other:?}"),
            }
        }
    }

    /// The next of this type; what comes before it is passed over.
    fn next_of(&mut self, kind: &str) -> Value {
        loop {
            let message = self.next();
            if message["type"] == kind {
                return message;
            }
        }
    }

    /// By what the server closes; what comes before it is passed over.
    fn closed_by(&mut self) -> CloseCode {
        loop {
            if let Message::Close(frame) = self.0.read().expect("a close") {
                return frame.expect("a reason").code;
            }
        }
    }

    /// Closes, and waits until the server has.
    fn close(mut self) {
        self.0.close(None).expect("sent");
        while self.0.read().is_ok() {}
    }
}

fn texts(lines: &Value) -> Vec<&str> {
    lines.as_array().expect("lines").iter().map(|line| line["text"].as_str().expect("text")).collect()
}

mod clients_of_a_room {
    use super::*;

    #[test]
    fn hear_each_other_and_who_comes_and_goes() {
        let chat = Chat::start(&[]);
        let (mut ada, welcome) = chat.join("lobby", "Ada");
        assert_eq!(welcome["people"], json!(["Ada"]));
        let (mut bob, welcome) = chat.join("lobby", " Bob ");
        assert_eq!((&welcome["people"], &welcome["name"]), (&json!(["Ada", "Bob"]), &json!("Bob")));
        assert_eq!(ada.next(), json!({"type": "joined", "name": "Bob"}));
        ada.say("hello, <b>Bob</b>");
        for client in [&mut ada, &mut bob] {
            let said = client.next();
            assert_eq!((&said["type"], &said["name"]), (&json!("said"), &json!("Ada")));
            assert_eq!(said["text"], "hello, <b>Bob</b>");
        }
        bob.close();
        assert_eq!(ada.next(), json!({"type": "left", "name": "Bob"}));
    }

    #[test]
    fn do_not_hear_those_of_another() {
        let chat = Chat::start(&[]);
        let ((mut ada, _), (mut bob, _)) = (chat.join("one", "Ada"), chat.join("other", "Ada"));
        ada.say("to one");
        bob.say("to the other");
        assert_eq!(ada.next()["text"], "to one");
        assert_eq!(bob.next()["text"], "to the other");
    }

    #[test]
    fn who_come_later_are_shown_the_last_lines_and_then_each_once() {
        let chat = Chat::start(&["--history", "3"]);
        let (mut ada, _) = chat.join("lobby", "Ada");
        // A client joins while much is said: each line is in what it is shown, or comes after that.
        let says = thread::spawn(move || {
            for n in 0..300 {
                ada.say(&n.to_string());
                ada.next_of("said");
            }
            ada
        });
        for n in 0..20 {
            let (mut bob, welcome) = chat.join("lobby", &format!("Bob {n}"));
            let mut seen: Vec<u32> = texts(&welcome["history"]).iter().map(|n| n.parse().expect("n")).collect();
            assert!(seen.len() <= 3, "{seen:?}");
            while seen.len() < 6 && seen.last() != Some(&299) {
                seen.push(bob.next_of("said")["text"].as_str().expect("text").parse().expect("n"));
            }
            assert!(seen.windows(2).all(|two| two[0] + 1 == two[1]), "{seen:?}");
        }
        let _ada = says.join().expect("no panic");
        let (_, welcome) = chat.join("lobby", "Eve");
        assert_eq!(texts(&welcome["history"]), ["297", "298", "299"]);
    }
}

/// Says so many lines of 4000 bytes, with their numbers, each as soon as the one before has come back.
fn flood(client: &mut Client, lines: u32) {
    for n in 0..lines {
        client.say(&format!("{n:04000}"));
        client.next_of("said");
    }
}

const FLOOD: u32 = 600;

#[test]
fn a_slow_client_holds_nobody_up_and_is_told_what_it_missed() {
    let chat = Chat::start(&["--backlog", "16"]);
    let (mut slow, _) = chat.join("lobby", "Slow");
    let (mut ada, _) = chat.join("lobby", "Ada");
    flood(&mut ada, FLOOD);
    let (mut next, mut missed) = (0, 0);
    assert_eq!(slow.next(), json!({"type": "joined", "name": "Ada"}));
    while next < u64::from(FLOOD) {
        let message = slow.next();
        if message["type"] == "missed" {
            assert_eq!(message["people"], json!(["Ada", "Slow"]));
            let count = message["count"].as_u64().expect("a number");
            (next, missed) = (next + count, missed + count);
        } else {
            assert_eq!(message["text"].as_str().expect("text").parse(), Ok(next));
            next += 1;
        }
    }
    assert!(missed > 100, "{missed} lines were missed, and the system has kept the others");
}

mod a_message {
    use super::*;

    #[test]
    fn that_is_too_long_ends_its_client_alone() {
        let chat = Chat::start(&["--max-line", "200"]);
        let ((mut ada, _), (mut bob, _)) = (chat.join("lobby", "Ada"), chat.join("lobby", "Bob"));
        bob.say(&"b".repeat(2_000_000));
        assert_eq!(bob.closed_by(), CloseCode::Size);
        assert_eq!(ada.next_of("left")["name"], "Bob");
        ada.say(&"a".repeat(150));
        assert_eq!(ada.next()["type"], "said");
    }

    #[test]
    fn that_makes_no_sense_is_an_error_and_the_client_stays() {
        let chat = Chat::start(&[]);
        let mut ada = chat.connect();
        let mut error = |message: Value, text: &str| {
            ada.send(&message);
            let reply = ada.next();
            assert!(reply["type"] == "error" && reply["text"].as_str().expect("text").contains(text), "{reply}");
        };
        error(json!("hello"), "this cannot be understood");
        error(json!({"type": "join", "room": "a"}), "missing field `name`");
        error(json!({"type": "say", "text": "hello"}), "you are in no room");
        error(json!({"type": "join", "room": "a", "name": " "}), "the name is empty");
        error(json!({"type": "join", "room": "a\nb", "name": "Ada"}), "the room has control characters");
        error(json!({"type": "join", "room": "a", "name": "ä".repeat(25)}), "the name is longer than 24");
        let (_bob, _) = chat.join("a", "Bob");
        error(json!({"type": "join", "room": "a", "name": "Bob"}), "this name is taken");
        ada.send(&json!({"type": "join", "room": "a", "name": "Ada"}));
        assert_eq!(ada.next()["type"], "welcome");
    }

    #[test]
    fn that_is_no_text_ends_its_client() {
        let chat = Chat::start(&[]);
        let (mut ada, _) = chat.join("lobby", "Ada");
        ada.0.send(Message::binary(vec![1, 2, 3])).expect("sent");
        assert_eq!(ada.closed_by(), CloseCode::Unsupported);
    }
}

mod a_client {
    use super::*;

    #[test]
    fn that_answers_pings_stays_and_one_that_does_not_is_cut_off() {
        let chat = Chat::start(&["--ping", "0.2"]);
        let ((mut ada, _), (mut mute, _)) = (chat.join("lobby", "Ada"), chat.join("lobby", "Mute"));
        // Ada reads, and so answers; the other does neither.
        let from = Instant::now();
        assert_eq!(ada.next_of("left")["name"], "Mute");
        assert!(from.elapsed() >= Duration::from_millis(300), "{:?}", from.elapsed());
        assert_eq!(mute.closed_by(), CloseCode::Policy);
        ada.say("I am here");
        assert_eq!(ada.next()["text"], "I am here");
    }

    const UPGRADE: &str = "GET /ws HTTP/1.1\r\nhost: HOST\r\nconnection: keep-alive, Upgrade\r\nupgrade: websocket\r\n\
                           sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

    #[test]
    fn whose_handshake_is_none_is_refused() {
        let chat = Chat::start(&[]);
        assert_eq!(chat.status(&format!("{UPGRADE}\r\n")), 101);
        assert_eq!(chat.status(&format!("{UPGRADE}\r\n").replace("13\r\n", "12\r\n")), 400);
        assert_eq!(chat.status(&format!("{UPGRADE}\r\n").replace("dGhl", "")), 400);
        assert_eq!(chat.status("GET /ws HTTP/1.1\r\nhost: HOST\r\n\r\n"), 400);
        assert_eq!(chat.status("GET / HTTP/1.1\r\nhost: HOST\r\n\r\n"), 200);
        assert_eq!(chat.status("GET /other HTTP/1.1\r\nhost: HOST\r\n\r\n"), 404);
        assert_eq!(chat.status("no HTTP at all\r\n\r\n"), 400);
    }

    #[test]
    fn of_another_sites_page_is_refused() {
        let chat = Chat::start(&[]);
        assert_eq!(chat.status(&format!("{UPGRADE}origin: http://HOST\r\n\r\n")), 101);
        assert_eq!(chat.status(&format!("{UPGRADE}origin: http://example.org\r\n\r\n")), 403);
        assert_eq!(chat.status(&format!("{UPGRADE}origin: null\r\n\r\n")), 403);
    }

    #[test]
    fn for_whom_there_is_no_room_left_is_refused_until_another_goes() {
        let chat = Chat::start(&["--max-clients", "1"]);
        let (ada, _) = chat.join("lobby", "Ada");
        assert_eq!(chat.status(&format!("{UPGRADE}\r\n")), 503);
        ada.close();
        until("room again", || chat.status(&format!("{UPGRADE}\r\n")) == 101);
    }
}

mod asked_to_end {
    use super::*;

    #[test]
    fn it_tells_its_clients_and_goes_without_an_error() {
        for signal in [Signal::TERM, Signal::INT] {
            let mut chat = Chat::start(&["--grace", "1000"]);
            let ((mut ada, _), mut stranger) = (chat.join("lobby", "Ada"), chat.connect());
            chat.signal(signal);
            assert_eq!(ada.closed_by(), CloseCode::Away);
            assert_eq!(stranger.closed_by(), CloseCode::Away);
            drop((ada, stranger));
            assert!(chat.program.0.wait().expect("its end").success());
        }
    }

    /// A client that takes nothing: the server is at a write to it.
    fn stuck(chat: &Chat) -> Client {
        let (stuck, _) = chat.join("lobby", "Stuck");
        let (mut ada, _) = chat.join("lobby", "Ada");
        flood(&mut ada, FLOOD);
        ada.close();
        stuck
    }

    #[test]
    fn it_cuts_off_who_takes_nothing() {
        let mut chat = Chat::start(&["--grace", "0.3", "--ping", "1000"]);
        let _stuck = stuck(&chat);
        chat.signal(Signal::TERM);
        assert!(chat.program.0.wait().expect("its end").success());
    }

    #[test]
    fn twice_it_goes_at_once() {
        let mut chat = Chat::start(&["--grace", "1000", "--ping", "1000"]);
        let _stuck = stuck(&chat);
        chat.signal(Signal::TERM);
        until("closed", || !chat.is_listening());
        chat.signal(Signal::TERM);
        assert_eq!(chat.program.0.wait().expect("its end").code(), Some(1));
    }
}

#[test]
fn the_page_in_a_browser_is_a_client_like_others() {
    let Some(browser) = Browser::start("chat") else { return };
    let mut chat = Chat::start(&["--grace", "1000"]);
    let (mut eve, _) = chat.join("garden", "Eve");
    eve.say("first");
    let url = format!("http://{}/#garden", chat.at);
    browser.open(&url);
    let first = browser.tab();
    browser.type_into("#name", "Eve");
    browser.click("#join");
    browser.until_text("#error", "this name is taken");
    browser.type_into("#name", "Ada");
    browser.click("#join");
    browser.until_text("#lines", "first");
    browser.until_text("#people", "Ada (you)\nEve");
    assert_eq!(browser.text("#status"), "connected");

    let second = browser.open_tab(&url);
    browser.type_into("#name", "Bob");
    browser.click("#join");
    browser.until_text("#people", "Ada\nBob (you)\nEve");
    browser.type_into("#text", "<img src=x onerror=alert(1)> hello\n");
    browser.until_text("#lines .own", "<img src=x onerror=alert(1)> hello");

    browser.look_at(&first);
    browser.until_text("#lines", "Bob has come");
    browser.until_text("#lines", "<img src=x onerror=alert(1)> hello");
    assert_eq!(browser.run("return document.querySelectorAll('#lines img').length"), json!(0));
    assert_eq!(eve.next_of("joined")["name"], "Ada");
    assert_eq!(eve.next_of("said")["text"], "<img src=x onerror=alert(1)> hello");
    assert_eq!(browser.complaints(), [""; 0], "the page is not as its own policy wants it");

    eve.close();
    browser.until_text("#lines", "Eve has gone");
    chat.signal(Signal::TERM);
    browser.until_text("#status", "the server has ended");
    browser.look_at(&second);
    browser.until_text("#status", "the server has ended");
    assert!(chat.program.0.wait().expect("its end").success());
}

#[test]
fn bad_input_is_an_error() {
    for (args, message) in [
        (
            &["--listen", "everywhere"][..],
            "--listen is an IP address and a port, such as 127.0.0.1:8080, not `everywhere`",
        ),
        (&["--backlog", "0"], "--backlog is 1 to 100000, not `0`"),
        (&["--ping", "0"], "--ping is more than 0 seconds"),
        (&["--grace", "soon"], "--grace is a number of seconds, not `soon`"),
        (&["--history"], "--history wants a value"),
        (&["--quick"], "unknown option `--quick`"),
    ] {
        let output = Command::new(program()).args(args).output().expect("started");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(message), "{args:?}: {said}");
    }
    let chat = Chat::start(&[]);
    let output = Command::new(program()).args(["--listen", &chat.at.to_string()]).output().expect("started");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && said.contains(&chat.at.to_string()), "{said}");
    let help = Command::new(program()).arg("--help").output().expect("started");
    assert!(help.status.success() && String::from_utf8_lossy(&help.stdout).contains("--max-line BYTES"));
}
