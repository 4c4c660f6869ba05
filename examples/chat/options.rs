//! What the command line says.

use std::net::SocketAddr;
use std::time::Duration;

pub(crate) const USAGE: &str = "\
usage: chat [OPTION]...
  --listen ADDRESS    where it listens: an IP address and a port; default 127.0.0.1:8080
  --history LINES     how many lines who comes is shown; default 50
  --backlog LINES     how many lines a slow client may be behind; default 256
  --max-line BYTES    how long a message may be; default 4096
  --max-clients N     how many may be there at once; default 1000
  --ping SECONDS      how often a silent client is asked whether it is there; default 20
  --grace SECONDS     how long clients may take to go, at the end; default 5
  --help              this text";

#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) listen: SocketAddr,
    pub(crate) history: usize,
    pub(crate) backlog: usize,
    pub(crate) max_line: usize,
    pub(crate) max_clients: usize,
    pub(crate) ping: Duration,
    pub(crate) grace: Duration,
}

impl Options {
    /// `None`: help is wanted.
    pub(crate) fn of(mut args: impl Iterator<Item = String>) -> Result<Option<Options>, String> {
        let mut options = Options {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            history: 50,
            backlog: 256,
            max_line: 4096,
            max_clients: 1000,
            ping: Duration::from_secs(20),
            grace: Duration::from_secs(5),
        };
        while let Some(option) = args.next() {
            if matches!(option.as_str(), "--help" | "-h") {
                return Ok(None);
            }
            let mut value = || args.next().ok_or_else(|| format!("{option} wants a value"));
            match option.as_str() {
                "--listen" => options.listen = address(&value()?)?,
                "--history" => options.history = number("--history", &value()?, 0..=10_000)?,
                "--backlog" => options.backlog = number("--backlog", &value()?, 1..=100_000)?,
                "--max-line" => options.max_line = number("--max-line", &value()?, 64..=1 << 20)?,
                "--max-clients" => options.max_clients = number("--max-clients", &value()?, 1..=1_000_000)?,
                "--ping" => options.ping = seconds("--ping", &value()?)?,
                "--grace" => options.grace = seconds("--grace", &value()?)?,
                _ => return Err(format!("unknown option `{option}`")),
            }
        }
        match options.ping.is_zero() {
            true => Err("--ping is more than 0 seconds".into()),
            false => Ok(Some(options)),
        }
    }
}

fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| format!("--listen is an IP address and a port, such as 127.0.0.1:8080, not `{text}`"))
}

fn number(option: &str, text: &str, allowed: std::ops::RangeInclusive<usize>) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| allowed.contains(number));
    number.ok_or_else(|| format!("{option} is {} to {}, not `{text}`", allowed.start(), allowed.end()))
}

fn seconds(option: &str, text: &str) -> Result<Duration, String> {
    let time = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.ok_or_else(|| format!("{option} is a number of seconds, not `{text}`"))
}
