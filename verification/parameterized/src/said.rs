//! What is printed, to a reader that may have gone away.

use std::io::{self, ErrorKind, Write};
use std::sync::OnceLock;

/// Why something that was printed did not arrive.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// Prints a line. A reader that has gone away, as `| head` does, is no error; whatever else is wrong, [`lost`] says.
pub fn say(line: &str) {
    if let Err(error) = writeln!(io::stdout(), "{line}")
        && error.kind() != ErrorKind::BrokenPipe
    {
        let _ = LOST.set(error);
    }
}

/// Was all that was printed written? If not, why not.
pub fn lost() -> Option<&'static io::Error> {
    LOST.get()
}
