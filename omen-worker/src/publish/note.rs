//! The note of how far a log is published, in the bucket.

use std::time::{Duration, Instant};

use async_nats::jetstream::kv::{Store, UpdateErrorKind};
use async_nats::jetstream::stream::Stream;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

use super::stored::stored;
use super::target::{ATTEMPTS, PAUSE};
use crate::ask::ask;
use crate::failure::{During as _, Failure};
use crate::latest::latest;
use crate::names;

/// How far a log is published.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(super) struct Position {
    /// Messages of the log that are in the stream.
    pub(super) messages: u64,
    /// A hash of them, so that another log with this name is noticed.
    pub(super) hash: String,
    /// All of them are in the stream up to this message.
    pub(super) sequence: u64,
}

/// How far a log is published, and the note that says so.
pub(super) struct Note<'p> {
    bucket: &'p Store,
    source: String,
    key: String,
    revision: u64,
    saved_at: Instant,
    pub(super) position: Position,
}

impl<'p> Note<'p> {
    /// Reads how far a log is published: what is noted, and what was stored after that.
    pub(super) async fn read(bucket: &'p Store, packets: &Stream, source: &str) -> Result<Self, Failure> {
        let key = format!("publish.{}", names::hash(source));
        let what = "read how far the log was published";
        let (mut position, revision): (Position, u64) = match latest(bucket, &key, what).await? {
            Some((value, revision)) => (serde_json::from_slice(&value).during(what)?, revision),
            None => {
                let state = ask(|| packets.get_info()).await.during(what)?.state;
                let position = Position { sequence: state.last_sequence, ..Position::default() };
                let value = Bytes::from(serde_json::to_vec(&position).during(what)?);
                let revision = bucket.create(&key, value).await.during("note how far the log is published")?;
                (position, revision)
            }
        };
        if let Some((messages, sequence)) = stored(packets, source, position.sequence).await? {
            // The hash stays that of the messages before: it is checked when they have been read.
            position.messages = position.messages.max(messages);
            position.sequence = sequence;
            position.hash = String::new();
        }
        Ok(Self { bucket, source: source.to_owned(), key, revision, saved_at: Instant::now(), position })
    }

    /// Writes the note, if that was some time ago.
    pub(super) async fn save_if_due(&mut self) -> Result<(), Failure> {
        if self.saved_at.elapsed() >= OFTEN { self.save().await } else { Ok(()) }
    }

    /// Writes the note. One whose answer was lost is the one that is there.
    pub(super) async fn save(&mut self) -> Result<(), Failure> {
        let what = "note how far the log is published";
        let value = Bytes::from(serde_json::to_vec(&self.position).during(what)?);
        let mut attempts = 1;
        loop {
            let error = match self.bucket.update(&self.key, value.clone(), self.revision).await {
                Ok(revision) => {
                    self.revision = revision;
                    break;
                }
                Err(error) => error,
            };
            if error.kind() == UpdateErrorKind::WrongLastRevision {
                let found = latest(self.bucket, &self.key, what).await?.filter(|(found, _)| *found == value);
                let Some((_, revision)) = found else { return Err(Failure::Fenced(self.source.clone())) };
                self.revision = revision;
                break;
            }
            if attempts == ATTEMPTS {
                return Err(Failure::server(what)(&error));
            }
            attempts += 1;
            sleep(PAUSE).await;
        }
        self.saved_at = Instant::now();
        Ok(())
    }
}

/// How often it is noted how far a log is.
const OFTEN: Duration = Duration::from_secs(1);
