//! What is stable in std: from its documentation, as rustup installs it.

use super::Surface;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The types, by module.
const TYPES: [(&str, &[&str]); 4] = [
    (
        "sync",
        &[
            "Arc",
            "Weak",
            "Mutex",
            "MutexGuard",
            "RwLock",
            "RwLockReadGuard",
            "RwLockWriteGuard",
            "Condvar",
            "WaitTimeoutResult",
            "Barrier",
            "BarrierWaitResult",
            "Once",
            "OnceState",
            "OnceLock",
            "LazyLock",
            "PoisonError",
        ],
    ),
    ("sync::atomic", &["AtomicBool", "AtomicUsize", "AtomicPtr"]),
    ("sync::mpsc", &["Sender", "SyncSender", "Receiver"]),
    ("thread", &["Builder", "JoinHandle", "Thread", "ThreadId", "LocalKey", "Scope", "ScopedJoinHandle"]),
];

const MODULES: [&str; 4] = ["sync::atomic", "sync::mpsc", "thread", "hint"];

/// The version, and what there is; none if the documentation is not installed.
pub(crate) fn surface() -> Option<(String, Surface)> {
    let rustc = |arguments: &[&str]| {
        let output = Command::new("rustc").args(arguments).output().ok()?;
        Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
    };
    let root = PathBuf::from(rustc(&["--print", "sysroot"])?).join("share/doc/rust/html/std");
    let version = rustc(&["--version"])?.split(' ').nth(1)?.to_owned();
    let mut surface = Surface::new();
    for (module, types) in TYPES {
        for name in types {
            let page = fs::read_to_string(folder(&root, module).join(format!("struct.{name}.html")))
                .or_else(|_| fs::read_to_string(folder(&root, module).join(format!("type.{name}.html"))))
                .ok()?;
            surface.insert(format!("{module}::{name}"), methods(&page));
        }
    }
    for module in MODULES {
        let files = fs::read_dir(folder(&root, module)).ok()?.filter_map(Result::ok);
        let names = files.filter_map(|file| {
            let name = file.file_name().into_string().ok()?;
            let name = name.strip_prefix("fn.")?.strip_suffix(".html")?.to_owned();
            is_stable(&fs::read_to_string(file.path()).ok()?).then_some(name)
        });
        surface.insert(format!("{module} (functions)"), names.collect());
    }
    Some((version, surface))
}

fn folder(root: &Path, module: &str) -> PathBuf {
    module.split("::").fold(root.to_owned(), |folder, name| folder.join(name))
}

fn is_stable(text: &str) -> bool {
    !text.contains("class=\"stab unstable\"") && !text.contains("class=\"stab deprecated\"")
}

/// Its own ones, and not those of what it derefs to, nor of traits.
fn methods(page: &str) -> std::collections::BTreeSet<String> {
    let end = ["id=\"deref-methods", "id=\"trait-implementations\""].into_iter().filter_map(|end| page.find(end)).min();
    let own = &page[..end.unwrap_or(page.len())];
    let sections = own.split("<section id=\"method.").skip(1).filter(|section| is_stable(section));
    sections
        .filter_map(|section| section.split('"').next())
        .map(|name| name.split('-').next().unwrap_or(name).to_owned())
        .collect()
}
