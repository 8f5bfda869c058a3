//! Streamable HTTP: a client of servers at addresses ([`client`]), and a server for clients ([`server`]).
//!
//! HTTP itself is handled by hyper: message boundaries, pipelining and chunks are read by a widely used library, and nothing here
//! reads them a second time.

pub mod client;
pub mod mcp_headers;
mod memory_limit;
pub mod param_headers;
pub mod server;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::HeaderMap;
use hyper::body::{Body as _, Incoming};
use hyper::header::{AsHeaderName, HeaderValue};

use self::memory_limit::Reservation;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");

/// Content type of the protocol, in UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MediaType {
    /// A single message.
    Json,
    /// A stream of messages.
    Events,
}

impl MediaType {
    /// Reads the value of `Content-Type`; `None` for other types and encodings of characters.
    fn read(value: &str) -> Option<Self> {
        let mut parts = value.split(';').map(str::trim);
        let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
        let is_utf8 = parts.all(|part| match part.split_once('=') {
            Some((name, value)) if name.trim().eq_ignore_ascii_case("charset") => {
                value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
            }
            _ => true,
        });
        match kind.as_str() {
            "application/json" if is_utf8 => Some(Self::Json),
            "text/event-stream" if is_utf8 => Some(Self::Events),
            _ => None,
        }
    }
}

/// Returns the value of a header that occurs at most once.
fn single(headers: &HeaderMap, name: impl AsHeaderName) -> Result<Option<&str>, String> {
    let shown = name.as_str().to_owned();
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(Some).map_err(|_| format!("invalid header `{shown}`")),
        (Some(_), Some(_)) => Err(format!("repeated header `{shown}`")),
    }
}

/// Reason why a body was not read.
enum BodyError {
    Oversized,
    /// Too much is being read at once.
    NoRoom,
    Broken(hyper::Error),
}

/// Capacity reserved for a body before any of it has arrived.
const FIRST: usize = 64 << 10;

/// Reads a whole body. It takes room only as it arrives: announced data that never arrives keeps no other body out.
async fn whole(mut body: Incoming, limit: usize, room: &mut Reservation) -> Result<Vec<u8>, BodyError> {
    let least = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if least > limit {
        return Err(BodyError::Oversized);
    }
    let mut bytes = Vec::with_capacity(least.min(FIRST));
    while let Some(data) = next(&mut body).await.map_err(BodyError::Broken)? {
        if data.len() > limit.saturating_sub(bytes.len()) {
            return Err(BodyError::Oversized);
        }
        if !room.grow(bytes.len() + data.len()) {
            return Err(BodyError::NoRoom);
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}

/// Returns the next piece of a body; `None` at the end.
async fn next(body: &mut Incoming) -> Result<Option<Bytes>, hyper::Error> {
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame?.into_data() {
            return Ok(Some(data));
        }
    }
    Ok(None)
}
