//! One request, from the client to the server behind, and the answer back.

use crate::upstream::{Failure, Upstream};
use http_body_util::Either;
use hyper::body::Incoming;
use hyper::header::{
    CONNECTION, HOST, HeaderMap, HeaderName, HeaderValue, TE, TRAILER, TRANSFER_ENCODING, UPGRADE, VIA,
};
use hyper::{Method, Request, Response, StatusCode, Uri, Version};
use std::net::IpAddr;

/// A word of ours, or what the server behind sends.
pub(crate) type Reply = Either<String, Incoming>;

pub(crate) async fn forward(upstream: &Upstream, request: Request<Incoming>, peer: IpAddr) -> Response<Reply> {
    let request = match prepare(request, peer) {
        Ok(request) => request,
        Err((status, text)) => return say(status, text),
    };
    match upstream.send(request).await {
        Ok(mut response) => {
            strip(response.headers_mut());
            *response.version_mut() = Version::default();
            response.map(Either::Right)
        }
        Err(Failure::TimedOut) => say(StatusCode::GATEWAY_TIMEOUT, "the server behind has not answered in time\n"),
        Err(Failure::Broken(error)) => {
            eprintln!("the server behind: {error}");
            say(StatusCode::BAD_GATEWAY, "the server behind cannot be asked\n")
        }
    }
}

fn say(status: StatusCode, text: &str) -> Response<Reply> {
    let mut response = Response::new(Either::Left(text.to_owned()));
    *response.status_mut() = status;
    response
}

/// As the server behind wants it: HTTP/1.1, a path, and a host.
fn prepare(mut request: Request<Incoming>, peer: IpAddr) -> Result<Request<Incoming>, (StatusCode, &'static str)> {
    if request.method() == Method::CONNECT {
        return Err((StatusCode::METHOD_NOT_ALLOWED, "this is no proxy of that kind\n"));
    }
    // HTTP/2 has the host in the address.
    let authority = request.uri().authority().map(|authority| HeaderValue::from_str(authority.as_str()));
    if let Some(Ok(host)) = authority {
        request.headers_mut().insert(HOST, host);
    }
    if !request.headers().contains_key(HOST) {
        return Err((StatusCode::BAD_REQUEST, "the request has no host\n"));
    }
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    *request.uri_mut() = path.parse::<Uri>().map_err(|_| (StatusCode::BAD_REQUEST, "the request has no path\n"))?;
    *request.version_mut() = Version::HTTP_11;
    let headers = request.headers_mut();
    strip(headers);
    // What the client says of those before it is kept; what is said of us is ours to say.
    let for_whom = HeaderName::from_static("x-forwarded-for");
    if let Ok(peer) = HeaderValue::from_str(&peer.to_string()) {
        headers.append(for_whom, peer);
    }
    headers.insert(HeaderName::from_static("x-forwarded-proto"), HeaderValue::from_static("https"));
    headers.append(VIA, HeaderValue::from_static("spinpark-example"));
    Ok(request)
}

/// Takes away what is about one connection only, and is not for the next (RFC 9110, 7.6.1).
fn strip(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    let always = [CONNECTION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE];
    let others = ["keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization"];
    let others = others.map(HeaderName::from_static);
    for name in named.into_iter().chain(always).chain(others) {
        headers.remove(name);
    }
}
