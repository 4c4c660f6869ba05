//! A reverse proxy: TLS and HTTP/1 or 2 from outside, HTTP/1 to a server behind it.
//!
//! ```text
//!   cargo run --release --example https_proxy --features hyper,signal -- --upstream 127.0.0.1:8000 --self-signed cert.pem
//!   curl --cacert cert.pem https://localhost:8443/
//!   curl http://127.0.0.1:9443/metrics
//! ```
//!
//! * **TLS** by futures-rustls. ALPN decides between HTTP/1 and 2. With `--cert` and `--key`, files in PEM's form, it has a certificate
//!   of its own; with `--self-signed FILE` it makes one for `localhost`, and writes it there.
//! * **Connections to the server behind it** are kept and used again. One that the server has closed meanwhile is replaced, if nothing
//!   was sent on it.
//! * **Timeouts**: for a client's TLS and heads, and for the server's answer (`--timeout`; 504). A server that is not there is 502.
//! * **The end**: by SIGTERM or SIGINT it accepts no more connections, answers the requests that have come, for `--grace` seconds at most, and goes;
//!   a second one ends it at once.
//! * **What it does** is on a page of its own, `/metrics` at the address `--admin`, in the form that Prometheus reads.

#[cfg(unix)]
mod forward;
#[cfg(unix)]
mod metrics;
#[cfg(unix)]
mod options;
#[cfg(unix)]
mod serve;
#[cfg(unix)]
mod tls;
#[cfg(unix)]
mod upstream;

#[cfg(unix)]
fn main() {
    std::process::exit(unix::main());
}

#[cfg(not(unix))]
fn main() {
    eprintln!("https_proxy: there are no signals here that could end it");
    std::process::exit(2);
}

#[cfg(unix)]
mod unix {
    use crate::metrics::{self, Counts};
    use crate::options::{Options, USAGE};
    use crate::serve::{Life, accept};
    use crate::tls;
    use crate::upstream::Upstream;
    use spinpark::net::TcpListener;
    use spinpark::signal::unix::{SignalKind, signal};
    use spinpark::{chan, select, spawn, time};
    use std::error::Error;
    use std::sync::Arc;

    pub(crate) fn main() -> i32 {
        let options = match Options::of(std::env::args().skip(1)) {
            Ok(Some(options)) => options,
            Ok(None) => {
                println!("{USAGE}");
                return 0;
            }
            Err(error) => {
                eprintln!("https_proxy: {error}\n{USAGE}");
                return 2;
            }
        };
        let runtime = spinpark::Runtime::new().expect("threads");
        match runtime.block_on(run(options)).expect("no deadlock as long as a client may come") {
            Ok(()) => 0,
            Err(error) => {
                eprintln!("https_proxy: {error}");
                1
            }
        }
    }

    async fn run(options: Options) -> Result<(), Box<dyn Error>> {
        let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        let acceptor = tls::acceptor(&options.certificate)?;
        let counts = Arc::new(Counts::default());
        let upstream = Arc::new(Upstream::new(options.upstream.clone(), options.timeout, Arc::clone(&counts)));
        let listener = listen(&options.listen).await?;
        let admin = listen(&options.admin).await?;
        println!("listening on https://{}, metrics on http://{}/metrics", listener.local_addr()?, admin.local_addr()?);
        drop(spawn(metrics::serve(admin, Arc::clone(&counts))));

        let ((goes_on, ends), (lives, all_ended)) = (chan::rendezvous(), chan::rendezvous());
        let life = Life { ends, _lives: lives };
        let accepts = spawn(async move { accept(listener, acceptor, upstream, counts, life).await });
        select! {
            _ = term.recv() => (),
            _ = int.recv() => (),
        }
        drop(goes_on);
        // A client that connects from now on is refused: the listener is gone when this task is.
        accepts.await?;
        select! {
            // Nothing is ever sent.
            _ = all_ended.recv() => (),
            _ = time::sleep(options.grace) => eprintln!("some are still being answered: they are cut off"),
            _ = term.recv() => std::process::exit(1),
            _ = int.recv() => std::process::exit(1),
        }
        Ok(())
    }

    async fn listen(address: &str) -> Result<TcpListener, Box<dyn Error>> {
        Ok(TcpListener::bind(address).await.map_err(|error| format!("{address}: {error}"))?)
    }
}
