//! What a job writes, shown line by line, within a limit.

use spinpark::chan::Sender;
use spinpark::io;
use spinpark::process::ChildStdout;
use std::sync::Mutex;

/// How many bytes a job may write yet, to both of its pipes.
pub(crate) struct Budget(Mutex<Option<u64>>);

impl Budget {
    pub(crate) fn new(bytes: Option<u64>) -> Budget {
        Budget(Mutex::new(bytes))
    }

    /// How many of `wanted` there are left.
    fn take(&self, wanted: usize) -> usize {
        let mut left = self.0.lock().expect("no panic under it");
        match &mut *left {
            None => wanted,
            Some(left) => {
                let taken = wanted.min(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= taken as u64;
                taken
            }
        }
    }
}

/// A line that is longer is shown in pieces.
const LONGEST: usize = 64 << 10;

/// Shows what comes until it ends. What is more than the budget is not shown, and is told to `too_much`.
pub(crate) async fn show(name: &str, pipe: ChildStdout, budget: &Budget, too_much: Sender<()>) -> std::io::Result<()> {
    let (mut rest, mut buffer) = (Vec::new(), vec![0; 16 << 10]);
    loop {
        let n = pipe.read(&mut buffer).await?;
        let taken = budget.take(n);
        rest.extend_from_slice(&buffer[..taken]);
        if let Some(end) = rest.iter().rposition(|&byte| byte == b'\n') {
            write(name, &rest[..=end]).await?;
            rest.drain(..=end);
        }
        if taken < n {
            // It may have been told already.
            let _ = too_much.try_send(());
        }
        if n == 0 || rest.len() > LONGEST || taken < n {
            write(name, &rest).await?;
            rest.clear();
        }
        if n == 0 {
            return Ok(());
        }
    }
}

/// All lines at once: others' come before or after, not in between.
async fn write(name: &str, lines: &[u8]) -> std::io::Result<()> {
    let mut text = Vec::with_capacity(lines.len() + name.len() + 10);
    for line in lines.split_inclusive(|&byte| byte == b'\n') {
        text.extend_from_slice(name.as_bytes());
        text.extend_from_slice(b" | ");
        text.extend_from_slice(line.strip_suffix(b"\n").unwrap_or(line));
        text.push(b'\n');
    }
    if text.is_empty() { Ok(()) } else { io::stdout().write_all(&text).await }
}
