//! A PostgreSQL server in a folder of its own, which ends with this process, however that ends.

use std::fs;
use std::io;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The programs are in this folder, if PostgreSQL is there: of the newest version that Debian's packages have installed, else where
/// the environment says.
fn programs() -> Option<PathBuf> {
    let version = |path: &PathBuf| path.file_name()?.to_str()?.parse::<u32>().ok();
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten().map(|entry| entry.path());
    let newest = versions.filter(|path| version(path).is_some()).max_by_key(version).map(|path| path.join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let has_both = |folder: &PathBuf| folder.join("initdb").exists() && folder.join("postgres").exists();
    newest.into_iter().chain(std::env::split_paths(&path)).find(has_both)
}

/// The number that `id` knows of a user.
fn id(option: &str, user: &str) -> Option<u32> {
    let output = Command::new("id").args([option, user]).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}

/// A user that is not root, and its group.
#[derive(Debug, Clone, Copy)]
struct User {
    uid: u32,
    gid: u32,
}

/// The user to run it: the caller, but not root, which PostgreSQL refuses to be.
fn user() -> Option<Option<User>> {
    if !rustix::process::geteuid().is_root() {
        return Some(None);
    }
    let named = |name| Some(User { uid: id("-u", name)?, gid: id("-g", name)? });
    ["postgres", "nobody"].into_iter().find_map(named).map(Some)
}

fn as_user(program: &Path, user: Option<User>) -> Command {
    let mut command = Command::new(program);
    if let Some(User { uid, gid }) = user {
        command.uid(uid).gid(gid);
    }
    command
}

/// The server.
pub(super) struct Server {
    folder: PathBuf,
    shell: Child,
    /// While this is open the server lives.
    lives: Option<ChildStdin>,
}

/// The shell that starts it waits until its input ends, as it does with the process that has the other end. Then the server ends at
/// once, and its folder is gone.
const SCRIPT: &str = r#"
exec 3<&0
"$1/postgres" -D "$2/data" -k "$2" -c listen_addresses= -c fsync=off -c max_connections=60 </dev/null >"$2/log" 2>&1 3<&- &
cat <&3 >/dev/null
kill -QUIT $! 2>/dev/null
wait $!
rm -r "$2"/*
"#;

impl Server {
    /// Starts one. `None`: there is none here, and the reason has been printed.
    pub(super) fn start() -> Option<Server> {
        let Some((programs, user)) = programs().zip(user()) else {
            eprintln!("skipped: there is no PostgreSQL here, or only root to run it");
            return None;
        };
        static SERVERS: AtomicUsize = AtomicUsize::new(0);
        // Relaxed: a unique number.
        let number = SERVERS.fetch_add(1, Relaxed);
        let folder = std::env::temp_dir().join(format!("spinpark-postgres-{}-{number}", std::process::id()));
        fs::create_dir(&folder).expect("a folder");
        if let Some(User { uid, gid }) = user {
            chown(&folder, Some(uid), Some(gid)).expect("root may");
        }
        let made = as_user(&programs.join("initdb"), user)
            .args(["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "-D"])
            .arg(folder.join("data"))
            .current_dir(&folder)
            .output()
            .expect("it is there");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let mut shell = as_user(Path::new("/bin/sh"), user)
            .args(["-c", SCRIPT, "server"])
            .args([&programs, &folder])
            .current_dir(&folder)
            .stdin(Stdio::piped())
            .spawn()
            .expect("a shell");
        let lives = shell.stdin.take();
        Some(Server { folder, shell, lives })
    }

    /// Where it listens.
    pub(super) fn socket(&self) -> PathBuf {
        self.folder.join(".s.PGSQL.5432")
    }

    /// The folder of that.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// What it has to say.
    pub(super) fn log(&self) -> String {
        fs::read_to_string(self.folder.join("log")).unwrap_or_else(|error| error.to_string())
    }

    /// Ends it at once, amid whatever it does.
    pub(super) fn stop(&mut self) {
        self.lives = None;
        let _: io::Result<_> = self.shell.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
        let _ = fs::remove_dir(&self.folder);
    }
}
