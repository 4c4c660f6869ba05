//! A reverse proxy: TLS (rustls) and HTTP/1 in front, hyper-util's client behind. SIGTERM ends it when the requests of then are answered.
//!
//! `proxy ADDRESS CERTIFICATE` passes requests on to that address, writes its certificate into that file, and prints where it listens.

use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::graceful::GracefulShutdown;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

type Error = Box<dyn std::error::Error + Send + Sync>;

fn tls(file: &str) -> Result<TlsAcceptor, Error> {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    std::fs::write(file, made.cert.der())?;
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let config = ServerConfig::builder().with_no_client_auth().with_single_cert(vec![made.cert.der().clone()], key)?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

#[cfg_attr(not(feature = "on-tokio"), spinpark::main(tokio))]
#[cfg_attr(feature = "on-tokio", tokio::main)]
async fn main() -> Result<(), Error> {
    let mut args = std::env::args().skip(1);
    let (Some(behind), Some(file)) = (args.next(), args.next()) else {
        return Err("say what is behind, and a file".into());
    };
    let (acceptor, graceful) = (tls(&file)?, GracefulShutdown::new());
    let client: Client<_, Incoming> = Client::builder(TokioExecutor::new()).build_http();
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("listening on {}", listener.local_addr()?);

    let pass_on = move |mut request: Request<Incoming>| {
        let (client, behind) = (client.clone(), behind.clone());
        async move {
            let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
            *request.uri_mut() =
                format!("http://{behind}{path}").parse::<Uri>().expect("an address, and a path that was asked for");
            client.request(request).await
        }
    };
    let mut terminated = signal(SignalKind::terminate())?;
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => accepted?.0,
            _ = terminated.recv() => break,
        };
        stream.set_nodelay(true)?;
        let (acceptor, watcher, pass_on) = (acceptor.clone(), graceful.watcher(), pass_on.clone());
        tokio::spawn(async move {
            let Ok(stream) = acceptor.accept(stream).await else { return };
            let serves =
                hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(pass_on));
            // A client that hangs up is no fault of ours.
            let _ = watcher.watch(serves).await;
        });
    }
    drop(listener);
    graceful.shutdown().await;
    println!("ended");
    Ok(())
}
