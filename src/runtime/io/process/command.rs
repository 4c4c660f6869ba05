//! A program to be started: std's, and what std's does not know.

use crate::runtime::exec::blocking::syscall;
use crate::runtime::exec::yielding::proceed;
use crate::runtime::io::around;
use crate::runtime::io::process::child::Child;
use crate::runtime::io::process::reap;
use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{self, ExitStatus, Output, Stdio};

/// A program to be started, as [`std::process::Command`], from which it can be made.
///
/// ```
/// use spinpark::process::Command;
/// use std::process::Stdio;
///
/// # spinpark::run(async {
/// let mut command = Command::new("sh");
/// command.arg("-c").args(["echo $GREETING"]).arg0("a-shell").current_dir("/");
/// command.env("GREETING", "hello").envs([("A", "1"), ("B", "2")]).env_remove("A");
/// command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
/// command.kill_on_drop(true).process_group(0);
/// assert_eq!(command.output().await?.stdout, b"hello\n");
/// assert!(Command::new("true").status().await?.success());
/// assert!(Command::new("no such program").spawn().is_err());
/// if false {
///     command.uid(1000).gid(1000); // for a process that may
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
#[derive(Debug)]
pub struct Command {
    std: process::Command,
    kill_on_drop: bool,
    /// Which standard streams were chosen.
    chosen: [bool; 3],
}

