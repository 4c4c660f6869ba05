//! Files. Go: `os`.
//!
//! | you want | take |
//! |----------|------|
//! | all of a file at once | [`read`], [`read_to_string`], [`write`](write()), [`copy`] |
//! | a file that is open | [`File`], [`OpenOptions`] |
//! | folders | [`create_dir`], [`create_dir_all`], [`read_dir`], [`remove_dir`], [`remove_dir_all`] |
//! | names and links | [`rename`], [`remove_file`], [`hard_link`], [`symlink`], [`read_link`], [`canonicalize`] |
//! | to know more | [`try_exists`], [`metadata`], [`symlink_metadata`], [`set_permissions`] |
//!
//! ```
//! use spinpark::fs;
//!
//! # spinpark::run(async {
//! let dir = std::env::temp_dir().join(format!("spinpark-fs-{}", std::process::id()));
//! fs::create_dir_all(dir.join("a/b")).await?;
//! fs::create_dir(dir.join("c")).await?;
//! fs::write(dir.join("one"), "1").await?;
//! fs::copy(dir.join("one"), dir.join("two")).await?;
//! fs::rename(dir.join("two"), dir.join("three")).await?;
//! fs::hard_link(dir.join("three"), dir.join("four")).await?;
//! # #[cfg(unix)]
//! fs::symlink("three", dir.join("five")).await?;
//! # #[cfg(unix)]
//! assert_eq!(fs::read_link(dir.join("five")).await?.to_str(), Some("three"));
//! assert_eq!(fs::read_to_string(dir.join("three")).await?, "1");
//! let metadata = fs::metadata(dir.join("three")).await?;
//! fs::set_permissions(dir.join("three"), metadata.permissions()).await?;
//! assert_eq!(fs::symlink_metadata(dir.join("one")).await?.len(), 1);
//! println!("{:?}", fs::canonicalize(&dir).await?);
//! for entry in fs::read_dir(&dir).await? {
//!     println!("{:?}", entry.file_name());
//! }
//! fs::remove_file(dir.join("one")).await?;
//! fs::remove_dir(dir.join("c")).await?;
//! fs::remove_dir_all(&dir).await?;
//! assert!(!fs::try_exists(&dir).await?);
//! # Ok::<(), std::io::Error>(()) }).unwrap();
//! ```
//!
//! The system has no way to wait for a file without blocking. So these functions do block, inside of a
//! [`syscall`]: if it takes long, others run meanwhile, and when the future is polled once, it is ready.
//! Each has the name, the meaning and the errors of that in [`std::fs`]; [`File`] is one that is open. For what is not here, put the
//! same around it:
//!
//! ```
//! # async fn make() -> std::io::Result<()> {
//! spinpark::syscall(|| std::fs::DirBuilder::new().recursive(true).create("a/b"))?;
//! # Ok(())
//! # }
//! ```

mod file;
mod open_options;
mod work;

use crate::runtime::exec::blocking::syscall;
use crate::runtime::exec::yielding::proceed;
pub use file::File;
pub use open_options::OpenOptions;
use std::fs;
pub use std::fs::{DirEntry, Metadata, Permissions};
use std::io;
use std::path::{Path, PathBuf};

/// All that is in a file.
///
/// # Errors
/// Those of the system.
///
/// ```
/// # async fn read() -> std::io::Result<()> {
/// let bytes = spinpark::fs::read("Cargo.toml").await?;
/// # Ok(())
/// # }
/// ```
///
/// # Cancel safety
/// A future that was dropped before it was ready has done nothing.
pub async fn read(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    proceed().await;
    syscall(|| fs::read(path))
}

/// All that is in a file, as text.
///
/// # Errors
/// Those of the system; [`InvalidData`](io::ErrorKind::InvalidData) if it is not UTF-8.
///
/// # Cancel safety
/// As [`read`]'s.
///
/// ```
/// # spinpark::run(async {
/// assert!(spinpark::fs::read_to_string("Cargo.toml").await?.contains("[package]"));
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
pub async fn read_to_string(path: impl AsRef<Path>) -> io::Result<String> {
    proceed().await;
    syscall(|| fs::read_to_string(path))
}

