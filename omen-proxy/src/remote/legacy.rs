//! Resuming of broken streams (up to 2025-11-25).

use std::time::Duration;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{ACCEPT, CONTENT_TYPE};
use hyper::{Method, StatusCode};
use omen_gate::Fault;
use tokio::time::sleep;

use super::body::{Form, form, hidden};
use super::link::{Broken, EVENTS, Link, gone};
use super::sse::Parser;
use super::status;
use omen_mcp::mcp_headers::LAST_EVENT_ID;

/// Maximum number of times that a stream which the server closes on purpose is reopened: the server says when to reopen it.
const POLLS: u32 = 1_000;
const LEAST: Duration = Duration::from_millis(50);
const MOST: Duration = Duration::from_secs(60);

/// Reopens the stream of a request after the last event received. The request is not repeated.
pub(super) async fn resume(link: &Link, parser: &Parser, tries: &mut u32) -> Result<Incoming, Broken> {
    if parser.last_id().is_none() {
        return Err(Fault::died("the stream ended before the answer").into());
    }
    let limits = &link.remote.limits;
    let most = if parser.retry.is_some() { POLLS } else { limits.retries };
    loop {
        *tries += 1;
        if *tries > most {
            return Err(Fault::died("the stream ended before the answer, and could not be resumed").into());
        }
        sleep(wait(link, parser, *tries)).await;
        match open(link, parser.last_id(), limits.answer).await {
            Ok(body) => return Ok(body),
            Err(Unopened::Over(broken)) => return Err(broken),
            Err(Unopened::NotHere) => {
                return Err(Fault::died("the stream ended before the answer, and cannot be resumed").into());
            }
            Err(Unopened::Failed(_)) => {}
        }
    }
}

/// Reason why a stream could not be opened.
pub(super) enum Unopened {
    /// The server has no such stream.
    NotHere,
    /// The stream may be available later.
    Failed(Fault),
    /// The session is over.
    Over(Broken),
}

/// Opens a stream of the session, after an event if one is known.
pub(super) async fn open(link: &Link, after: Option<&str>, limit: Duration) -> Result<Incoming, Unopened> {
    let mut headers = link.of_session();
    headers.remove(CONTENT_TYPE);
    headers.insert(ACCEPT, EVENTS);
    if let Some(after) = after {
        headers.insert(LAST_EVENT_ID, hidden(after).ok_or(Unopened::NotHere)?);
    }
    let opened = link.remote.client.send(Method::GET, headers, Bytes::new(), limit).await;
    let (head, body) = opened.map_err(Unopened::Failed)?.into_parts();
    link.same_session(&head.headers).map_err(Unopened::Over)?;
    match head.status {
        StatusCode::OK => match form(&head.headers) {
            Ok(Form::Events) => Ok(body),
            Ok(Form::Json) => Err(Unopened::Failed(Fault::malformed("expected a stream, received a body"))),
            Err(fault) => Err(Unopened::Failed(fault)),
        },
        StatusCode::METHOD_NOT_ALLOWED => Err(Unopened::NotHere),
        StatusCode::NOT_FOUND if link.has_id() => {
            Err(Unopened::Over(Broken { fault: Fault::died("the session has ended"), lost: Some(gone()) }))
        }
        // A later attempt would get the same answer.
        status if status.is_client_error() && status != StatusCode::TOO_MANY_REQUESTS && after.is_some() => {
            Err(Unopened::NotHere)
        }
        status => Err(Unopened::Failed(status::fault(status))),
    }
}

/// Returns the time to wait before a stream is reopened.
pub(super) fn wait(link: &Link, parser: &Parser, tries: u32) -> Duration {
    match parser.retry {
        Some(millis) => Duration::from_millis(millis).clamp(LEAST, MOST),
        None => link.remote.limits.backoff.saturating_mul(1 << tries.saturating_sub(1).min(4)),
    }
}
