//! Child processes: their pipes, their ends, and that no zombie is left.

#![cfg(target_os = "linux")]

use rustix::process::{Pid, Signal, kill_process};
use spinpark::process::{Child, Command, Stdio};
use spinpark::{Runtime, spawn, time};
use std::future::Future;
use std::io::ErrorKind;
use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

/// Seconds after which something hangs.
const LONG: Duration = Duration::from_secs(60);

fn run<F: Future>(future: F) -> F::Output {
    let runtime = Runtime::builder().procs(2).build().expect("a runtime");
    runtime.block_on(async { time::timeout(LONG, future).await.expect("it hangs") }).expect("no deadlock")
}

fn sh(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(script);
    command
}

fn is_there(pid: u32) -> bool {
    std::fs::exists(format!("/proc/{pid}")).expect("/proc can be read")
}

/// Until the process is no more, not even as a zombie.
async fn until_gone(pid: u32) {
    let from = Instant::now();
    while is_there(pid) {
        assert!(from.elapsed() < Duration::from_secs(20), "{pid} is there still");
        time::sleep(Duration::from_millis(2)).await;
    }
}

async fn lines(child: &mut Child) -> String {
    let (stdout, mut buffer) = (child.stdout.as_ref().expect("a pipe"), [0; 1000]);
    let n = stdout.read(&mut buffer).await.expect("read");
    String::from_utf8_lossy(&buffer[..n]).into_owned()
}

mod a_child {
    use super::*;

    #[test]
    fn ends_with_its_status() {
        run(async {
            assert_eq!(sh("exit 7").status().await.expect("a status").code(), Some(7));
            let mut child = sh("kill -TERM $$").spawn().expect("started");
            let status = child.wait().await.expect("a status");
            assert_eq!(status.signal(), Some(Signal::TERM.as_raw()));
            assert_eq!(child.wait().await.expect("the same"), status);
            assert_eq!((child.id(), child.try_wait().expect("the same")), (None, Some(status)));
        });
    }

    #[test]
    fn gives_what_it_has_written_to_both_pipes() {
        run(async {
            // More than fits into a pipe, to both by turns.
            let script =
                "i=0; while [ $i -lt 20 ]; do head -c 10000 /dev/zero; head -c 10000 /dev/zero >&2; i=$((i+1)); done";
            let output = sh(script).output().await.expect("an output");
            assert!(output.status.success());
            assert_eq!((output.stdout.len(), output.stderr.len()), (200_000, 200_000));
        });
    }

    #[test]
    fn reads_what_is_written_to_it_until_that_is_closed() {
        run(async {
            let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("started");
            let stdin = child.stdin.take().expect("a pipe");
            let sent: Vec<u8> = (0..500_000_u32).map(|n| (n % 251) as u8).collect();
            let writes = spawn({
                let sent = sent.clone();
                async move { stdin.write_all(&sent).await }
            });
            let output = child.wait_with_output().await.expect("an output");
            writes.await.expect("no panic").expect("written");
            assert!(output.stdout == sent, "{} bytes came back", output.stdout.len());
        });
    }

    #[test]
    fn of_a_command_that_is_used_again_has_the_streams_that_were_chosen() {
        run(async {
            let to = std::env::temp_dir().join(format!("spinpark-streams-{}", std::process::id()));
            let mut command =
                sh("leads=$(readlink /proc/$$/fd/0 /proc/$$/fd/1 /proc/$$/fd/2); echo \"$leads\" >\"$TO\"");
            command.env("TO", &to);
            let ours: Vec<_> = (0..3)
                .map(|fd| std::fs::read_link(format!("/proc/self/fd/{fd}")).expect("a link").display().to_string())
                .collect();
            for outputs in [false, true, true, false, false] {
                let status = match outputs {
                    true => command.output().await.expect("an output").status,
                    false => command.status().await.expect("a status"),
                };
                assert!(status.success());
                let leads = std::fs::read_to_string(&to).expect("written");
                let leads: Vec<_> = leads.lines().collect();
                match outputs {
                    true => assert!(leads[0] == "/dev/null" && leads[1] != ours[1] && leads[2] != ours[2], "{leads:?}"),
                    false => assert_eq!(leads, ours),
                }
            }
            std::fs::remove_file(&to).expect("removed");
            // What was chosen stays so.
            command.stderr(Stdio::piped()).output().await.expect("an output");
            let child = command.spawn().expect("started");
            assert!(child.stdin.is_none() && child.stdout.is_none() && child.stderr.is_some());
            child.wait_with_output().await.expect("an end");
            std::fs::remove_file(&to).expect("removed");
        });
    }

