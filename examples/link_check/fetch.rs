//! Fetching a page: once at a time for each path, with a deadline for each try.

use spinpark::context::Context;
use spinpark::net::TcpStream;
use spinpark::sync::{OnceCell, singleflight};
use spinpark::{Wait, time};
use std::net::SocketAddr;
use std::time::Duration;
use std::{fmt, io};

/// Why a page was not fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FetchError {
    /// The server does not have it.
    NotFound,
    /// The server answered with this status, again and again.
    Status(u16),
    /// The deadline of a try elapsed.
    Timeout,
    /// The whole check was canceled.
    Canceled,
    /// Something else.
    Io(String),
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FetchError::NotFound => f.write_str("not found"),
            FetchError::Status(status) => write!(f, "status {status}"),
            FetchError::Timeout => f.write_str("deadline has elapsed"),
            FetchError::Canceled => f.write_str("canceled"),
            FetchError::Io(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for FetchError {}

impl From<io::Error> for FetchError {
    fn from(error: io::Error) -> Self {
        FetchError::Io(error.to_string())
    }
}

/// What a fetch comes to: the page's links.
pub(crate) type Fetched = Result<Vec<String>, FetchError>;

/// Fetches pages of one server.
#[derive(Debug)]
pub(crate) struct Fetcher {
    address: SocketAddr,
    each: Duration,
    tries: u32,
    flights: singleflight::Group<String, Fetched>,
    forbidden: OnceCell<Vec<String>>,
}

impl Fetcher {
    /// Of this server, with so many tries of so long.
    pub(crate) fn new(address: SocketAddr, each: Duration, tries: u32) -> Self {
        let (flights, forbidden) = (singleflight::Group::new(), OnceCell::new());
        Fetcher { address, each, tries, flights, forbidden }
    }

    /// The page's links. Several goroutines that want the same page share one fetch.
    pub(crate) fn fetch(&self, ctx: &Context, path: &str) -> Fetched {
        self.flights.call(path.to_owned(), || self.fetch_again(ctx, path)).wait()
    }

    /// May this page be fetched? The first that asks fetches the list; the others wait for it.
    pub(crate) fn is_allowed(&self, ctx: &Context, path: &str) -> Result<bool, FetchError> {
        let forbidden = self.forbidden.get_or_try_init(async || match self.fetch_again(ctx, "/robots").await {
            Err(FetchError::NotFound) => Ok(Vec::new()),
            fetched => fetched,
        });
        Ok(!forbidden.wait()?.iter().any(|start| path.starts_with(start)))
    }

    async fn fetch_again(&self, ctx: &Context, path: &str) -> Fetched {
        let mut wait = Duration::from_millis(1);
        for left in (0..self.tries).rev() {
            let (limited, _cancel) = ctx.with_timeout(self.each);
            let fetched = match limited.run(self.fetch_once(path)).await {
                Ok(fetched) => fetched,
                Err(_) if ctx.is_done() => return Err(FetchError::Canceled),
                Err(_) => Err(FetchError::Timeout),
            };
            match fetched {
                Err(FetchError::Status(_) | FetchError::Timeout) if left > 0 => {
                    ctx.run(time::sleep(wait)).await.map_err(|_| FetchError::Canceled)?;
                    wait *= 2;
                }
                fetched => return fetched,
            }
        }
        Err(FetchError::Canceled)
    }

    async fn fetch_once(&self, path: &str) -> Fetched {
        let stream = TcpStream::connect(self.address).await?;
        stream.write_all(format!("{path}\n").as_bytes()).await?;
        let (mut text, mut buffer) = (Vec::new(), [0; 512]);
        loop {
            match stream.read(&mut buffer).await? {
                0 => break,
                n => text.extend_from_slice(&buffer[..n]),
            }
        }
        let text = String::from_utf8(text).map_err(|error| FetchError::Io(error.to_string()))?;
        let (status, links) = text.split_once('\n').ok_or(FetchError::Canceled)?;
        match status {
            "200" => Ok(links.lines().map(str::to_owned).collect()),
            "404" => Err(FetchError::NotFound),
            status => Err(FetchError::Status(status.parse().unwrap_or(0))),
        }
    }
}
