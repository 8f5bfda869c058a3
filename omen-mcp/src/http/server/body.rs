//! Response body.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use hyper::header::CONTENT_TYPE;
use hyper::{Response, StatusCode};
use tokio::sync::mpsc;

use super::connection_limit::Serving;
use crate::http::JSON;

/// Response body: either whole, or a stream of events.
#[derive(Debug, Default)]
pub(super) struct Body {
    whole: Option<Bytes>,
    events: Option<mpsc::Receiver<Bytes>>,
    /// Request, until the body is written.
    pub(super) serving: Option<Serving>,
}

impl Body {
    pub(super) fn events(events: mpsc::Receiver<Bytes>) -> Self {
        Self { events: Some(events), ..Self::default() }
    }

    pub(super) fn json(status: StatusCode, message: impl Into<Bytes>) -> Response<Self> {
        let whole = Some(message.into()).filter(|bytes| !bytes.is_empty());
        let mut response = Response::new(Self { whole, ..Self::default() });
        *response.status_mut() = status;
        response.headers_mut().insert(CONTENT_TYPE, JSON);
        response
    }
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let body = self.get_mut();
        let bytes = match &mut body.events {
            Some(events) => std::task::ready!(events.poll_recv(context)),
            None => body.whole.take(),
        };
        Poll::Ready(bytes.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.events.is_none() && self.whole.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        match &self.events {
            Some(_) => SizeHint::default(),
            None => SizeHint::with_exact(self.whole.as_ref().map_or(0, |bytes| bytes.len() as u64)),
        }
    }
}
