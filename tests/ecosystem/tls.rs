//! TLS by futures-rustls over spinpark's sockets, and HTTP/2 in it, as ALPN has agreed.

use super::{bytes, connected, run};
use futures_lite::{AsyncReadExt, AsyncWriteExt};
use futures_rustls::rustls::pki_types::{PrivatePkcs8KeyDer, ServerName};
use futures_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};
use futures_rustls::{TlsAcceptor, TlsConnector};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response, Version};
use spinpark::hyper::{Executor, Io};
use spinpark::spawn;
use std::convert::Infallible;
use std::sync::Arc;

/// Both sides of a TLS: the client trusts nothing but this server's certificate.
fn trusting() -> (TlsConnector, TlsAcceptor) {
    let made = rcgen::generate_simple_self_signed(["here.test".to_owned()]).expect("a certificate");
    let (certificate, key) = (made.cert.der().clone(), PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let mut server = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key.into())
        .expect("a key of that certificate");
    server.alpn_protocols = vec![b"h2".to_vec()];
    let mut roots = RootCertStore::empty();
    roots.add(certificate).expect("a certificate");
    let mut client = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    client.alpn_protocols = vec![b"h2".to_vec()];
    (Arc::new(client).into(), Arc::new(server).into())
}

fn name(name: &'static str) -> ServerName<'static> {
    ServerName::try_from(name).expect("a name")
}

#[test]
fn what_is_sent_comes_and_the_end_is_told() {
    run(async {
        let ((connector, acceptor), (client, server)) = (trusting(), connected().await);
        let serves = spawn(async move {
            let mut stream = acceptor.accept(server).await.expect("agreed");
            let mut all = Vec::new();
            stream.read_to_end(&mut all).await.expect("the client says that it has ended");
            stream.write_all(&all).await.expect("written");
            stream.close().await.expect("closed");
        });
        let mut stream = connector.connect(name("here.test"), client).await.expect("agreed");
        let sent = bytes(1 << 20);
        stream.write_all(&sent).await.expect("written");
        stream.close().await.expect("closed");
        let mut came = Vec::new();
        stream.read_to_end(&mut came).await.expect("the server says that it has ended");
        assert!(came == sent, "{} bytes came back", came.len());
        serves.await.expect("no panic");
    });
}

#[test]
fn a_server_of_another_name_is_refused() {
    run(async {
        let ((connector, acceptor), (client, server)) = (trusting(), connected().await);
        let serves = spawn(async move { acceptor.accept(server).await.map(drop) });
        let error = connector.connect(name("elsewhere.test"), client).await.expect_err("it is another");
        assert!(error.to_string().contains("certificate"), "{error}");
        serves.await.expect("no panic").expect_err("the client has gone");
    });
}

#[test]
fn http_2_is_spoken_in_it() {
    run(async {
        let ((connector, acceptor), (client, server)) = (trusting(), connected().await);
        let hello = |request: Request<Incoming>| async move {
            assert_eq!(request.version(), Version::HTTP_2);
            Ok::<_, Infallible>(Response::new(request.into_body()))
        };
        drop(spawn(async move {
            let stream = acceptor.accept(server).await.expect("agreed");
            assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
            let http = hyper::server::conn::http2::Builder::new(Executor);
            let _ = http.serve_connection(Io::new(stream), service_fn(hello)).await;
        }));
        let stream = connector.connect(name("here.test"), client).await.expect("agreed");
        let (mut requests, connection) =
            hyper::client::conn::http2::handshake(Executor, Io::new(stream)).await.expect("a connection");
        drop(spawn(async move {
            let _ = connection.await;
        }));
        for _ in 0..10 {
            let request = Request::post("https://here.test/").body(Full::new(Bytes::from(bytes(100_000))));
            let response = requests.send_request(request.expect("a request")).await.expect("an answer");
            let body = response.into_body().collect().await.expect("a body").to_bytes();
            assert!(body == bytes(100_000), "{} bytes came back", body.len());
        }
    });
}
