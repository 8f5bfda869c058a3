//! Reading of request bodies within limits.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::StatusCode;
use hyper::body::{Body as _, Incoming};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::refused::Refused;

/// Limits for reading bodies.
#[derive(Debug)]
pub(super) struct Reading {
    /// Maximum size of a body in bytes.
    pub(super) limit: usize,
    /// Maximum time for a body.
    pub(super) time: Duration,
    /// Room for all bodies that are read at once, in units of [`UNIT`] bytes. A body takes room only as it arrives: data that a
    /// head announces but that never arrives keeps no other body out.
    pub(super) room: Arc<Semaphore>,
}

/// Body that has been read, and the room that it takes until it is passed on.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) bytes: Vec<u8>,
    _room: Vec<OwnedSemaphorePermit>,
}

const UNIT: usize = 1024;

/// Capacity reserved for a body before any of it has arrived.
const FIRST: usize = 64 << 10;

fn full() -> Refused {
    let reason = "other requests are being read, and there is no room for this one";
    Refused::new(StatusCode::SERVICE_UNAVAILABLE, reason, "send the request again in a moment")
}

impl Reading {
    pub(super) fn new(limit: usize, time: Duration, at_once: usize) -> Self {
        let units = at_once.max(limit) / UNIT + 2;
        Self { limit, time, room: Arc::new(Semaphore::new(units.min(Semaphore::MAX_PERMITS))) }
    }

    pub(super) async fn read(&self, body: Incoming) -> Result<Taken, Refused> {
        let late = |_| {
            let reason = format!("the body did not arrive within {} seconds", self.time.as_secs_f32());
            Refused::new(StatusCode::REQUEST_TIMEOUT, reason, "send the entire request again")
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
        let (mut room, mut units) = (Vec::new(), 0);
        let mut bytes = Vec::with_capacity(least.min(FIRST));
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| {
                let reason = format!("the body cannot be read: {error}");
                Refused::new(StatusCode::BAD_REQUEST, reason, "send the entire request again")
            })?;
            let Some(data) = frame.data_ref() else { continue };
            if data.len() > self.limit.saturating_sub(bytes.len()) {
                return Err(oversized());
            }
            let needed = (bytes.len() + data.len()) / UNIT + 1;
            if needed > units {
                let more = u32::try_from(needed - units).unwrap_or(u32::MAX);
                // Waiting for another body, which in turn waits for this one, would mean waiting until the time limit.
                room.push(Arc::clone(&self.room).try_acquire_many_owned(more).map_err(|_| full())?);
                units = needed;
            }
            bytes.extend_from_slice(data);
        }
        Ok(Taken { bytes, _room: room })
    }
}
