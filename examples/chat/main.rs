//! A chat server: rooms, names, and the last lines, over WebSocket, with a page for the browser.
//!
//! ```text
//!   cargo run --release --example chat --features hyper,signal
//!   open http://127.0.0.1:8080 in two windows
//! ```
//!
//! * **WebSocket** by async-tungstenite, on a connection that hyper has upgraded. What is said is JSON ([protocol]).
//! * **Rooms** are `sync::broadcast` channels ([rooms]). A client that joins gets the last `--history` lines; then each line once.
//! * **Slow clients** delay no others: a client that does not keep up misses lines, and is told how many. One that takes nothing at all,
//!   and answers no ping, for twice as long as `--ping` says is cut off.
//! * **Limits**: on a line (`--max-line`; 1009), on names, on rooms, on clients (`--max-clients`; 503). A page of another site cannot
//!   connect (403).
//! * **The end**: by SIGTERM or SIGINT it accepts no more clients, sends each a close frame (1001), waits for their answers, for
//!   `--grace` seconds at most, and goes; a second one ends it at once.

#[cfg(unix)]
mod client;
#[cfg(unix)]
mod http;
#[cfg(unix)]
mod options;
#[cfg(unix)]
mod protocol;
#[cfg(unix)]
mod rooms;
#[cfg(unix)]
mod socket;

#[cfg(unix)]
fn main() {
    std::process::exit(unix::main());
}

#[cfg(not(unix))]
fn main() {
    eprintln!("chat: there are no signals here that could end it");
    std::process::exit(2);
}

#[cfg(unix)]
mod unix {
    use crate::http::{Server, accept};
    use crate::options::{Options, USAGE};
    use spinpark::net::{TcpListener, TcpSocket};
    use spinpark::signal::unix::{SignalKind, signal};
    use spinpark::{select, spawn, time};
    use std::error::Error;
    use std::net::SocketAddr;
    use std::sync::Arc;

    /// Of what a client has not taken yet, the system keeps so much; the rest waits in the room, where it is counted.
    const SEND_BUFFER: u32 = 64 * 1024;

    pub(crate) fn main() -> i32 {
        let options = match Options::of(std::env::args().skip(1)) {
            Ok(Some(options)) => options,
            Ok(None) => {
                println!("{USAGE}");
                return 0;
            }
            Err(error) => {
                eprintln!("chat: {error}\n{USAGE}");
                return 2;
            }
        };
        let runtime = spinpark::Runtime::new().expect("threads");
        match runtime.block_on(run(options)).expect("no deadlock as long as a client may come") {
            Ok(()) => 0,
            Err(error) => {
                eprintln!("chat: {error}");
                1
            }
        }
    }

    async fn run(options: Options) -> Result<(), Box<dyn Error>> {
        let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        let listener = listen(options.listen).map_err(|error| format!("{}: {error}", options.listen))?;
        println!("chat on http://{}", listener.local_addr()?);

        let server = Arc::new(Server::new(options));
        let accepts = spawn(accept(listener, Arc::clone(&server)));
        select! {
            _ = term.recv() => (),
            _ = int.recv() => (),
        }
        server.ends.cancel();
        // A client that connects from now on is refused: the listener is gone when this task is.
        accepts.await?;
        select! {
            _ = server.clients.wait() => (),
            _ = time::sleep(server.options.grace) => eprintln!("some clients have not answered: they are cut off"),
            _ = term.recv() => std::process::exit(1),
            _ = int.recv() => std::process::exit(1),
        }
        Ok(())
    }

    fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        socket.set_reuseaddr(true)?;
        // Connections have it from their listener.
        socket.set_send_buffer_size(SEND_BUFFER)?;
        socket.bind(address)?;
        socket.listen(1024)
    }
}
