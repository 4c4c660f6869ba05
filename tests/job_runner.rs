//! examples/job_runner, with the shell's own processes as jobs, and xargs as its counterpart.

#![cfg(target_os = "linux")]

use crate::programs::{Folder, LONG, built, is_there, until};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

fn program() -> String {
    built("job_runner", "process,signal")
}

fn start(options: &[&str], jobs: &str) -> Child {
    let mut child = Command::new(program())
        .args(options)
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    child.stdin.take().expect("a pipe").write_all(own(jobs).as_bytes()).expect("it reads");
    child
}

/// Its sleeps are unique on this machine: 123.5 is 123.54711 in the process 4711.
fn own(jobs: &str) -> String {
    let me = std::process::id();
    let mut jobs = jobs.to_owned();
    for seconds in ["123.25", "123.5", "123.75", "124.25", "124.5", "124.75"] {
        jobs = jobs.replace(&format!("sleep {seconds}"), &format!("sleep {seconds}{me}"));
    }
    jobs
}

struct Ran {
    code: Option<i32>,
    /// What each job has written.
    lines: BTreeMap<String, Vec<String>>,
    messages: String,
}

impl Ran {
    fn of(output: Output) -> Ran {
        let mut lines = BTreeMap::<_, Vec<_>>::new();
        for line in String::from_utf8(output.stdout).expect("text").lines() {
            let (name, line) = line.split_once(" | ").expect("a name before it");
            lines.entry(name.to_owned()).or_default().push(line.to_owned());
        }
        Ran { code: output.status.code(), lines, messages: String::from_utf8_lossy(&output.stderr).into_owned() }
    }

    fn says(&self, words: &str) {
        assert!(self.messages.contains(words), "no word of `{words}` in:\n{}", self.messages);
    }
}

fn run(options: &[&str], jobs: &str) -> Ran {
    Ran::of(start(options, jobs).wait_with_output().expect("an output"))
}

/// A unique sleep, and whether it goes on.
fn is_asleep(seconds: &str) -> bool {
    let processes = std::fs::read_dir("/proc").expect("processes").flatten();
    let mut commands = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    let sought = own(&format!("sleep {seconds}")).replace(' ', "\0") + "\0";
    commands.any(|command| command == sought.as_bytes())
}

