//! Reading of request bodies within limits.

use std::time::Duration;

use hyper::StatusCode;
use hyper::body::Incoming;
use tokio::time::timeout;

use super::refusal::Refusal;
use crate::http::memory_limit::{Reservation, Room};
use crate::http::{BodyError, whole};

/// Limits for reading bodies.
#[derive(Debug)]
pub(super) struct Reading {
    /// Maximum size of a body in bytes.
    limit: usize,
    /// Maximum time for a body.
    time: Duration,
    /// Room for all bodies that are read at once.
    room: Room,
}

impl Reading {
    pub(super) fn new(limit: usize, time: Duration, at_once: usize) -> Self {
        Self { limit, time, room: Room::new(at_once.max(limit)) }
    }

    /// Reads a body. Returns it with the room that it takes.
    pub(super) async fn read(&self, body: Incoming) -> Result<(Vec<u8>, Reservation), Refusal> {
        let mut room = self.room.hold();
        let read = timeout(self.time, whole(body, self.limit, &mut room)).await.map_err(|_| {
            let reason = format!("the body did not arrive within {} seconds", self.time.as_secs_f32());
            Refusal::new(StatusCode::REQUEST_TIMEOUT, reason, "send the entire request again")
        })?;
        let bytes = read.map_err(|error| match error {
            BodyError::Oversized => {
                let reason = format!("the body exceeds {} bytes", self.limit);
                Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, reason, "send a shorter message")
            }
            BodyError::NoRoom => {
                let reason = "other requests are being read, and there is no room for this one";
                Refusal::new(StatusCode::SERVICE_UNAVAILABLE, reason, "send the request again in a moment")
            }
            BodyError::Broken(error) => {
                let reason = format!("the body cannot be read: {error}");
                Refusal::new(StatusCode::BAD_REQUEST, reason, "send the entire request again")
            }
        })?;
        Ok((bytes, room))
    }
}
