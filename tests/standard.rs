//! The standard streams: what a child process of this test reads and writes.

#![cfg(unix)]

use futures_lite::AsyncWriteExt;
use spinpark::{Runtime, io, time};
use std::fs::File;
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
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
        "copies by two" => runtime.block_on(copies_by_two()),
        "writes" => runtime.block_on(writes()),
        "knows its peer" => runtime.block_on(knows_its_peer()),
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

/// Two tasks read the standard input: one of them is always too late.
async fn copies_by_two() -> std::io::Result<()> {
    async fn copy() -> std::io::Result<()> {
        let (mut input, output, mut one) = (io::stdin()?, io::stdout(), [0]);
        while input.read(&mut one).await? > 0 {
            output.write_all(&one).await?;
        }
        Ok(())
    }
    io::stdout().write_all(b"begins\n").await?;
    let other = spinpark::spawn(copy());
    copy().await?;
    other.await.expect("no panic")?;
    io::stderr().write_all(b"a message").await
}

const MUCH: usize = 300_000;

/// More than fits a pipe, in each way there is.
async fn writes() -> std::io::Result<()> {
    let text = vec![b'x'; MUCH];
    let (mut output, mut errors) = (io::stdout(), io::stderr());
    output.write_all(b"begins\n").await?;
    output.write_all(&text).await?;
    output.write_all(&b"lines\n".repeat(MUCH / 6)).await?;
    AsyncWriteExt::write_all(&mut output, &text).await?;
    AsyncWriteExt::flush(&mut output).await?;
    AsyncWriteExt::write_all(&mut output, b"behind a buffer").await?;
    AsyncWriteExt::close(&mut output).await?;
    AsyncWriteExt::write_all(&mut errors, &text).await?;
    errors.write_all(b"a message").await
}

/// The process at the other end of the standard input is in a namespace that this one does not see.
async fn knows_its_peer() -> std::io::Result<()> {
    let input = std::os::unix::net::UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let peer = spinpark::net::unix::UnixStream::from_std(input)?.peer_cred()?;
    io::stdout().write_all(format!("begins\n{:?}", peer.pid()).as_bytes()).await?;
    io::stderr().write_all(b"a message").await
}

/// No input comes, and the runtime ends all the same.
async fn gives_up() -> std::io::Result<()> {
    let mut input = io::stdin()?;
    let waited = time::timeout(Duration::from_millis(50), input.read(&mut [0; 10])).await;
    assert!(waited.is_err(), "no input has come");
    spinpark::spawn(async move { input.read(&mut [0; 10]).await });
    spinpark::yield_now().await;
    Ok(())
}

fn start(part: &str, input: Stdio) -> Child {
    plays(Command::new(std::env::current_exe().expect("this program")), part, input, Stdio::piped())
}

fn plays(mut program: Command, part: &str, input: Stdio, output: Stdio) -> Child {
    program
        .args(["--exact", "--nocapture", "--ignored", "standard::plays_its_part"])
        .env(PART, part)
        .stdin(input)
        .stdout(output)
        .stderr(Stdio::piped())
        .spawn()
        .expect("started")
}

/// A pipe of which one end is in non-blocking mode: a parent, a shell or a runtime that shares the open file set it so.
fn shared_pipe(nonblocking: fn(&PipeReader, &PipeWriter) -> OwnedFd) -> (PipeReader, PipeWriter) {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    rustix::io::ioctl_fionbio(nonblocking(&reader, &writer), true).expect("set");
    (reader, writer)
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
fn an_output_in_non_blocking_mode_loses_nothing_though_its_reader_is_slow() {
    let (mut reader, writer) = shared_pipe(|_, writer| writer.as_fd().try_clone_to_owned().expect("a copy"));
    let (mut errors, error_writer) = shared_pipe(|_, writer| writer.as_fd().try_clone_to_owned().expect("a copy"));
    let mut program = Command::new(std::env::current_exe().expect("this program"));
    let mut child = program
        .args(["--exact", "--nocapture", "--ignored", "standard::plays_its_part"])
        .env(PART, "writes")
        .stdout(writer)
        .stderr(error_writer)
        .spawn()
        .expect("started");
    drop(program); // it has the ends that are written to
    let slowly = move |from: &mut PipeReader| {
        let (mut all, mut some) = (Vec::new(), [0; 3000]);
        loop {
            match from.read(&mut some).expect("read") {
                0 => return all,
                n => all.extend_from_slice(&some[..n]),
            }
            if all.len() < 200_000 {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    };
    let said = std::thread::scope(|scope| {
        let errors = scope.spawn(|| slowly(&mut errors));
        (slowly(&mut reader), errors.join().expect("read"))
    });
    let said = (String::from_utf8(said.0).expect("text"), String::from_utf8(said.1).expect("text"));
    assert_eq!(child.wait().expect("a status").code(), Some(7), "{}", said.1);
    let text = "x".repeat(MUCH);
    let wanted = format!("{text}{}{text}behind a buffer", "lines\n".repeat(MUCH / 6));
    let written = said.0.split_once("begins\n").expect("it begins").1;
    assert!(written == wanted, "{} of {} bytes", written.len(), wanted.len());
    assert!(said.1.ends_with(&format!("{text}a message")), "{} of {MUCH} bytes", said.1.len());
}

#[test]
fn an_input_in_non_blocking_mode_is_waited_for_again_by_a_reader_that_came_too_late() {
    let (reader, mut writer) = shared_pipe(|reader, _| reader.as_fd().try_clone_to_owned().expect("a copy"));
    let child = start("copies by two", reader.into());
    for _ in 0..3000 {
        writer.write_all(b"x").expect("written");
    }
    drop(writer);
    assert_eq!(said(child).len(), 3000);
}

/// Where a user may make namespaces.
#[cfg(target_os = "linux")]
#[test]
fn a_peer_that_cannot_be_seen_from_here_has_no_number() {
    let unshare = || {
        let mut unshare = Command::new("unshare");
        unshare.args(["--user", "--map-root-user", "--pid", "--fork"]);
        unshare
    };
    if !unshare().arg("true").status().is_ok_and(|status| status.success()) {
        eprintln!("not tried: there are no namespaces for us");
        return;
    }
    let (input, _ours) = std::os::unix::net::UnixStream::pair().expect("a pair");
    let mut program = unshare();
    program.arg(std::env::current_exe().expect("this program"));
    assert_eq!(said(plays(program, "knows its peer", OwnedFd::from(input).into(), Stdio::piped())), "None");
}

#[test]
fn the_input_outside_of_a_runtime_is_an_error() {
    let error = io::stdin().expect_err("there is no runtime");
    assert!(error.get_ref().is_some_and(|inner| inner.is::<spinpark::NotInRuntime>()), "{error}");
}
