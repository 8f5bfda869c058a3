//! Server-sent events.

use std::time::Duration;

use bytes::Bytes;
use hyper::Response;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use tokio::sync::mpsc;
use tokio::time::sleep;

use super::body::Body;
use super::streams::{Event, Reader};

pub(super) const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");

/// How a stream is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    /// Events have numbers, so that the stream can be read on from one of them.
    pub(super) is_numbered: bool,
    /// It begins with a number, so that it can be read on before the first message.
    pub(super) is_primed: bool,
    pub(super) keep_alive: Duration,
}

/// Writes what a reader reads, until the stream ends or the client goes.
pub(super) fn respond(reader: Guarded, first: Option<Event>, form: Form) -> Response<Body> {
    // What waits here is bounded by one message; hyper has one more.
    let (events, body) = mpsc::channel(1);
    tokio::spawn(write(reader, first, form, events));
    let mut response = Response::new(Body::Events(body));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, EVENTS);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Proxies must not keep events back.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

async fn write(mut guarded: Guarded, first: Option<Event>, form: Form, events: mpsc::Sender<Bytes>) {
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

/// What is done if a reader goes.
pub(super) type Gone = Box<dyn FnOnce() + Send>;

/// A reader, and what is done if it goes before the response has come.
pub(super) struct Guarded {
    pub(super) reader: Reader,
    pub(super) gone: Option<Gone>,
}

impl Drop for Guarded {
    fn drop(&mut self) {
        if let Some(gone) = self.gone.take()
            && self.reader.is_waiting()
        {
            gone();
        }
    }
}

/// Reads the number of an event.
pub(super) fn event_id(text: &str) -> Option<(u64, u64)> {
    let (stream, event) = text.split_once('-')?;
    let number = |digits: &str| digits.parse().ok().filter(|number: &u64| number.to_string() == digits);
    Some((number(stream)?, number(event)?))
}
