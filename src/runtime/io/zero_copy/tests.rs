use crate::runtime::io::net::TcpListener;
use crate::runtime::io::zero_copy::*;
use crate::runtime::testing::{run, spawn};
use std::io::Write;

/// More than a pipe or a socket holds.
const MUCH: usize = 5_000_003;

/// Bytes that do not repeat for long.
fn noise(len: usize) -> Vec<u8> {
    (0..len as u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

/// Two ends of a connection.
async fn connection() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a listener");
    let one = TcpStream::connect(listener.local_addr().expect("an address")).await.expect("connected");
    (one, listener.accept().await.expect("accepted").0)
}

/// All that comes until the end.
async fn read_all(from: &impl SpliceFrom) -> Vec<u8> {
    let (mut all, mut buffer) = (Vec::new(), vec![0; 10_000]);
    loop {
        match from.take(&mut buffer).await.expect("read") {
            0 => return all,
            n => all.extend_from_slice(&buffer[..n]),
        }
    }
}

/// A file with these bytes, which has no name any more.
fn file(bytes: &[u8], name: &str) -> File {
    let path = std::env::temp_dir().join(format!("spinpark-zero-copy-{name}-{}", std::process::id()));
    let mut file = std::fs::File::options().read(true).write(true).create_new(true).open(&path).expect("a file");
    std::fs::remove_file(&path).expect("removed");
    file.write_all(bytes).expect("written");
    File::from_std(file)
}

mod a_splice {
    use super::*;
    use crate::runtime::io::pipe::pipe;

    #[test]
    fn goes_from_a_socket_through_a_pipe_to_a_socket() {
        run(async {
            let bytes = noise(MUCH);
            let ((source, from), (to, sink)) = (connection().await, connection().await);
            let (reader, writer) = pipe().expect("a pipe");
            let sends = spawn({
                let bytes = bytes.clone();
                async move { source.write_all(&bytes).await.expect("written") }
            });
            let fills = spawn(async move { splice(&from, &writer, u64::MAX).await.expect("spliced") });
            let empties = spawn(async move { splice(&reader, &to, u64::MAX).await.expect("spliced") });
            let came = spawn(async move { read_all(&sink).await }).await;
            sends.await;
            assert_eq!((fills.await, empties.await), (MUCH as u64, MUCH as u64));
            assert!(came == bytes, "{} bytes came, not all as they were", came.len());
        });
    }

    #[test]
    fn between_two_sockets_is_a_copy() {
        run(async {
            let bytes = noise(MUCH);
            let ((source, from), (to, sink)) = (connection().await, connection().await);
            let sends = spawn({
                let bytes = bytes.clone();
                async move { source.write_all(&bytes).await.expect("written") }
            });
            let moves = spawn(async move { splice(&from, &to, u64::MAX).await.expect("copied") });
            let came = spawn(async move { read_all(&sink).await }).await;
            sends.await;
            assert_eq!(moves.await, MUCH as u64);
            assert!(came == bytes, "{} bytes came, not all as they were", came.len());
        });
    }

    #[test]
    fn takes_no_more_than_it_is_asked_for() {
        run(async {
            let (reader, writer) = pipe().expect("a pipe");
            let (to, sink) = UnixStream::pair().expect("a pair");
            writer.write_all(b"some and the rest").await.expect("written");
            assert_eq!(splice(&reader, &to, 0).await.expect("spliced"), 0);
            assert_eq!(splice(&reader, &to, 4).await.expect("spliced"), 4);
            drop(to);
            assert_eq!(read_all(&sink).await, b"some");
            drop(writer);
            assert_eq!(read_all(&reader).await, b" and the rest");
        });
    }

    #[test]
    fn to_nobody_is_an_error() {
        run(async {
            let (reader, writer) = pipe().expect("a pipe");
            let (to, sink) = UnixStream::pair().expect("a pair");
            writer.write_all(b"lost").await.expect("written");
            drop(sink);
            let error = splice(&reader, &to, 4).await.expect_err("no reader is left");
            assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
        });
    }
}

mod a_file {
    use super::*;

    #[test]
    fn is_sent_from_a_place_on() {
        run(async {
            let bytes = noise(MUCH);
            let file = file(&bytes, "sent");
            let (to, sink) = connection().await;
            let comes = spawn(async move { read_all(&sink).await });
            assert_eq!(to.sendfile(&file, 1000, 2_000_000).await.expect("sent"), 2_000_000);
            // More than there is: to its end.
            assert_eq!(to.sendfile(&file, 2_001_000, u64::MAX / 2).await.expect("sent"), MUCH as u64 - 2_001_000);
            assert_eq!(to.sendfile(&file, MUCH as u64, 1).await.expect("sent"), 0);
            drop(to);
            let came = comes.await;
            assert!(came == bytes[1000..], "{} bytes came, not all as they were", came.len());
        });
    }

    #[test]
    fn is_read_and_written_where_the_system_cannot_send_it() {
        run(async {
            let bytes = noise(300_000);
            let file = file(&bytes, "copied");
            let (to, sink) = connection().await;
            let comes = spawn(async move { read_all(&sink).await });
            let sent = read_and_send(&to, &file, 7, u64::MAX / 2).await.expect("sent");
            assert_eq!(sent, bytes.len() as u64 - 7);
            drop(to);
            assert!(comes.await == bytes[7..], "not all as they were");
        });
    }

    #[test]
    fn that_nobody_wants_is_an_error() {
        run(async {
            let file = file(&noise(MUCH), "unwanted");
            let (to, sink) = UnixStream::pair().expect("a pair");
            drop(sink);
            let error = to.sendfile(&file, 0, u64::MAX / 2).await.expect_err("no reader is left");
            assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
        });
    }
}
