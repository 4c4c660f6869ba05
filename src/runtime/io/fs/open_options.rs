//! How a file is to be opened.

use std::fs;

/// How a [`File`](crate::fs::File) is to be opened: as [`std::fs::OpenOptions`], from which it can be made.
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
///
/// All of them:
///
/// ```
/// # spinpark::run(async {
/// let path = std::env::temp_dir().join(format!("spinpark-all-options-{}", std::process::id()));
/// let mut options = spinpark::fs::OpenOptions::new();
/// options.read(true).write(true).append(false).create(true).create_new(true).truncate(false);
/// # #[cfg(unix)]
/// options.mode(0o600).custom_flags(0);
/// drop(options.open(&path).await?);
/// assert!(options.open(&path).await.is_err(), "it is there already");
/// spinpark::fs::remove_file(&path).await?;
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct OpenOptions(pub(super) fs::OpenOptions);

impl OpenOptions {
    /// Nothing is allowed yet.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let mut options = spinpark::fs::OpenOptions::new();
    /// assert!(options.open("Cargo.toml").await.is_err(), "neither to read it nor to write it");
    /// assert!(options.read(true).open("Cargo.toml").await.is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
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
    ///
    /// ```
    /// # spinpark::run(async {
    /// # let path = std::env::temp_dir().join(format!("spinpark-append-{}", std::process::id()));
    /// for word in ["one ", "two"] {
    ///     let file = spinpark::fs::OpenOptions::new().append(true).create(true).open(&path).await?;
    ///     file.write_all(word.as_bytes()).await?;
    /// }
    /// assert_eq!(spinpark::fs::read_to_string(&path).await?, "one two");
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
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

    /// Its permission bits, if it is made.
    #[cfg(unix)]
    pub fn mode(&mut self, mode: u32) -> &mut Self {
        std::os::unix::fs::OpenOptionsExt::mode(&mut self.0, mode);
        self
    }

    /// Flags for the system's `open`, beside those that the other options mean.
    #[cfg(unix)]
    pub fn custom_flags(&mut self, flags: i32) -> &mut Self {
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut self.0, flags);
        self
    }
}

impl From<fs::OpenOptions> for OpenOptions {
    fn from(options: fs::OpenOptions) -> OpenOptions {
        OpenOptions(options)
    }
}