    #[test]
    fn that_waits_for_its_input_ends_when_it_is_waited_for() {
        run(async {
            let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().expect("started");
            assert!(child.wait().await.expect("a status").success());
        });
    }

    #[test]
    fn can_be_waited_for_again_after_the_wait_was_dropped() {
        run(async {
            let mut child = sh("read x; exit 3").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("started");
            let stdin = child.stdin.take();
            assert!(time::timeout(Duration::from_millis(30), child.wait()).await.is_err(), "it has ended already");
            assert!(child.try_wait().expect("asked").is_none());
            drop(stdin);
            assert_eq!(child.wait().await.expect("a status").code(), Some(3));
        });
    }

    #[test]
    fn is_killed() {
        run(async {
            let mut child = Command::new("sleep").arg("1000").spawn().expect("started");
            child.kill().await.expect("killed");
            assert_eq!(child.wait().await.expect("a status").signal(), Some(Signal::KILL.as_raw()));
            child.kill().await.expect("it has ended, and that is no error");
        });
    }

    #[test]
    fn has_the_arguments_the_environment_and_the_folder_it_was_given() {
        run(async {
            let mut command = sh("echo $A-$B-$1; pwd");
            command.args(["name", "one"]).env("A", "a").env("B", "b").env_remove("B").current_dir("/");
            let output = command.output().await.expect("an output");
            assert_eq!(String::from_utf8_lossy(&output.stdout), "a--one\n/\n");
            let mut bare = Command::new("/usr/bin/env");
            let output = bare.env_clear().envs([("C", "c")]).output().await.expect("an output");
            assert_eq!(output.stdout, b"C=c\n");
        });
    }

    #[test]
    fn in_a_group_of_its_own_is_signalled_with_its_children() {
        run(async {
            let mut child =
                sh("sleep 1000 & echo $!; wait").process_group(0).stdout(Stdio::piped()).spawn().expect("started");
            let grandchild: u32 = lines(&mut child).await.trim().parse().expect("a number");
            let group = Pid::from_raw(child.id().expect("it runs") as i32).expect("a number");
            rustix::process::kill_process_group(group, Signal::KILL).expect("signalled");
            assert_eq!(child.wait().await.expect("a status").signal(), Some(Signal::KILL.as_raw()));
            // Its parent is init now, or the reaper here; dead it is in any case.
            let from = Instant::now();
            loop {
                let stat = std::fs::read_to_string(format!("/proc/{grandchild}/stat")).unwrap_or_default();
                if stat.is_empty() || stat.contains(") Z ") {
                    break;
                }
                assert!(from.elapsed() < LONG, "{stat}");
                time::sleep(Duration::from_millis(2)).await;
            }
        });
    }
}

mod no_zombie_is_left {
    use super::*;

    #[test]
    fn by_a_child_that_was_waited_for() {
        run(async {
            let mut child = sh("exit 0").spawn().expect("started");
            let pid = child.id().expect("it runs");
            child.wait().await.expect("a status");
            assert!(!is_there(pid));
        });
    }

    #[test]
    fn by_one_that_was_dropped_and_runs_on() {
        run(async {
            let mut child = sh("echo x; read y").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("started");
            let (pid, stdin) = (child.id().expect("it runs"), child.stdin.take());
            assert_eq!(lines(&mut child).await, "x\n");
            drop(child);
            time::sleep(Duration::from_millis(30)).await;
            assert!(is_there(pid), "it should run on");
            drop(stdin);
            until_gone(pid).await;
        });
    }

