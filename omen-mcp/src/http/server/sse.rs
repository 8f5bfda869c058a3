//! Server-sent events.

use std::time::Duration;

use bytes::Bytes;
use hyper::Response;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use tokio::sync::mpsc;
use tokio::time::sleep;

use super::body::Body;
use super::streams::{Event, Reader};
use crate::http::EVENTS;

/// Form in which a stream is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct EventFormat {
    /// Whether events have numbers, so that the stream can be resumed after any of them.
    pub(super) is_numbered: bool,
    /// Whether the stream begins with a number, so that it can be resumed before the first message.
    pub(super) is_primed: bool,
    pub(super) keep_alive: Duration,
}

/// Writes the messages from a reader until the stream ends or the client goes away.
pub(super) fn respond(reader: GuardedReader, first: Option<Event>, form: EventFormat) -> Response<Body> {
    // At most one message waits here, and one more in hyper.
    let (events, body) = mpsc::channel(1);
    tokio::spawn(write(reader, first, form, events));
    let mut response = Response::new(Body::events(body));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, EVENTS);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Intermediate proxies must not hold back events.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

async fn write(mut guarded: GuardedReader, first: Option<Event>, form: EventFormat, events: mpsc::Sender<Bytes>) {
    let stream = guarded.reader.number();
    let event = |event: &Event| {
        let mut text = Vec::with_capacity(event.message.len() + 48);
        if form.is_numbered {
            text.extend_from_slice(format!("id: {stream}-{}\n", event.number).as_bytes());
        }
        text.extend_from_slice(b"event: message\ndata: ");
        text.extend_from_slice(&event.message);
        text.extend_from_slice(b"\n\n");
        Bytes::from(text)
    };
    if form.is_primed && events.send(Bytes::from(format!("id: {stream}-0\ndata:\n\n"))).await.is_err() {
        return;
    }
    if let Some(first) = first
        && events.send(event(&first)).await.is_err()
    {
        return;
    }
    loop {
        let next = tokio::select! {
            biased;
            () = events.closed() => return,
            next = guarded.reader.next() => match next {
                Some(next) => event(&next),
                None => return,
            },
            () = sleep(form.keep_alive) => Bytes::from_static(b":\n\n"),
        };
        if events.send(next).await.is_err() {
            return;
        }
    }
}

/// Action to take if a reader goes away.
pub(super) type OnGone = Box<dyn FnOnce() + Send>;

/// Reader, with the action to take if it goes away before the response has arrived.
pub(super) struct GuardedReader {
    pub(super) reader: Reader,
    pub(super) gone: Option<OnGone>,
}

impl Drop for GuardedReader {
    fn drop(&mut self) {
        if let Some(gone) = self.gone.take()
            && self.reader.is_waiting()
        {
            gone();
        }
    }
}

/// Reads the id of an event: the numbers of its stream and of the event.
pub(super) fn event_id(text: &str) -> Option<(u64, u64)> {
    let (stream, event) = text.split_once('-')?;
    let number = |digits: &str| digits.parse().ok().filter(|number: &u64| number.to_string() == digits);
    Some((number(stream)?, number(event)?))
}
