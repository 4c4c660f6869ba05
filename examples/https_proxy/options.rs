//! What the command line says.

use std::path::PathBuf;
use std::time::Duration;

pub(crate) const USAGE: &str = "\
usage: https_proxy --upstream HOST:PORT (--cert FILE --key FILE | --self-signed FILE)
                   [--listen ADDRESS] [--admin ADDRESS] [--timeout SECONDS] [--grace SECONDS]";

/// Where the certificate comes from.
#[derive(Debug)]
pub(crate) enum Certificate {
    Files {
        certificate: PathBuf,
        key: PathBuf,
    },
    /// It is made, and written there.
    SelfSigned(PathBuf),
}

#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) listen: String,
    pub(crate) admin: String,
    pub(crate) upstream: String,
    pub(crate) certificate: Certificate,
    /// How long the server behind may take to answer.
    pub(crate) timeout: Duration,
    /// How long it goes on answering after it was asked to end.
    pub(crate) grace: Duration,
}

impl Options {
    /// `None`: help is wanted.
    pub(crate) fn of(mut args: impl Iterator<Item = String>) -> Result<Option<Options>, String> {
        let (mut listen, mut admin) = ("127.0.0.1:8443".to_owned(), "127.0.0.1:9443".to_owned());
        let (mut upstream, mut files, mut made) = (None, (None, None), None);
        let (mut timeout, mut grace) = (Duration::from_secs(30), Duration::from_secs(10));
        while let Some(option) = args.next() {
            if matches!(option.as_str(), "--help" | "-h") {
                return Ok(None);
            }
            let mut value = || args.next().ok_or_else(|| format!("{option} wants a value"));
            match option.as_str() {
                "--listen" => listen = value()?,
                "--admin" => admin = value()?,
                "--upstream" => upstream = Some(value()?),
                "--cert" => files.0 = Some(value()?.into()),
                "--key" => files.1 = Some(value()?.into()),
                "--self-signed" => made = Some(value()?.into()),
                "--timeout" => timeout = seconds("--timeout", &value()?)?,
                "--grace" => grace = seconds("--grace", &value()?)?,
                _ => return Err(format!("unknown option `{option}`")),
            }
        }
        let certificate = match (files, made) {
            ((Some(certificate), Some(key)), None) => Certificate::Files { certificate, key },
            ((None, None), Some(path)) => Certificate::SelfSigned(path),
            _ => return Err("a certificate is wanted: --cert and --key, or --self-signed".into()),
        };
        let upstream = upstream.ok_or("--upstream is wanted")?;
        Ok(Some(Options { listen, admin, upstream, certificate, timeout, grace }))
    }
}

fn seconds(option: &str, text: &str) -> Result<Duration, String> {
    let time = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.ok_or_else(|| format!("{option} is a number of seconds, not `{text}`"))
}
