//! How a file is to be opened.

use crate::runtime::exec::blocking::syscall;
use crate::runtime::io::fs::File;
use std::path::Path;
use std::{fs, io};

/// How a [`File`] is to be opened: as [`std::fs::OpenOptions`], from which it can be made.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use spinpark::fs::OpenOptions;
///
/// let path = std::env::temp_dir().join(format!("spinpark-options-{}", std::process::id()));
/// spinpark::Runtime::new()?.block_on(async {
///     let log = OpenOptions::new().append(true).create(true).open(&path).await?;
///     log.write_all(b"one more line\n").await?;
///     spinpark::fs::remove_file(&path).await
/// })??;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct OpenOptions(fs::OpenOptions);

impl OpenOptions {
    /// Nothing is allowed yet.
    #[allow(clippy::new_without_default, reason = "as in std")]
    pub fn new() -> OpenOptions {
        OpenOptions(fs::OpenOptions::new())
    }

    /// May it be read?
    pub fn read(&mut self, yes: bool) -> &mut Self {
        self.0.read(yes);
        self
    }

    /// May it be written?
    pub fn write(&mut self, yes: bool) -> &mut Self {
        self.0.write(yes);
        self
    }

    /// Is all written at its end, wherever that is then?
    pub fn append(&mut self, yes: bool) -> &mut Self {
        self.0.append(yes);
        self
    }

    /// Is what is in it thrown away?
    pub fn truncate(&mut self, yes: bool) -> &mut Self {
        self.0.truncate(yes);
        self
    }

    /// Is it made if it is not there?
    pub fn create(&mut self, yes: bool) -> &mut Self {
        self.0.create(yes);
        self
    }

    /// Is it made, and an error if it is there?
    pub fn create_new(&mut self, yes: bool) -> &mut Self {
        self.0.create_new(yes);
        self
    }

    /// Who may do what with it, if it is made.
    #[cfg(unix)]
    pub fn mode(&mut self, mode: u32) -> &mut Self {
        std::os::unix::fs::OpenOptionsExt::mode(&mut self.0, mode);
        self
    }

    /// Opens it.
    ///
    /// # Errors
    /// Those of the system; [`InvalidInput`](io::ErrorKind::InvalidInput) if the options contradict each other.
    pub async fn open(&self, path: impl AsRef<Path>) -> io::Result<File> {
        syscall(|| self.0.open(path)).map(File::from_std)
    }
}

impl From<fs::OpenOptions> for OpenOptions {
    fn from(options: fs::OpenOptions) -> OpenOptions {
        OpenOptions(options)
    }
}
