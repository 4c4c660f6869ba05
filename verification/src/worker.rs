//! Processes that do a job for this one, and do not outlive it.
//!
//! The order is a line of the worker's standard input, which stays open for as long as the answer is wanted. However
//! this process ends (by itself, by Ctrl-C, by SIGTERM or SIGKILL), the system closes the pipe, and the worker ends too.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, LazyLock};
use std::thread;

/// The worker's side: it was told to stop, and to say how far it has come.
pub static STOP: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Starts `command`, a worker, with its order. It answers on its standard output. Do not drop its standard input before it
/// has answered.
///
/// # Errors
/// If it cannot be started, or does not take its order.
pub fn start(command: &mut Command, order: &impl Serialize) -> Result<Child, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("cannot start {program}: {error}"))?;
    let mut line = serde_json::to_vec(order).map_err(|error| error.to_string())?;
    line.push(b'\n');
    let stdin = child.stdin.as_mut().expect("it is piped");
    stdin.write_all(&line).map_err(|error| format!("cannot tell the process what to do: {error}"))?;
    Ok(child)
}

/// The worker's side: its order. From now on this process ends as soon as its answer is not wanted.
///
/// # Errors
/// If it cannot be read.
pub fn order<T: DeserializeOwned>() -> Result<T, String> {
    let mut line = String::new();
    io::stdin().read_line(&mut line).map_err(|error| error.to_string())?;
    let order = serde_json::from_str(&line).map_err(|error| error.to_string())?;
    let ends_with_its_employer = || {
        // Whatever is said now is that it shall stop; then comes the end.
        while io::stdin().lock().read(&mut [0]).is_ok_and(|n| n > 0) {
            // Relaxed: nothing else is read because of it.
            STOP.store(true, Relaxed);
        }
        std::process::exit(1);
    };
    thread::Builder::new().spawn(ends_with_its_employer).map_err(|error| error.to_string())?;
    Ok(order)
}