#[test]
fn it_does_what_xargs_does() {
    if !is_there("xargs", "--help", "-P") {
        return;
    }
    let numbers: Vec<u32> = (0..60).collect();
    let command = |n: &dyn std::fmt::Display| format!("i=0; while [ $i -lt {n} ]; do echo {n}-$i; i=$((i+1)); done");
    let jobs: String = numbers.iter().map(|n| format!("j{n} : {}\n", command(n))).collect();
    let ours = run(&["--jobs", "8"], &jobs);
    let mut xargs = Command::new("xargs")
        .args(["-P", "8", "-I", "N", "sh", "-c", &command(&"N")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("xargs is there");
    let list: String = numbers.iter().map(|n| format!("{n}\n")).collect();
    xargs.stdin.take().expect("a pipe").write_all(list.as_bytes()).expect("it reads");
    let theirs = xargs.wait_with_output().expect("an output");
    assert_eq!((ours.code, theirs.status.code()), (Some(0), Some(0)), "{}", ours.messages);
    // Lines of one job keep their order; those of several come as they come.
    let mut lines = BTreeMap::<_, Vec<_>>::new();
    for line in String::from_utf8(theirs.stdout).expect("text").lines() {
        lines.entry(format!("j{}", line.split('-').next().expect("a number"))).or_default().push(line.to_owned());
    }
    assert_eq!(ours.lines, lines);
}

#[test]
fn so_many_run_at_once_as_it_was_told() {
    let folder = Folder::new("places");
    // Each counts those that are there beside it.
    let path = folder.0.display();
    let jobs: String =
        (0..12).map(|n| format!("j{n} : cd {path}; touch {n}; ls | wc -l; sleep 0.1; rm {n}\n")).collect();
    let ran = run(&["--jobs", "3"], &jobs);
    assert_eq!(ran.code, Some(0), "{}", ran.messages);
    let counts: Vec<usize> = ran.lines.values().map(|lines| lines[0].trim().parse().expect("a number")).collect();
    let most = counts.iter().max().expect("twelve");
    assert!((2..=3).contains(most), "{counts:?}");
}

#[test]
fn a_job_that_fails_is_tried_again() {
    let folder = Folder::new("tries");
    let path = folder.0.join("count");
    let path = path.display();
    // It succeeds at the third try.
    let jobs = format!(
        "good retries=5 : echo x >> {path}; test $(wc -l < {path}) -ge 3\n\
         bad retries=1 : echo try; exit 9\n"
    );
    let ran = run(&[], &jobs);
    assert_eq!(ran.code, Some(1));
    ran.says("good  succeeded");
    ran.says("bad   failed: exit status: 9");
    ran.says("1 succeeded, 1 failed, 0 cancelled");
    assert_eq!(ran.lines["bad"], ["try", "try"]);
}

mod a_limit {
    use super::*;

    #[test]
    fn of_time_ends_the_job_with_its_children() {
        let from = Instant::now();
        let ran = run(&[], "late timeout=200ms : sleep 123.25 & sleep 123.25\n");
        assert_eq!(ran.code, Some(1));
        ran.says("late  failed: it took longer than 200ms");
        assert!(from.elapsed() < LONG);
        until("gone", || !is_asleep("123.25"));
    }

    #[test]
    fn of_output_ends_a_job_that_writes_without_end() {
        let ran = run(&[], "noisy output=100 : yes\n");
        assert_eq!(ran.code, Some(1));
        ran.says("noisy  failed: it wrote more than 100 bytes");
        assert_eq!(ran.lines["noisy"].iter().map(|line| line.len() + 1).sum::<usize>(), 100);
    }

    #[test]
    fn of_memory_and_processor_time_are_the_systems() {
        let jobs = "large memory=20M : head -c 200000000 /dev/zero | tail > /dev/null\n\
                    busy cpu=1s timeout=60s : while :; do :; done\n\
                    modest memory=500M cpu=60s : echo fine\n";
        let ran = run(&[], jobs);
        assert_eq!(ran.code, Some(1));
        ran.says("busy    failed: signal");
        ran.says("large   failed");
        assert_eq!(ran.lines["modest"], ["fine"]);
    }
}

#[test]
fn what_a_job_has_left_running_is_killed_when_it_has_ended() {
    let ran = run(&[], "forgets : sleep 123.5 & echo ends\n");
    assert_eq!((ran.code, &ran.lines["forgets"][..]), (Some(0), &["ends".to_owned()][..]));
    until("gone", || !is_asleep("123.5"));
}

#[test]
fn the_first_that_fails_ends_all_if_that_is_wanted() {
    let jobs = "long : sleep 123.75\nbad : sleep 0.1; exit 1\nnext : echo no\nlast : echo no\n";
    let ran = run(&["--jobs", "2", "--fail-fast"], jobs);
    assert_eq!(ran.code, Some(1));
    ran.says("0 succeeded, 1 failed, 3 cancelled");
    assert!(ran.lines.is_empty());
    until("gone", || !is_asleep("123.75"));
}

mod asked_to_end {
    use super::*;

    /// Sends `signal` after the first line that a job writes.
    fn once_it_runs(mut child: Child, signals: &[Signal]) -> (Ran, Duration) {
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut text = String::new();
        output.read_line(&mut text).expect("a line");
        let from = Instant::now();
        for signal in signals {
            kill_process(Pid::from_child(&child), *signal).expect("a process of ours");
            // Two that come together are one.
            thread::sleep(Duration::from_millis(100));
        }
        output.read_to_string(&mut text).expect("text");
        let mut output = child.wait_with_output().expect("its end");
        output.stdout = text.into_bytes();
        (Ran::of(output), from.elapsed())
    }

    #[test]
    fn it_lets_jobs_end_and_starts_no_more() {
        let jobs = "polite : trap 'echo bye; exit 0' TERM; echo begins; sleep 124.25 & wait\nnext : echo no\n";
        let (ran, _) = once_it_runs(start(&["--jobs", "1"], jobs), &[Signal::TERM]);
        assert_eq!(ran.code, Some(128 + 15), "{}", ran.messages);
        assert_eq!(ran.lines["polite"], ["begins", "bye"]);
        assert!(!ran.lines.contains_key("next"));
        ran.says("0 succeeded, 0 failed, 2 cancelled");
        until("gone", || !is_asleep("124.25"));
    }

    const STUBBORN: &str = "stubborn : trap '' TERM; echo begins; while :; do sleep 124.5; done\n";

    #[test]
    fn it_kills_what_does_not_end_in_time() {
        let (ran, took) = once_it_runs(start(&["--grace", "0.3"], STUBBORN), &[Signal::INT]);
        assert_eq!(ran.code, Some(128 + 2), "{}", ran.messages);
        assert!(took >= Duration::from_millis(300), "it had no time");
        until("gone", || !is_asleep("124.5"));
    }

    #[test]
    fn twice_it_kills_at_once() {
        let (ran, took) = once_it_runs(
            start(&["--grace", "1000"], &STUBBORN.replace("124.5", "124.75")),
            &[Signal::TERM, Signal::TERM],
        );
        assert_eq!(ran.code, Some(128 + 15), "{}", ran.messages);
        assert!(took < LONG, "it took {took:?}");
        until("gone", || !is_asleep("124.75"));
    }

    #[test]
    fn it_ends_though_nobody_has_told_it_the_jobs() {
        let mut child = Command::new(program()).arg("-").stdin(Stdio::piped()).spawn().expect("started");
        let _input = child.stdin.take();
        let is_caught = || {
            let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).expect("its status");
            let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).expect("what is caught").trim();
            u64::from_str_radix(caught, 16).expect("a set") & 1 << (Signal::TERM.as_raw() - 1) != 0
        };
        until("listening", is_caught);
        thread::sleep(Duration::from_millis(50)); // the handler is there a moment before the listener
        kill_process(Pid::from_child(&child), Signal::TERM).expect("a process of ours");
        assert_eq!(child.wait().expect("its end").code(), Some(128 + 15));
    }
}

