//! What an operation that is dropped before it is ready leaves behind, with each poller: in the caller's buffer nothing but what was read,
//! and of what was sent all that was not read.

#![cfg(target_os = "linux")]

use spinpark::net::unix::{UnixDatagram, UnixStream};
use spinpark::net::{TcpListener, TcpStream, UdpSocket};
use spinpark::{Poller, Runtime, fs, io, time};
use std::future::Future;
use std::io::{IoSliceMut, Write};
use std::path::PathBuf;
use std::time::Duration;

/// Runs `test` in a runtime with each poller, which it is told. One that the system does not give is left out.
fn with_each_poller<F: Future<Output = ()>>(test: impl Fn(&'static str) -> F) {
    for poller in [Poller::Epoll, Poller::IoUring] {
        let runtime = Runtime::builder().procs(2).poller(poller).build().expect("a runtime");
        let name = runtime.metrics().poller;
        if poller == Poller::IoUring && name != "io_uring" {
            eprintln!("not tried: this system gives no io_uring");
            continue;
        }
        runtime
            .block_on(async { time::timeout(Duration::from_secs(60), test(name)).await.expect("it hangs") })
            .expect("no deadlock");
    }
}

/// Polls it for a moment, and drops it.
async fn gives_up<F: Future>(future: F) {
    assert!(time::timeout(Duration::from_millis(5), future).await.is_err(), "there is nothing to be had");
}

async fn connection() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a listener");
    let one = TcpStream::connect(listener.local_addr().expect("an address")).await.expect("connected");
    (one, listener.accept().await.expect("accepted").0)
}

/// A pipe by name: a read of it waits, as of a slow disk.
struct Fifo(PathBuf);

impl Fifo {
    fn new(name: &str) -> Fifo {
        let path = std::env::temp_dir().join(format!("spinpark-cancelled-{name}-{}", std::process::id()));
        assert!(std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo").success());
        Fifo(path)
    }

    /// Open for reading and writing, so that neither end waits for the other.
    fn open(&self) -> std::fs::File {
        std::fs::File::options().read(true).write(true).open(&self.0).expect("open")
    }
}

impl Drop for Fifo {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A read, a read into several buffers, a read of a whole buffer: of both ends of what `pair` makes.
macro_rules! reads {
    ($pair:expr) => {
        with_each_poller(|_| async {
            let (reader, writer) = $pair;
            let mut buffer = [7; 8];
            gives_up(reader.read(&mut buffer)).await;
            gives_up(reader.read_vectored(&mut [IoSliceMut::new(&mut buffer)])).await;
            gives_up(reader.read_exact(&mut buffer)).await;
            assert_eq!(buffer, [7; 8]);
            writer.write_all(b"some").await.expect("written");
            gives_up(reader.read_exact(&mut buffer)).await;
            assert_eq!(&buffer, b"some\x07\x07\x07\x07");
            writer.write_all(b"more").await.expect("written");
            assert_eq!(reader.read(&mut buffer).await.expect("read"), 4);
            assert_eq!(&buffer, b"more\x07\x07\x07\x07");
        });
    };
}

/// A write of more than there is room for.
macro_rules! writes {
    ($pair:expr) => {
        with_each_poller(|_| async {
            let (reader, writer) = $pair;
            let much: Vec<u8> = (0..16_u32 << 20).map(|n| (n % 251) as u8).collect();
            gives_up(writer.write_all(&much)).await;
            drop(writer);
            let (mut came, mut buffer) = (Vec::new(), vec![0; 1 << 16]);
            loop {
                match reader.read(&mut buffer).await.expect("read") {
                    0 => break,
                    n => came.extend_from_slice(&buffer[..n]),
                }
            }
            assert!(!came.is_empty() && came.len() < much.len() && came == much[..came.len()], "{}", came.len());
        });
    };
}

/// A receive of a datagram.
macro_rules! receives {
    ($pair:expr) => {
        with_each_poller(|_| async {
            let (receiver, sender) = $pair;
            let mut buffer = [7; 8];
            gives_up(receiver.recv(&mut buffer)).await;
            gives_up(receiver.recv_from(&mut buffer)).await;
            assert_eq!(buffer, [7; 8]);
            sender.send(b"some").await.expect("sent");
            assert_eq!(receiver.recv(&mut buffer).await.expect("received"), 4);
            assert_eq!(&buffer, b"some\x07\x07\x07\x07");
        });
    };
}

mod of_a_stream {
    use super::*;

