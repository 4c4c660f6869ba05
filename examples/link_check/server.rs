//! The site whose links are checked: a server on a socket of its own. A request is a path and a newline; the answer a status, and a
//! line for each link.

use spinpark::context::Context;
use spinpark::net::{TcpListener, TcpStream};
use spinpark::sync::WaitGroup;
use spinpark::{Wait, go, select, time};
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

/// What the server does when it is asked for a page.
#[derive(Debug)]
pub(crate) enum Page {
    /// It has links to these.
    Links(Vec<String>),
    /// It fails so often, then has links to these.
    Flaky(AtomicUsize, Vec<String>),
    /// It takes so long, and has no links.
    Slow(Duration),
}

/// Pages by path.
pub(crate) type Site = HashMap<String, Page>;

/// A page with links to these.
pub(crate) fn links(to: &[&str]) -> Page {
    Page::Links(to.iter().map(|&path| path.to_owned()).collect())
}

/// A server, until its context ends.
#[derive(Debug)]
pub(crate) struct Server {
    /// Where it listens.
    pub(crate) address: SocketAddr,
    /// How many requests it has answered.
    pub(crate) answered: Arc<AtomicUsize>,
    connections: Arc<WaitGroup>,
}

impl Server {
    /// Waits until the last connection has ended.
    pub(crate) fn wait(&self) {
        self.connections.wait().wait();
    }
}

/// Starts the server. It accepts until the context ends.
///
/// # Errors
/// No port is free.
pub(crate) fn serve(ctx: &Context, site: Site) -> io::Result<Server> {
    let listener = TcpListener::bind("127.0.0.1:0").wait()?;
    let address = listener.local_addr()?;
    let (connections, answered) = (Arc::new(WaitGroup::new()), Arc::new(AtomicUsize::new(0)));
    let server = Server { address, answered: Arc::clone(&answered), connections: Arc::clone(&connections) };
    let (ctx, site) = (ctx.clone(), Arc::new(site));
    connections.add(1);
    go(move || {
        loop {
            // Go's server would close the listener in a `context.AfterFunc`: here the wait is a case.
            let accepted = select!(wait {
                accepted = listener.accept() => accepted,
                _ = ctx.done() => break,
            });
            let Ok((stream, _peer)) = accepted else { break };
            let (ctx, site) = (ctx.clone(), Arc::clone(&site));
            let (connections, answered) = (Arc::clone(&connections), Arc::clone(&answered));
            connections.add(1);
            go(move || {
                // A client that is gone is no error of the server's.
                if let Ok(true) = answer(&ctx, &stream, &site) {
                    answered.fetch_add(1, SeqCst);
                }
                connections.done();
            });
        }
        connections.done();
    });
    Ok(server)
}

/// Reads a request and answers it. `false`: the context ended before.
fn answer(ctx: &Context, stream: &TcpStream, site: &Site) -> io::Result<bool> {
    let path = read_line(stream)?;
    let text = match site.get(&path) {
        None => "404\n".to_owned(),
        Some(Page::Links(links)) => page(links),
        Some(Page::Flaky(left, links)) => {
            let fails = left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok();
            if fails { "503\n".to_owned() } else { page(links) }
        }
        Some(Page::Slow(takes)) => select!(wait {
            _ = time::sleep(*takes) => page(&[]),
            _ = ctx.done() => return Ok(false),
        }),
    };
    stream.write_all(text.as_bytes()).wait()?;
    Ok(true)
}

fn page(links: &[String]) -> String {
    links.iter().fold("200\n".to_owned(), |text, link| text + link + "\n")
}

fn read_line(stream: &TcpStream) -> io::Result<String> {
    let (mut line, mut byte) = (Vec::new(), [0]);
    while stream.read(&mut byte).wait()? == 1 && byte != *b"\n" {
        line.push(byte[0]);
    }
    String::from_utf8(line).map_err(io::Error::other)
}
