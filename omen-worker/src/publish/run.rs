//! A log on its way into the stream.

use std::collections::HashSet;

use async_nats::HeaderMap;
use bytes::Bytes;
use omen::validator::Message;
use tokio::time::sleep;

use super::note::Note;
use super::options::{Options, Published};
use super::pace::Pace;
use super::stored::{ids, stored};
use super::target::{ATTEMPTS, PAUSE, Target};
use crate::batch::{self, Outgoing};
use crate::failure::Failure;
use crate::names;

/// A log that is being published.
pub(super) struct Run<'p> {
    target: &'p Target,
    source: String,
    /// How the ids of its messages begin.
    ids: String,
    options: &'p Options,
    note: Note<'p>,
    /// Messages so far, in the stream or not.
    messages: u64,
    hash: String,
    batch: Vec<Outgoing>,
    bytes: usize,
    is_limited_by: Option<Pace>,
    published: Published,
    /// Its episodes in their order, if they are to end.
    episodes: Vec<String>,
    begun: HashSet<String>,
}

impl<'p> Run<'p> {
    pub(super) async fn begin(target: &'p Target, source: &str, options: &'p Options) -> Result<Self, Failure> {
        Ok(Self {
            target,
            source: source.to_owned(),
            ids: ids(source),
            options,
            note: Note::read(&target.bucket, &target.packets, source).await?,
            messages: 0,
            hash: String::new(),
            batch: Vec::new(),
            bytes: 0,
            is_limited_by: options.rate.map(Pace::new),
            published: Published::default(),
            episodes: Vec::new(),
            begun: HashSet::new(),
        })
    }

    pub(super) async fn line(&mut self, number: u64, line: &[u8]) -> Result<(), Failure> {
        let message = Message::new(line);
        if message.is_blank() {
            return Ok(());
        }
        let subject = match message.correlation_id() {
            Some(id) => {
                if self.options.ends && !self.begun.contains(id) {
                    self.begun.insert(id.to_owned());
                    self.episodes.push(id.to_owned());
                }
                names::packets_of(id)
            }
            None => names::LOST.to_owned(),
        };
        if line.len() + ROOM > self.target.max_payload {
            return Err(Failure::Refused(format!(
                "line {number} of {} has {} bytes, and the server takes {}; raise `max_payload` of the server",
                self.source,
                line.len(),
                self.target.max_payload
            )));
        }
        self.published.lines += 1;
        self.message(subject, HeaderMap::new(), Bytes::copy_from_slice(line)).await
    }

    /// The next message of the log: published now, unless it is in the stream.
    async fn message(&mut self, subject: String, mut headers: HeaderMap, body: Bytes) -> Result<(), Failure> {
        self.messages += 1;
        self.hash = names::hash([self.hash.as_bytes(), subject.as_bytes(), &body].concat());
        if self.messages <= self.note.position.messages {
            if self.messages == self.note.position.messages
                && !self.note.position.hash.is_empty()
                && self.note.position.hash != self.hash
            {
                return Err(Failure::Refused(format!(
                    "another log was published as `{}`; give this one a name of its own with `--source`",
                    self.source
                )));
            }
            self.published.before = self.published.lines;
            return Ok(());
        }
        headers.insert(async_nats::header::NATS_MESSAGE_ID, format!("{}{}", self.ids, self.messages));
        self.bytes += body.len();
        self.batch.push(Outgoing { subject, headers, body });
        let most = self.is_limited_by.as_ref().map_or(batch::MOST, Pace::batch);
        if self.batch.len() >= most || self.bytes >= batch::MOST_BYTES { self.flush().await } else { Ok(()) }
    }

    async fn flush(&mut self) -> Result<(), Failure> {
        if self.batch.is_empty() {
            return Ok(());
        }
        if let Some(pace) = &mut self.is_limited_by {
            pace.wait(self.batch.len()).await;
        }
        let batch = std::mem::take(&mut self.batch);
        self.bytes = 0;
        let what = format!("lines of {}", self.source);
        self.note.position.sequence = self.store(batch, &what).await?;
        self.note.position.messages = self.messages;
        self.note.position.hash.clone_from(&self.hash);
        self.note.save_if_due().await
    }

    /// Stores a batch. If no answer comes, the stream shows whether it was stored; if not, it is sent again. The server drops the later
    /// one of two, because their messages have the same ids.
    async fn store(&self, batch: Vec<Outgoing>, what: &str) -> Result<u64, Failure> {
        let mut attempts = 1;
        loop {
            let failure = match batch::store(&self.target.context, batch.clone(), what).await {
                Ok(sequence) => return Ok(sequence),
                Err(failure) => failure,
            };
            sleep(PAUSE).await;
            match stored(&self.target.packets, &self.source, self.note.position.sequence).await {
                Ok(Some((messages, sequence))) if messages == self.messages => return Ok(sequence),
                // Another process publishes this log.
                Ok(Some((messages, _))) if messages > self.note.position.messages => return Err(failure),
                // The server may not be there yet.
                Ok(_) | Err(_) => {}
            }
            if attempts == ATTEMPTS {
                return Err(failure);
            }
            attempts += 1;
        }
    }

    pub(super) async fn finish(mut self) -> Result<Published, Failure> {
        for id in std::mem::take(&mut self.episodes) {
            let mut headers = HeaderMap::new();
            headers.insert(names::END_HEADER, "true");
            self.published.ended += 1;
            self.message(names::packets_of(&id), headers, Bytes::new()).await?;
        }
        self.flush().await?;
        if self.messages < self.note.position.messages {
            return Err(Failure::Refused(format!(
                "{} messages of `{}` are in the stream, and the log has {}; it was replaced or cut",
                self.note.position.messages, self.source, self.messages
            )));
        }
        self.note.save().await?;
        Ok(self.published)
    }
}

/// Room for the subject and headers of a message.
const ROOM: usize = 4 * 1024;