impl Command {
    /// The program at this path, or by this name in `PATH`.
    ///
    /// ```
    /// # spinpark::run(async {
    /// assert!(spinpark::process::Command::new("true").status().await?.success());
    /// assert!(spinpark::process::Command::new("no-such-program").spawn().is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub fn new(program: impl AsRef<OsStr>) -> Command {
        process::Command::new(program).into()
    }

    /// One more argument.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let output = spinpark::process::Command::new("echo").arg("hello").output().await?;
    /// assert_eq!(output.stdout, b"hello\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub fn arg(&mut self, arg: impl AsRef<OsStr>) -> &mut Self {
        self.std.arg(arg);
        self
    }

    /// More arguments.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let output = spinpark::process::Command::new("echo").args(["a", "b"]).output().await?;
    /// assert_eq!(output.stdout, b"a b\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub fn args<I: IntoIterator<Item: AsRef<OsStr>>>(&mut self, args: I) -> &mut Self {
        self.std.args(args);
        self
    }

    /// Sets a variable of its environment.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let mut command = spinpark::process::Command::new("sh");
    /// let output = command.args(["-c", "echo $NAME"]).env("NAME", "ann").output().await?;
    /// assert_eq!(output.stdout, b"ann\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub fn env(&mut self, key: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> &mut Self {
        self.std.env(key, value);
        self
    }

    /// Sets variables of its environment.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let mut command = spinpark::process::Command::new("sh");
    /// let output = command.args(["-c", "echo $A$B"]).envs([("A", "1"), ("B", "2")]).output().await?;
    /// assert_eq!(output.stdout, b"12\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub fn envs<K: AsRef<OsStr>, V: AsRef<OsStr>>(&mut self, vars: impl IntoIterator<Item = (K, V)>) -> &mut Self {
        self.std.envs(vars);
        self
    }

    /// Takes a variable from its environment.
    pub fn env_remove(&mut self, key: impl AsRef<OsStr>) -> &mut Self {
        self.std.env_remove(key);
        self
    }

    /// Takes all variables from its environment.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let output = spinpark::process::Command::new("/usr/bin/env").env_clear().env("A", "1").output().await?;
    /// assert_eq!(output.stdout, b"A=1\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub fn env_clear(&mut self) -> &mut Self {
        self.std.env_clear();
        self
    }

    /// The folder in which it is started.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let output = spinpark::process::Command::new("pwd").current_dir("/").output().await?;
    /// assert_eq!(output.stdout, b"/\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub fn current_dir(&mut self, dir: impl AsRef<Path>) -> &mut Self {
        self.std.current_dir(dir);
        self
    }

    /// Its standard input. By default ours; for [`output`](Command::output), nothing.
    ///
    /// ```
    /// use std::process::Stdio;
    ///
    /// # spinpark::run(async {
    /// let mut child = spinpark::process::Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    /// child.stdin.take().expect("a pipe").write_all(b"hello").await?; // dropped, it is at its end
    /// assert_eq!(child.wait_with_output().await?.stdout, b"hello");
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub fn stdin(&mut self, stdio: impl Into<Stdio>) -> &mut Self {
        self.std.stdin(stdio);
        self.chosen[0] = true;
        self
    }

    /// Its standard output. By default ours; for [`output`](Command::output), a pipe.
    ///
    /// ```
    /// use std::process::Stdio;
    ///
    /// # spinpark::run(async {
    /// let status = spinpark::process::Command::new("echo").arg("hello").stdout(Stdio::null()).status().await?;
    /// assert!(status.success());
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub fn stdout(&mut self, stdio: impl Into<Stdio>) -> &mut Self {
        self.std.stdout(stdio);
        self.chosen[1] = true;
        self
    }

    /// Its standard error. By default ours; for [`output`](Command::output), a pipe.
    ///
    /// ```
    /// use std::process::Stdio;
    ///
    /// # spinpark::run(async {
    /// let mut command = spinpark::process::Command::new("sh");
    /// let child = command.args(["-c", "echo no >&2"]).stderr(Stdio::piped()).spawn()?;
    /// assert_eq!(child.wait_with_output().await?.stderr, b"no\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub fn stderr(&mut self, stdio: impl Into<Stdio>) -> &mut Self {
        self.std.stderr(stdio);
        self.chosen[2] = true;
        self
    }

    /// Shall it be killed when its [`Child`] is dropped? By default it runs on.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let child = spinpark::process::Command::new("sleep").arg("60").kill_on_drop(true).spawn()?;
    /// drop(child); // it ends
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub fn kill_on_drop(&mut self, yes: bool) -> &mut Self {
        self.kill_on_drop = yes;
        self
    }

    /// The group of processes in which it is; 0: one of its own, so that it can be signalled together with its children, and a
    /// Ctrl-C in the terminal is not for it.
    pub fn process_group(&mut self, group: i32) -> &mut Self {
        self.std.process_group(group);
        self
    }

    /// What it takes for its own name, instead of the program's.
    pub fn arg0(&mut self, name: impl AsRef<OsStr>) -> &mut Self {
        self.std.arg0(name);
        self
    }

    /// The user id it runs with.
    pub fn uid(&mut self, id: u32) -> &mut Self {
        self.std.uid(id);
        self
    }

    /// The group of users as which it runs.
    pub fn gid(&mut self, id: u32) -> &mut Self {
        self.std.gid(id);
        self
    }

    /// Std's.
    pub fn as_std(&self) -> &process::Command {
        &self.std
    }

    /// Std's, for what is not here.
    pub fn as_std_mut(&mut self) -> &mut process::Command {
        &mut self.std
    }

    /// Starts it.
    ///
    /// # Errors
    /// If the caller is no task; those of the system: there is no such program, say.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let mut child = spinpark::process::Command::new("true").spawn()?;
    /// assert!(child.wait().await?.success());
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub fn spawn(&mut self) -> io::Result<Child> {
        // Nothing is started for nothing.
        let netpoll = around::netpoll("Command::spawn was called")?;
        reap::sweep();
        let child = syscall(|| self.std.spawn())?;
        Child::new(netpoll, child, self.kill_on_drop)
    }

    /// Starts it, and waits for its end.
    ///
    /// # Errors
    /// Those of [`spawn`](Command::spawn) and [`Child::wait`].
    ///
    /// # Cancel safety
    /// Dropped before it is ready, the child runs on or is killed, as [`kill_on_drop`](Command::kill_on_drop) says.
    ///
    /// ```
    /// # spinpark::run(async {
    /// assert!(!spinpark::process::Command::new("false").status().await?.success());
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn status(&mut self) -> io::Result<ExitStatus> {
        // It fails at once each time, if it does.
        proceed().await;
        let mut child = self.spawn()?;
        // A caller that does not take them does not write or read, either.
        drop((child.stdin.take(), child.stdout.take(), child.stderr.take()));
        child.wait().await
    }

    /// Starts it, waits for its end, and has what it has written meanwhile.
    ///
    /// # Errors
    /// Those of [`spawn`](Command::spawn) and [`Child::wait_with_output`].
    ///
    /// # Cancel safety
    /// As [`Child::wait_with_output`]'s. The next use of this command finds its standard streams as they were.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let output = spinpark::process::Command::new("echo").arg("hello").output().await?;
    /// assert!(output.status.success() && output.stdout == b"hello\n" && output.stderr.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn output(&mut self) -> io::Result<Output> {
        proceed().await;
        self.choose_others(Stdio::null, Stdio::piped);
        let child = self.spawn();
        // The next `spawn` or `status` finds them as they were.
        self.choose_others(Stdio::inherit, Stdio::inherit);
        child?.wait_with_output().await
    }

    /// Sets the standard streams that the user has not chosen.
    fn choose_others(&mut self, input: fn() -> Stdio, outputs: fn() -> Stdio) {
        let [stdin, stdout, stderr] = self.chosen;
        if !stdin {
            self.std.stdin(input());
        }
        if !stdout {
            self.std.stdout(outputs());
        }
        if !stderr {
            self.std.stderr(outputs());
        }
    }
}

/// Its standard streams are as they are in `std`, for [`spawn`](Command::spawn) and [`status`](Command::status). std does not say which
/// of them were chosen: choose them again here for [`output`](Command::output), which else takes its own, and leaves ours behind.
impl From<process::Command> for Command {
    fn from(std: process::Command) -> Command {
        Command { std, kill_on_drop: false, chosen: [false; 3] }
    }
}
