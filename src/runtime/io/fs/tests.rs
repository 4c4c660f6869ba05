use super::*;
use core::pin::pin;
use core::task::{Context, Poll, Waker};

/// It never waits.
fn at_once<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it waits"),
    }
}

/// A folder of its own, removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("spinpark-fs-{name}-{}", std::process::id()));
        at_once(create_dir_all(path.join("inner"))).expect("a folder");
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

mod a_file {
    use super::*;

    #[test]
    fn is_written_read_copied_renamed_linked_and_removed() {
        let folder = Folder::new("file");
        let [a, b, c] = ["a", "b", "c"].map(|name| folder.0.join(name));
        at_once(write(&a, "some text")).expect("written");
        assert_eq!(at_once(read(&a)).expect("read"), b"some text");
        assert_eq!(at_once(copy(&a, &b)).expect("copied"), 9);
        at_once(rename(&b, &c)).expect("renamed");
        at_once(hard_link(&c, &b)).expect("linked");
        assert!(at_once(try_exists(&c)).expect("known"));
        at_once(remove_file(&c)).expect("removed");
        assert!(!at_once(try_exists(&c)).expect("known"));
        assert_eq!(at_once(read_to_string(&b)).expect("read"), "some text");
        assert_eq!(at_once(read(&c)).expect_err("it is gone").kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn tells_what_it_is() {
        let folder = Folder::new("metadata");
        let path = folder.0.join("inner").join("..").join("a");
        at_once(write(&path, [7; 100])).expect("written");
        assert_eq!(at_once(metadata(&path)).expect("there").len(), 100);
        assert!(at_once(symlink_metadata(&path)).expect("there").is_file());
        let whole = at_once(canonicalize(&path)).expect("there");
        assert_eq!(whole, fs::canonicalize(&folder.0).expect("there").join("a"));
        let mut permissions = at_once(metadata(&path)).expect("there").permissions();
        permissions.set_readonly(true);
        at_once(set_permissions(&path, permissions)).expect("set");
        assert!(at_once(metadata(&path)).expect("there").permissions().readonly());
    }
}

mod an_open_file {
    use super::*;
    use crate::fs::File;
    use core::time::Duration;
    use std::io::SeekFrom;
    use std::sync::mpsc;

    #[test]
    fn is_written_sought_in_read_cut_and_synced() {
        let folder = Folder::new("open");
        let file = at_once(File::create_new(folder.0.join("a"))).expect("made");
        at_once(file.write_all(b"some text")).expect("written");
        assert_eq!(at_once(file.seek(SeekFrom::End(-4))).expect("sought"), 5);
        let mut four = [0; 4];
        at_once(file.read_exact(&mut four)).expect("read");
        assert_eq!(&four, b"text");
        assert_eq!(at_once(file.read(&mut four)).expect("read"), 0, "it is at the end");
        at_once(file.set_len(4)).expect("cut");
        at_once(file.sync_all()).expect("on the disk");
        at_once(file.sync_data()).expect("on the disk");
        assert_eq!(at_once(file.metadata()).expect("there").len(), 4);
        at_once(file.seek(SeekFrom::Start(0))).expect("sought");
        let mut text = String::new();
        at_once(file.read_to_string(&mut text)).expect("read");
        assert_eq!(text, "some");
    }

    #[test]
    fn that_is_used_for_ever_lets_its_task_be_polled_anew() {
        let folder = Folder::new("ever");
        let path = folder.0.join("a");
        at_once(write(&path, "some text")).expect("written");
        let (over, is_over) = mpsc::channel();
        let runtime = crate::Runtime::builder().procs(1).build().expect("a runtime");
        runtime.spawn(async move {
            let file = File::options().read(true).write(true).open(&path).await.expect("open");
            for writes in [false, true] {
                let for_ever = async {
                    while match writes {
                        true => file.write(b"").await.is_ok(),
                        false => file.read(&mut [0; 16]).await.is_ok(),
                    } {}
                };
                let ended = crate::time::timeout(Duration::from_millis(1), for_ever).await;
                assert!(ended.is_err(), "the file is always ready");
            }
            over.send(()).expect("it is awaited");
        });
        if is_over.recv_timeout(Duration::from_secs(20)).is_err() {
            core::mem::forget(runtime); // its task never ends
            panic!("it is never polled anew, and so its time never over");
        }
    }

    #[test]
    fn shares_its_place_with_its_clone() {
        let folder = Folder::new("clone");
        let path = folder.0.join("a");
        at_once(write(&path, "some text")).expect("written");
        let file = at_once(File::open(&path)).expect("open");
        let clone = at_once(file.try_clone()).expect("cloned");
        at_once(clone.seek(SeekFrom::Start(5))).expect("sought");
        let mut rest = Vec::new();
        at_once(file.read_to_end(&mut rest)).expect("read");
        assert_eq!(rest, b"text");
    }

    #[test]
    fn is_opened_as_its_options_say() {
        let folder = Folder::new("options");
        let path = folder.0.join("a");
        let missing = at_once(File::options().read(true).open(&path)).expect_err("it is not there");
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        for _ in 0..2 {
            let log = at_once(File::options().append(true).create(true).open(&path)).expect("open");
            at_once(log.write_all(b"line\n")).expect("written");
        }
        assert_eq!(at_once(read(&path)).expect("read"), b"line\nline\n");
        let taken = at_once(File::create_new(&path)).expect_err("it is there");
        assert_eq!(taken.kind(), io::ErrorKind::AlreadyExists);
        let nothing = at_once(crate::fs::OpenOptions::new().open(&path)).expect_err("neither read nor written");
        assert_eq!(nothing.kind(), io::ErrorKind::InvalidInput);
        let reads = at_once(File::open(&path)).expect("open");
        at_once(reads.write(b"no")).expect_err("it is open for reading only");
        at_once(reads.seek(SeekFrom::Current(-1))).expect_err("before the beginning");
    }
}

#[cfg(unix)]
mod a_link {
    use super::*;
    use crate::fs::File;

    /// For `open`: what is opened may not be a link.
    const NOT_A_LINK: i32 = rustix::fs::OFlags::NOFOLLOW.bits() as i32;

    #[test]
    fn leads_where_it_was_made_to() {
        let folder = Folder::new("link");
        let [file, link] = ["a", "b"].map(|name| folder.0.join(name));
        at_once(symlink(&file, &link)).expect("linked");
        assert_eq!(at_once(read_link(&link)).expect("a link"), file);
        assert!(!at_once(try_exists(&link)).expect("known"), "it leads nowhere");
        at_once(write(&link, "text")).expect("written");
        assert_eq!(at_once(read_to_string(&file)).expect("read"), "text");
        at_once(File::options().read(true).custom_flags(NOT_A_LINK).open(&link)).expect_err("it is a link");
    }
}

mod a_folder {
    use super::*;

    #[test]
    fn is_listed_and_removed() {
        let folder = Folder::new("folder");
        at_once(write(folder.0.join("a"), "")).expect("written");
        let mut names: Vec<_> =
            at_once(read_dir(&folder.0)).expect("listed").into_iter().map(|entry| entry.file_name()).collect();
        names.sort();
        assert_eq!(names, ["a", "inner"]);
        at_once(remove_dir(&folder.0)).expect_err("it is not empty");
        at_once(remove_dir(folder.0.join("inner"))).expect("removed");
        at_once(create_dir(folder.0.join("inner"))).expect("made again");
        at_once(remove_dir_all(&folder.0)).expect("removed");
        assert_eq!(at_once(metadata(&folder.0)).expect_err("it is gone").kind(), io::ErrorKind::NotFound);
    }
}
