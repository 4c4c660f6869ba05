//! Files that a command reads and writes: of what is read the end is known, and what is written is there whole or not at all.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// No file of ours is larger, in bytes: checkpoints are read by the program that wrote them.
const LARGEST: u64 = 1 << 28;

/// Reads a file of text.
///
/// # Errors
/// If it cannot be read, is none of the usual files (a device, a pipe: their end may never come), or is too large for one of ours.
pub fn read(path: &Path) -> io::Result<String> {
    let about = fs::metadata(path)?;
    if !about.is_file() {
        let what = if about.is_dir() { "it is a folder" } else { "it is no regular file" };
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    let mut text = String::new();
    let read = File::open(path)?.take(LARGEST + 1).read_to_string(&mut text)?;
    match read as u64 > LARGEST {
        true => Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is too large to be one of ours")),
        false => Ok(text),
    }
}

/// Writes a file: beside the old one first, so that a full disk, or the end of this process, leaves that as it was. What is no
/// regular file, such as `/dev/stdout`, is written to as it is.
///
/// # Errors
/// If the file system says no. Nothing is left beside it then.
pub fn write(path: &Path, text: &[u8]) -> io::Result<()> {
    let Ok(about) = fs::metadata(path) else { return replace(path, text) };
    if !about.is_file() {
        return File::options().write(true).open(path)?.write_all(text);
    }
    if about.permissions().readonly() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    // A link stays one.
    replace(&fs::canonicalize(path)?, text)
}

fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    let beside = beside(path);
    let write = || {
        let mut file = File::create(&beside)?;
        file.write_all(text)?;
        file.sync_data()?;
        if let Ok(old) = fs::metadata(path) {
            fs::set_permissions(&beside, old.permissions())?;
        }
        fs::rename(&beside, path)
    };
    write().inspect_err(|_| drop(fs::remove_file(&beside)))
}

/// Of this process, so that two do not write into one.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    mod what_cannot_be_written {
        use super::*;

        #[test]
        fn leaves_the_old_file_and_nothing_beside_it() {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("old");
            write(&path, b"old").expect("written");
            // A folder of that name takes the place of the file beside it.
            fs::create_dir(beside(&path)).expect("a folder");
            write(&path, b"new").expect_err("it cannot be written");
            assert_eq!(read(&path).expect("the old one"), "old");
        }
    }

    #[cfg(unix)]
    mod what_never_ends {
        use super::*;

        #[test]
        fn is_not_read() {
            for path in ["/dev/zero", "/dev/null", "/"] {
                read(Path::new(path)).expect_err(path);
            }
        }
    }
}