#[test]
fn bad_input_is_an_error_with_its_line() {
    for (jobs, message) in [
        ("a : true\nb true", "-:2: a job is `NAME [LIMIT=VALUE]... : COMMAND`"),
        ("a : true\n\na : true", "-:3: there are two jobs `a`"),
        ("a b : true", "-:1: `b` is no limit: LIMIT=VALUE"),
        ("a b=1 : true", "-:1: unknown limit `b`: there are retries, timeout, cpu, output and memory"),
        ("a timeout=10 : true", "-:1: timeout is a time, such as 500ms, 10s, 2m, not `10`"),
        ("a timeout=99999999999999999999s : true", "-:1: timeout is a time"),
        ("a memory=-1 : true", "-:1: memory is a size"),
        ("a/b : true", "-:1: `a/b` is no name"),
    ] {
        let ran = run(&[], jobs);
        assert_eq!(ran.code, Some(2), "{jobs}");
        ran.says(message);
        assert!(ran.lines.is_empty(), "{jobs}: something has run");
    }
    for (args, message) in [
        (&["--jobs", "0"][..], "--jobs is a number from 1 to 10000, not `0`"),
        (&["--grace"], "--grace wants a number"),
        (&["--quick"], "unknown option `--quick`"),
        (&["one", "two"], "one file is wanted, and 2 are given"),
        (&["/no/such/file"], "/no/such/file: No such file"),
    ] {
        let output = Command::new(program()).args(args).output().expect("started");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(message), "{args:?}: {said}");
    }
    let help = Command::new(program()).arg("--help").output().expect("started");
    assert!(help.status.success() && help.stdout.starts_with(b"usage: "));
}
