//! The body of a request: how it is read, and how much of it.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::StatusCode;
use hyper::body::{Body as _, Incoming};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::refused::Refused;

/// How bodies are read.
#[derive(Debug)]
pub(super) struct Reading {
    /// Bytes of one body.
    pub(super) limit: usize,
    /// How long one may take.
    pub(super) time: Duration,
    /// Room for all that are read at once, in units of [`UNIT`] bytes.
    pub(super) room: Arc<Semaphore>,
}

/// A body that was read, and the room that it takes until it is handed on.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) bytes: Vec<u8>,
    _room: OwnedSemaphorePermit,
}

const UNIT: usize = 1024;

impl Reading {
    pub(super) fn new(limit: usize, time: Duration, at_once: usize) -> Self {
        let units = at_once.max(limit) / UNIT + 2;
        Self { limit, time, room: Arc::new(Semaphore::new(units.min(Semaphore::MAX_PERMITS))) }
    }

    pub(super) async fn read(&self, body: Incoming) -> Result<Taken, Refused> {
        let late = |_| {
            let reason = format!("the body did not come within {} seconds", self.time.as_secs_f32());
            Refused::new(StatusCode::REQUEST_TIMEOUT, reason, "send the request again, whole")
        };
        timeout(self.time, self.read_whole(body)).await.map_err(late)?
    }

    async fn read_whole(&self, mut body: Incoming) -> Result<Taken, Refused> {
        let oversized = || {
            let reason = format!("the body exceeds {} bytes", self.limit);
            Refused::new(StatusCode::PAYLOAD_TOO_LARGE, reason, "send a shorter message")
        };
        let announced = body.size_hint();
        let least = usize::try_from(announced.lower()).unwrap_or(usize::MAX);
        if least > self.limit {
            return Err(oversized());
        }
        // A body that does not say how long it is takes the room of the longest one.
        let most = announced.exact().map_or(self.limit, |_| least);
        let units = u32::try_from(most / UNIT + 1).unwrap_or(u32::MAX);
        let gone = |_| Refused::new(StatusCode::SERVICE_UNAVAILABLE, "the proxy is stopping", "start it again");
        let room = Arc::clone(&self.room).acquire_many_owned(units).await.map_err(gone)?;
        let mut bytes = Vec::with_capacity(least);
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| {
                let reason = format!("the body cannot be read: {error}");
                Refused::new(StatusCode::BAD_REQUEST, reason, "send the request again, whole")
            })?;
            let Some(data) = frame.data_ref() else { continue };
            if data.len() > self.limit.saturating_sub(bytes.len()) {
                return Err(oversized());
            }
            bytes.extend_from_slice(data);
        }
        Ok(Taken { bytes, _room: room })
    }
}
