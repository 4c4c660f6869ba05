//! Streams by tokio's traits, and back.

use super::{bytes, connected, run};
use futures_lite::{AsyncReadExt as _, AsyncWriteExt as _};
use spinpark::fs::File;
use spinpark::spawn;
use spinpark::tokio_compat::Io;
use std::io::SeekFrom;
use tokio::io::{self, AsyncBufReadExt as _, AsyncReadExt as _, AsyncSeekExt as _, AsyncWriteExt as _};

#[test]
fn a_socket_of_ours_is_copied_by_their_functions() {
    run(async {
        // client ── a ─copy─ b ── server
        let (client, a) = connected().await;
        let (b, server) = connected().await;
        let copies = spawn(async move { io::copy_bidirectional(&mut Io::new(a), &mut Io::new(b)).await });
        let serves = spawn(async move {
            let mut server = Io::new(server);
            let mut all = Vec::new();
            server.read_to_end(&mut all).await.expect("read");
            all.reverse();
            server.write_all(&all).await.expect("written");
            server.shutdown().await.expect("shut down");
        });
        let (mut reads, mut writes) = io::split(Io::new(client));
        let sent = bytes(300_000);
        writes.write_all(&sent).await.expect("written");
        writes.shutdown().await.expect("shut down");
        let mut came = Vec::new();
        reads.read_to_end(&mut came).await.expect("read");
        came.reverse();
        assert!(came == sent, "{} bytes came back", came.len());
        serves.await.expect("no panic");
        let copied = copies.await.expect("no panic").expect("no error");
        assert_eq!(copied, (300_000, 300_000));
    });
}

#[test]
fn lines_are_read_from_ours_by_their_reader() {
    run(async {
        let (client, server) = connected().await;
        let writes = spawn(async move { client.write_all(b"one\ntwo\nthree").await });
        let mut lines = io::BufReader::new(Io::new(server)).lines();
        for line in ["one", "two", "three"] {
            assert_eq!(lines.next_line().await.expect("read").as_deref(), Some(line));
        }
        assert_eq!(lines.next_line().await.expect("read"), None);
        writes.await.expect("no panic").expect("written");
    });
}

#[test]
fn a_file_of_ours_is_sought_in_by_their_trait() {
    run(async {
        let path = std::env::temp_dir().join(format!("spinpark-seek-{}", std::process::id()));
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path).await.expect("open");
        spinpark::fs::remove_file(&path).await.expect("removed");
        let mut file = Io::new(file);
        file.write_all(b"some text").await.expect("written");
        assert_eq!(file.stream_position().await.expect("asked"), 9);
        assert_eq!(file.seek(SeekFrom::End(-4)).await.expect("sought"), 5);
        let mut text = String::new();
        file.read_to_string(&mut text).await.expect("read");
        assert_eq!(text, "text");
        file.seek(SeekFrom::Current(-100)).await.expect_err("before the beginning");
        let ours = file.into_inner();
        assert_eq!(ours.seek(SeekFrom::Start(2)).await.expect("sought"), 2);
    });
}

#[test]
fn a_stream_of_theirs_is_one_of_ours() {
    run(async {
        // Less room than there is to be written: both have to wait.
        let (one, other) = io::duplex(1000);
        let sent = bytes(50_000);
        let writes = spawn({
            let (mut one, sent) = (Io::new(one), sent.clone());
            async move {
                one.write_all(&sent).await.expect("written");
                one.close().await.expect("closed");
            }
        });
        let mut came = Vec::new();
        Io::new(other).read_to_end(&mut came).await.expect("read");
        assert!(came == sent, "{} bytes came", came.len());
        writes.await.expect("no panic");
    });
}

#[test]
fn there_and_back_is_the_same_stream() {
    run(async {
        let (client, server) = connected().await;
        let mut twice = Io::new(Io::new(server));
        client.write_all(b"hello").await.expect("written");
        let mut came = [0; 5];
        futures_lite::AsyncReadExt::read_exact(&mut twice, &mut came).await.expect("read");
        assert_eq!(&came, b"hello");
    });
}
