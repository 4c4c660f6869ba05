//! The standard streams: what a child process of this test reads and writes.

#![cfg(unix)]

use spinpark::{Runtime, io, time};
use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What the child plays.
const PART: &str = "SPINPARK_TEST_STANDARD";

/// In the child: copies the standard input, or gives up on it.
#[test]
#[ignore = "the other tests start it, in a process of its own"]
fn plays_its_part() {
    let runtime = Runtime::builder().procs(1).build().expect("a runtime");
    match std::env::var(PART).expect("a part").as_str() {
        "copies" => runtime.block_on(copies()),
        "gives up" => runtime.block_on(gives_up()),
        part => panic!("{part}"),
    }
    .expect("no deadlock")
    .expect("no error");
    drop(runtime);
    std::process::exit(7);
}

async fn copies() -> std::io::Result<()> {
    let (mut input, output, mut buffer) = (io::stdin()?, io::stdout(), [0; 1000]);
    output.write_all(b"begins\n").await?;
    loop {
        match input.read(&mut buffer).await? {
            0 => break,
            n => output.write_all(&buffer[..n]).await?,
        }
    }
    print!("ends"); // std's and this are the same
    output.write_all(b".").await?;
    io::stderr().write_all(b"a message").await
}

/// Nobody writes, and the runtime ends all the same.
async fn gives_up() -> std::io::Result<()> {
    let mut input = io::stdin()?;
    let waited = time::timeout(Duration::from_millis(50), input.read(&mut [0; 10])).await;
    assert!(waited.is_err(), "nobody has written");
    spinpark::spawn(async move { input.read(&mut [0; 10]).await });
    spinpark::yield_now().await;
    Ok(())
}

fn start(part: &str, input: Stdio) -> Child {
    Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "--nocapture", "--ignored", "plays_its_part"])
        .env(PART, part)
        .stdin(input)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started")
}

/// What it has written, after the harness's own words.
fn said(child: Child) -> String {
    let output = child.wait_with_output().expect("an output");
    let said = String::from_utf8(output.stdout).expect("text");
    let messages = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(7), "{said}\n{messages}");
    assert!(messages.ends_with("a message"), "{messages}");
    said.split_once("begins\n").expect("it begins").1.to_owned()
}

#[test]
fn a_pipe_is_copied_as_it_comes() {
    let mut child = start("copies", Stdio::piped());
    let (mut input, output) = (child.stdin.take().expect("a pipe"), child.stdout.as_mut().expect("a pipe"));
    let mut until = |word: &str| {
        let (mut came, mut one) = (String::new(), [0]);
        while !came.ends_with(word) {
            assert_eq!(output.read(&mut one).expect("read"), 1, "it ended after {came}");
            came.push(one[0].into());
        }
    };
    until("begins\n");
    for word in ["one", "two", "three"] {
        input.write_all(word.as_bytes()).expect("written");
        until(word);
    }
    drop(input);
    until("ends.");
    assert_eq!(child.wait().expect("a status").code(), Some(7));
}

#[test]
fn a_file_is_copied() {
    let file = File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).expect("a file");
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).expect("text");
    assert_eq!(said(start("copies", file.into())), format!("{text}ends."));
}

#[test]
fn nothing_is_copied() {
    assert_eq!(said(start("copies", Stdio::null())), "ends.");
}

#[test]
fn a_read_is_given_up_and_the_process_ends_though_nobody_writes() {
    let from = Instant::now();
    let mut child = start("gives up", Stdio::piped());
    let _input = child.stdin.take().expect("a pipe");
    assert_eq!(child.wait().expect("a status").code(), Some(7));
    assert!(from.elapsed() < Duration::from_secs(30), "it took its time");
}

#[test]
fn the_input_outside_of_a_runtime_is_an_error() {
    let error = io::stdin().expect_err("there is no runtime");
    assert!(error.get_ref().is_some_and(|inner| inner.is::<spinpark::NotInRuntime>()), "{error}");
}