/// Makes a file of these bytes. What it had in it before is gone.
///
/// # Errors
/// Those of the system.
///
/// # Cancel safety
/// As [`read`]'s.
///
/// ```
/// # spinpark::run(async {
/// let path = std::env::temp_dir().join(format!("spinpark-write-{}", std::process::id()));
/// spinpark::fs::write(&path, "hello").await?;
/// spinpark::fs::remove_file(&path).await?;
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
pub async fn write(path: impl AsRef<Path>, contents: impl AsRef<[u8]>) -> io::Result<()> {
    proceed().await;
    syscall(|| fs::write(path, contents))
}

/// Copies a file, with its permissions. Returns how many bytes it has.
///
/// # Errors
/// Those of the system.
///
/// # Cancel safety
/// As [`read`]'s.
///
/// ```
/// # spinpark::run(async {
/// let path = std::env::temp_dir().join(format!("spinpark-copy-{}", std::process::id()));
/// assert!(spinpark::fs::copy("Cargo.toml", &path).await? > 0);
/// spinpark::fs::remove_file(&path).await?;
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
pub async fn copy(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<u64> {
    proceed().await;
    syscall(|| fs::copy(from, to))
}

/// Gives a file or a folder another name, on the same file system.
///
/// # Errors
/// Those of the system.
///
/// # Cancel safety
/// As [`read`]'s.
///
/// ```
/// # spinpark::run(async {
/// # let old = std::env::temp_dir().join(format!("spinpark-old-{}", std::process::id()));
/// # let new = old.with_extension("new");
/// # std::fs::write(&old, "")?;
/// spinpark::fs::rename(&old, &new).await?;
/// assert!(!spinpark::fs::try_exists(&old).await? && spinpark::fs::try_exists(&new).await?);
/// # std::fs::remove_file(&new)?;
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
pub async fn rename(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<()> {
    proceed().await;
    syscall(|| fs::rename(from, to))
}

/// Gives a file one more name.
///
/// # Errors
/// Those of the system.
///
/// # Cancel safety
/// As [`read`]'s.
pub async fn hard_link(original: impl AsRef<Path>, link: impl AsRef<Path>) -> io::Result<()> {
    proceed().await;
    syscall(|| fs::hard_link(original, link))
}

/// Removes a file.
///
/// # Errors
/// Those of the system.
///
/// # Cancel safety
/// As [`read`]'s.
pub async fn remove_file(path: impl AsRef<Path>) -> io::Result<()> {
    proceed().await;
    syscall(|| fs::remove_file(path))
}

/// Makes a folder, in one that is there.
///
/// # Errors
/// Those of the system.
///
/// # Cancel safety
/// As [`read`]'s.
///
/// ```
/// # spinpark::run(async {
/// let folder = std::env::temp_dir().join(format!("spinpark-folder-{}", std::process::id()));
/// spinpark::fs::create_dir(&folder).await?;
/// assert!(spinpark::fs::create_dir(&folder).await.is_err(), "it is there");
/// spinpark::fs::remove_dir(&folder).await?;
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
pub async fn create_dir(path: impl AsRef<Path>) -> io::Result<()> {
    proceed().await;
    syscall(|| fs::create_dir(path))
}

/// Makes a folder, and those in which it is.
///
/// # Errors
/// Those of the system. Some of them may have been made.
///
/// # Cancel safety
/// As [`read`]'s.
///
/// ```
/// # spinpark::run(async {
/// let path = std::env::temp_dir().join(format!("spinpark-create-{}", std::process::id()));
/// spinpark::fs::create_dir_all(path.join("a/b")).await?;
/// spinpark::fs::remove_dir_all(&path).await?;
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
pub async fn create_dir_all(path: impl AsRef<Path>) -> io::Result<()> {
    proceed().await;
    syscall(|| fs::create_dir_all(path))
}

/// Removes a folder in which there is nothing.
///
/// # Errors
/// Those of the system.
///
/// # Cancel safety
/// As [`read`]'s.
pub async fn remove_dir(path: impl AsRef<Path>) -> io::Result<()> {
    proceed().await;
    syscall(|| fs::remove_dir(path))
}

/// Removes a folder and all that is in it. Links are removed, not followed.
///
/// # Errors
/// Those of the system. Some of it may have been removed.
///
/// # Cancel safety
/// As [`read`]'s.
pub async fn remove_dir_all(path: impl AsRef<Path>) -> io::Result<()> {
    proceed().await;
    syscall(|| fs::remove_dir_all(path))
}

/// What is in a folder, all of it at once.
///
/// # Errors
/// Those of the system, of the folder or of the first entry that cannot be read.
///
/// # Cancel safety
/// As [`read`]'s.
///
/// ```
/// # spinpark::run(async {
/// let entries = spinpark::fs::read_dir(".").await?;
/// assert!(entries.iter().any(|entry| entry.file_name() == "Cargo.toml"));
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
pub async fn read_dir(path: impl AsRef<Path>) -> io::Result<Vec<DirEntry>> {
    proceed().await;
    syscall(|| fs::read_dir(path)?.collect())
}

/// How large a file is, how old, and so on. Links are followed.
///
/// # Errors
/// Those of the system.
///
/// # Cancel safety
/// As [`read`]'s.
///
/// ```
/// # spinpark::run(async {
/// assert!(spinpark::fs::metadata("Cargo.toml").await?.is_file());
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
pub async fn metadata(path: impl AsRef<Path>) -> io::Result<Metadata> {
    proceed().await;
    syscall(|| fs::metadata(path))
}

/// As [`metadata`]; of a link, its own.
///
/// # Errors
/// Those of the system.
///
/// # Cancel safety
/// As [`read`]'s.
///
/// ```
/// # spinpark::run(async {
/// assert!(!spinpark::fs::symlink_metadata("Cargo.toml").await?.is_symlink());
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
pub async fn symlink_metadata(path: impl AsRef<Path>) -> io::Result<Metadata> {
    proceed().await;
    syscall(|| fs::symlink_metadata(path))
}

/// Sets which users may do what with a file.
///
/// # Errors
/// Those of the system.
///
/// # Cancel safety
/// As [`read`]'s.
pub async fn set_permissions(path: impl AsRef<Path>, permissions: Permissions) -> io::Result<()> {
    proceed().await;
    syscall(|| fs::set_permissions(path, permissions))
}

/// Is there such a file, or folder? Links are followed.
///
/// # Errors
/// Those of the system: it cannot be known, because a folder above it may not be looked into, say.
///
/// # Cancel safety
/// As [`read`]'s.
///
/// ```
/// # spinpark::run(async {
/// assert!(spinpark::fs::try_exists("Cargo.toml").await?);
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
pub async fn try_exists(path: impl AsRef<Path>) -> io::Result<bool> {
    proceed().await;
    syscall(|| fs::exists(path))
}

/// Where a link leads to.
///
/// # Errors
/// Those of the system: it is no link.
///
/// # Cancel safety
/// As [`read`]'s.
pub async fn read_link(path: impl AsRef<Path>) -> io::Result<PathBuf> {
    proceed().await;
    syscall(|| fs::read_link(path))
}

/// Makes a link that leads to `original`, be that there or not.
///
/// # Errors
/// Those of the system.
///
/// # Cancel safety
/// As [`read`]'s.
#[cfg(unix)]
pub async fn symlink(original: impl AsRef<Path>, link: impl AsRef<Path>) -> io::Result<()> {
    proceed().await;
    syscall(|| std::os::unix::fs::symlink(original, link))
}

/// The whole path, without links in it.
///
/// # Errors
/// Those of the system: there is no such file.
///
/// # Cancel safety
/// As [`read`]'s.
///
/// ```
/// # spinpark::run(async {
/// assert!(spinpark::fs::canonicalize("Cargo.toml").await?.is_absolute());
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
pub async fn canonicalize(path: impl AsRef<Path>) -> io::Result<PathBuf> {
    proceed().await;
    syscall(|| fs::canonicalize(path))
}

#[cfg(test)]
mod tests;
