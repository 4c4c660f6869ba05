//! Several listeners at one address (`SO_REUSEPORT`): the system divides what comes among them.

use crate::runtime::io::around;
use crate::runtime::io::net::backlog::BACKLOG;
use crate::runtime::io::net::lookup::{lookup_host, no_address};
use crate::runtime::io::net::resolve::ToSocketAddrs;
use crate::runtime::io::net::tcp::TcpListener;
use crate::runtime::io::net::tcp_socket::TcpSocket;
use std::io;
use std::net::SocketAddr;

impl TcpListener {
    /// So many listeners at an address, one for each P, say; of several addresses, at the first that is free. With port 0 the system
    /// chooses one, which is that of all.
    ///
    /// Each has a queue of its own in the system, and a task of its own accepts from it: so tasks that accept on several cores do
    /// not contend for one. Linux chooses the listener by the addresses and ports of both ends, not by load: a task that
    /// accepts slowly keeps those waiting that came to its listener, and a listener that is dropped takes them along. Other systems
    /// may give all to the last one. Other processes of the same user may listen there too, if they say so.
    ///
    /// ```
    /// # #[cfg(target_os = "linux")]
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use spinpark::net::{TcpListener, TcpStream};
    ///
    /// spinpark::Runtime::new()?.block_on(async {
    ///     let procs = spinpark::Handle::try_current().expect("a runtime").metrics().procs;
    ///     let listeners = TcpListener::bind_many("127.0.0.1:0", procs).await?;
    ///     let address = listeners[0].local_addr()?;
    ///     for listener in listeners {
    ///         drop(spinpark::spawn(async move {
    ///             while let Ok((stream, _peer)) = listener.accept().await {
    ///                 drop(spinpark::spawn(async move { stream.write_all(b"hello").await }));
    ///             }
    ///         }));
    ///     }
    ///     let stream = TcpStream::connect(address).await?;
    ///     let mut greeting = [0; 5];
    ///     stream.read_exact(&mut greeting).await?;
    ///     assert_eq!(&greeting, b"hello");
    ///     Ok::<_, std::io::Error>(())
    /// })??;
    /// # Ok(())
    /// # }
    /// # #[cfg(not(target_os = "linux"))]
    /// # fn main() {}
    /// ```
    ///
    /// # Errors
    /// If the caller is no task; those of the look-up; that of the last address that was tried. It is in use, say, by a listener that
    /// does not share it.
    ///
    /// # Cancel safety
    /// Dropped before it is ready, none listens.
    pub async fn bind_many<A: ToSocketAddrs>(address: A, n: usize) -> io::Result<Vec<TcpListener>> {
        around::netpoll("TcpListener::bind_many was called")?;
        let mut last = None;
        for address in lookup_host(address).await? {
            match share(address, n) {
                Ok(listeners) => return Ok(listeners),
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or_else(no_address))
    }
}

/// All at one address.
fn share(address: SocketAddr, n: usize) -> io::Result<Vec<TcpListener>> {
    let mut listeners: Vec<TcpListener> = Vec::with_capacity(n);
    for _ in 0..n {
        // The first has found the port.
        let address = listeners.first().map_or(Ok(address), TcpListener::local_addr)?;
        let socket = match address.is_ipv4() {
            true => TcpSocket::new_v4()?,
            false => TcpSocket::new_v6()?,
        };
        // As std sets it for one listener.
        socket.set_reuseaddr(true)?;
        socket.set_reuseport(true)?;
        socket.bind(address)?;
        listeners.push(socket.listen(BACKLOG)?);
    }
    Ok(listeners)
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::io::net::TcpStream;
    use crate::runtime::testing::{run, spawn};
    use core::time::Duration;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    mod listeners_at_one_port {
        use super::*;

        #[test]
        fn all_accept() {
            run(async {
                let listeners = TcpListener::bind_many("127.0.0.1:0", 4).await.expect("they listen");
                let at = listeners[0].local_addr().expect("an address");
                let counts: Vec<_> = listeners
                    .into_iter()
                    .map(|listener| {
                        assert_eq!(listener.local_addr().expect("an address"), at);
                        let count = Arc::new(AtomicUsize::new(0));
                        drop(spawn({
                            let count = Arc::clone(&count);
                            async move {
                                while let Ok((stream, _)) = listener.accept().await {
                                    count.fetch_add(1, SeqCst);
                                    stream.write_all(b"x").await.expect("written");
                                }
                            }
                        }));
                        count
                    })
                    .collect();
                let of_each = || counts.iter().map(|count| count.load(SeqCst)).collect::<Vec<_>>();
                // By chance: that one of four is left out a hundred times is one in 10^12.
                for made in 1..=400 {
                    let stream = TcpStream::connect(at).await.expect("connected");
                    stream.read_exact(&mut [0]).await.expect("read");
                    assert_eq!(of_each().iter().sum::<usize>(), made, "each connection is accepted once");
                    if made >= 100 && of_each().iter().all(|&n| n > 0) {
                        return;
                    }
                }
                panic!("one was left out: {:?}", of_each());
            });
        }

        #[test]
        fn are_refused_where_one_does_not_share() {
            run(async {
                let alone = TcpListener::bind("127.0.0.1:0").await.expect("a listener");
                let at = alone.local_addr().expect("an address");
                let error = TcpListener::bind_many(at, 2).await.expect_err("it is in use");
                assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
                drop(alone);
                let both = TcpListener::bind_many(at, 2).await.expect("it is free");
                assert_eq!(both.len(), 2);
                crate::time::timeout(Duration::from_millis(1), both[0].accept()).await.expect_err("no client connects");
            });
        }

        #[test]
        fn may_be_none() {
            run(async {
                assert!(TcpListener::bind_many("127.0.0.1:0", 0).await.expect("nothing is asked for").is_empty());
            });
        }
    }
}