    #[test]
    fn a_read() {
        reads!(connection().await);
        reads!(UnixStream::pair().expect("a pair"));
        reads!(io::pipe().expect("a pipe"));
    }

    #[test]
    fn a_write() {
        writes!(connection().await);
        writes!(UnixStream::pair().expect("a pair"));
        writes!(io::pipe().expect("a pipe"));
    }

    #[test]
    fn a_peek() {
        with_each_poller(|_| async {
            let (reader, writer) = connection().await;
            let mut buffer = [7; 4];
            gives_up(reader.peek(&mut buffer)).await;
            assert_eq!(buffer, [7; 4]);
            writer.write_all(b"some").await.expect("written");
            assert_eq!((reader.peek(&mut buffer).await.expect("there"), &buffer), (4, b"some"));
        });
    }

    #[test]
    fn a_splice() {
        with_each_poller(|_| async {
            let ((from, source), (to, sink)) = (connection().await, connection().await);
            source.write_all(b"some").await.expect("written");
            // Between sockets it copies: what it has taken it has given.
            gives_up(io::splice(&from, &to, 8)).await;
            source.write_all(b"more").await.expect("written");
            assert_eq!(io::splice(&from, &to, 4).await.expect("moved"), 4);
            let mut came = [0; 8];
            sink.read_exact(&mut came).await.expect("read");
            assert_eq!(&came, b"somemore");
        });
    }
}

mod of_datagrams {
    use super::*;

    #[test]
    fn a_receive() {
        receives!(UnixDatagram::pair().expect("a pair"));
        receives!({
            let (one, other) = (UdpSocket::bind("127.0.0.1:0").await, UdpSocket::bind("127.0.0.1:0").await);
            let (one, other) = (one.expect("a socket"), other.expect("a socket"));
            other.connect(one.local_addr().expect("an address")).await.expect("connected");
            (one, other)
        });
    }
}

/// Without a ring a file's operations are one system call: there is nothing to be dropped.
mod of_a_file {
    use super::*;

    fn with_a_ring<F: Future<Output = ()>>(name: &str, test: impl Fn(fs::File, std::fs::File) -> F) {
        with_each_poller(|poller| {
            let fifo = (poller == "io_uring").then(|| Fifo::new(name));
            let ends = fifo.as_ref().map(|fifo| (fs::File::from_std(fifo.open()), fifo.open()));
            let test = ends.map(|(ours, other)| test(ours, other));
            async move {
                let _fifo = fifo;
                if let Some(test) = test {
                    test.await;
                }
            }
        });
    }

    #[test]
    fn a_read() {
        with_a_ring("read", |file, mut other| async move {
            let mut buffer = [7; 8];
            gives_up(file.read(&mut buffer)).await;
            gives_up(file.read_exact(&mut buffer)).await;
            assert_eq!(buffer, [7; 8]);
            other.write_all(b"some").expect("written");
            gives_up(file.read_exact(&mut buffer)).await;
            assert_eq!(&buffer, b"some\x07\x07\x07\x07");
        });
    }

    #[test]
    fn a_read_to_the_end() {
        with_a_ring("end", |file, mut other| async move {
            let mut bytes = b"before ".to_vec();
            gives_up(file.read_to_end(&mut bytes)).await;
            assert_eq!(bytes, b"before ");
            other.write_all(b"some").expect("written");
            gives_up(file.read_to_end(&mut bytes)).await;
            assert_eq!(bytes, b"before some");
            let much = [b'x'; 50_000];
            other.write_all(&much).expect("written");
            gives_up(file.read_to_end(&mut bytes)).await;
            assert!(bytes == [&b"before some"[..], &much].concat(), "{} bytes", bytes.len());
        });
    }

    #[test]
    fn a_read_of_text() {
        with_a_ring("text", |file, mut other| async move {
            let mut text = "before ".to_owned();
            other.write_all(b"lost").expect("written");
            gives_up(file.read_to_string(&mut text)).await;
            assert_eq!(text, "before ");
        });
    }

    #[test]
    fn a_write() {
        with_a_ring("write", |file, other| async move {
            let much: Vec<u8> = (0..1_u32 << 20).map(|n| (n % 251) as u8).collect();
            gives_up(file.write_all(&much)).await;
            drop(file);
            let (other, mut came) = (fs::File::from_std(other), Vec::new());
            gives_up(other.read_to_end(&mut came)).await;
            assert!(!came.is_empty() && came == much[..came.len()], "{} bytes", came.len());
        });
    }
}
