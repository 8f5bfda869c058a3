//! Resuming of broken streams (up to 2025-11-25).

use std::time::Duration;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{ACCEPT, CONTENT_TYPE};
use hyper::{Method, StatusCode};
use tokio::time::sleep;

use super::body::media_type;
use super::error::RequestError;
use super::extra_headers::hidden;
use super::session::{Interruption, RemoteSession, gone};
use super::sse::Parser;
use crate::http::mcp_headers::LAST_EVENT_ID;
use crate::http::{EVENTS, MediaType};

/// Maximum number of times that a stream which the server closes on purpose is reopened: the server says when to reopen it.
const POLLS: u32 = 1_000;
const LEAST: Duration = Duration::from_millis(50);
const MOST: Duration = Duration::from_secs(60);

/// Reopens the stream of a request after the last event received. The request is not repeated.
pub(super) async fn resume(
    session: &RemoteSession,
    parser: &Parser,
    tries: &mut u32,
) -> Result<Incoming, Interruption> {
    let ended = |how: &str| Err(RequestError::Died(format!("the stream ended before the answer{how}")).into());
    if parser.last_id().is_none() {
        return ended("");
    }
    let limits = &session.remote.limits;
    let most = if parser.retry.is_some() { POLLS } else { limits.retries };
    loop {
        *tries += 1;
        if *tries > most {
            return ended(", and could not be resumed");
        }
        sleep(wait(session, parser, *tries)).await;
        match open(session, parser.last_id(), limits.answer).await {
            Ok(body) => return Ok(body),
            Err(OpenFailure::Over(broken)) => return Err(broken),
            Err(OpenFailure::NotHere) => return ended(", and cannot be resumed"),
            Err(OpenFailure::Failed(_)) => {}
        }
    }
}

/// Reason why a stream could not be opened.
pub(super) enum OpenFailure {
    /// The server has no such stream.
    NotHere,
    /// The stream may be available later.
    Failed(RequestError),
    /// The session is over.
    Over(Interruption),
}

/// Opens a stream of the session, after an event if one is known.
pub(super) async fn open(
    session: &RemoteSession,
    after: Option<&str>,
    limit: Duration,
) -> Result<Incoming, OpenFailure> {
    let mut headers = session.of_session();
    headers.remove(CONTENT_TYPE);
    headers.insert(ACCEPT, EVENTS);
    if let Some(after) = after {
        headers.insert(LAST_EVENT_ID, hidden(after).ok_or(OpenFailure::NotHere)?);
    }
    let opened = session.remote.sender.send(Method::GET, headers, Bytes::new(), limit).await;
    let (head, body) = opened.map_err(OpenFailure::Failed)?.into_parts();
    session.same_session(&head.headers).map_err(OpenFailure::Over)?;
    match head.status {
        StatusCode::OK => match media_type(&head.headers) {
            Ok(MediaType::Events) => Ok(body),
            Ok(MediaType::Json) => {
                Err(OpenFailure::Failed(RequestError::Malformed("expected a stream, received a body".into())))
            }
            Err(error) => Err(OpenFailure::Failed(error)),
        },
        StatusCode::METHOD_NOT_ALLOWED => Err(OpenFailure::NotHere),
        StatusCode::NOT_FOUND if session.has_id() => Err(OpenFailure::Over(Interruption {
            error: RequestError::Died("the session has ended".into()),
            lost: Some(gone()),
        })),
        // A later attempt would get the same answer.
        status if status.is_client_error() && status != StatusCode::TOO_MANY_REQUESTS && after.is_some() => {
            Err(OpenFailure::NotHere)
        }
        status => Err(OpenFailure::Failed(RequestError::of_status(status))),
    }
}

/// Returns the time to wait before a stream is reopened.
pub(super) fn wait(session: &RemoteSession, parser: &Parser, tries: u32) -> Duration {
    match parser.retry {
        Some(millis) => Duration::from_millis(millis).clamp(LEAST, MOST),
        None => session.remote.limits.backoff.saturating_mul(1 << tries.saturating_sub(1).min(4)),
    }
}