    #[test]
    fn by_one_that_is_killed_when_it_is_dropped() {
        run(async {
            let child = Command::new("sleep").arg("1000").kill_on_drop(true).spawn().expect("started");
            let pid = child.id().expect("it runs");
            drop(child);
            until_gone(pid).await;
            // A future that is dropped has its child with it.
            let path = std::env::temp_dir().join(format!("spinpark-killed-{}", std::process::id()));
            let mut sleeps = sh(&format!("echo $$ > {}; exec sleep 1000", path.display()));
            assert!(time::timeout(Duration::from_millis(300), sleeps.kill_on_drop(true).status()).await.is_err());
            let pid = std::fs::read_to_string(&path).expect("its number").trim().parse().expect("a number");
            until_gone(pid).await;
            std::fs::remove_file(path).expect("removed");
        });
    }

    #[test]
    fn by_one_whose_runtime_is_gone() {
        let child = run(async { Command::new("sleep").arg("1000").kill_on_drop(true).spawn().expect("started") });
        let pid = child.id().expect("it runs");
        drop(child);
        run(until_gone(pid));
    }

    #[test]
    fn by_many_at_once() {
        run(async {
            let children: Vec<_> = (0..100)
                .map(|n: i32| {
                    spawn(async move {
                        let mut child = sh(&format!("exit {}", n % 50)).spawn().expect("started");
                        let pid = child.id().expect("it runs");
                        // Some are waited for, some dropped.
                        if n % 4 != 0 {
                            assert_eq!(child.wait().await.expect("a status").code(), Some(n % 50));
                        }
                        pid
                    })
                })
                .collect();
            for child in children {
                until_gone(child.await.expect("no panic")).await;
            }
        });
    }
}

mod bad_input {
    use super::*;

    #[test]
    fn is_an_error_of_spawn() {
        run(async {
            let error = Command::new("/no/such/program").spawn().expect_err("there is none");
            assert_eq!(error.kind(), ErrorKind::NotFound);
            let error = sh("true").current_dir("/no/such/folder").status().await.expect_err("there is none");
            assert_eq!(error.kind(), ErrorKind::NotFound);
            let error = Command::new("a\0b").output().await.expect_err("no name");
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
        });
    }

    #[test]
    fn outside_of_a_runtime_nothing_is_started() {
        let path = std::env::temp_dir().join(format!("spinpark-process-{}", std::process::id()));
        let error = Command::new("touch").arg(&path).spawn().expect_err("there is no runtime");
        assert!(error.get_ref().is_some_and(|inner| inner.is::<spinpark::NotInRuntime>()), "{error}");
        assert!(!path.exists());
    }
}

/// A task that only waits for a child costs no thread, and the child's end wakes it at once.
#[test]
fn a_child_that_is_waited_for_is_no_thread_that_waits() {
    let runtime = Runtime::builder().procs(2).build().expect("a runtime");
    runtime
        .block_on(async {
            let children: Vec<_> =
                (0..20).map(|_| sh("read x").stdin(Stdio::piped()).spawn().expect("started")).collect();
            let pids: Vec<_> = children.iter().map(|child| child.id().expect("it runs")).collect();
            let waits: Vec<_> = children
                .into_iter()
                .map(|mut child| {
                    spawn(async move {
                        let stdin = child.stdin.take();
                        let status = child.wait().await.expect("a status");
                        (status, stdin)
                    })
                })
                .collect();
            time::sleep(Duration::from_millis(50)).await;
            // One thread for each child is what there would be without descriptors of processes.
            let threads = std::fs::read_dir("/proc/self/task").expect("threads").flatten();
            let is_waiting = |name: &String| name.starts_with("spinpark-wait");
            let names = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("comm")).ok());
            assert_eq!(names.filter(is_waiting).count(), 0);
            for pid in pids {
                kill_process(Pid::from_raw(pid as i32).expect("a number"), Signal::KILL).expect("killed");
            }
            for wait in waits {
                assert_eq!(wait.await.expect("no panic").0.signal(), Some(Signal::KILL.as_raw()));
            }
        })
        .expect("no deadlock");
}
