//! The certificate, and what is agreed with clients.

use crate::options::Certificate;
use futures_rustls::TlsAcceptor;
use futures_rustls::rustls::ServerConfig;
use futures_rustls::rustls::pki_types::pem::PemObject;
use futures_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

/// HTTP/2, if the client can.
pub(crate) const H2: &[u8] = b"h2";

pub(crate) fn acceptor(certificate: &Certificate) -> Result<TlsAcceptor, Box<dyn Error>> {
    let (chain, key) = match certificate {
        Certificate::Files { certificate, key } => {
            let chain: Vec<_> = CertificateDer::pem_file_iter(certificate)
                .and_then(Iterator::collect)
                .map_err(|error| about(certificate, error))?;
            (chain, PrivateKeyDer::from_pem_file(key).map_err(|error| about(key, error))?)
        }
        Certificate::SelfSigned(path) => {
            let made = rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()])?;
            std::fs::write(path, made.cert.pem()).map_err(|error| about(path, error))?;
            let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
            (vec![made.cert.der().clone()], key.into())
        }
    };
    let mut config = ServerConfig::builder().with_no_client_auth().with_single_cert(chain, key)?;
    config.alpn_protocols = vec![H2.to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config).into())
}

fn about(path: &Path, error: impl std::fmt::Display) -> String {
    format!("{}: {error}", path.display())
}
