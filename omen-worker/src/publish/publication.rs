//! Publication of one log.

use std::collections::HashSet;
use std::time::Duration;

use async_nats::HeaderMap;
use bytes::Bytes;
use futures_util::future::try_join_all;
use omen::validator::Message;
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep, sleep_until};

use crate::failure::{During as _, Failure};
use crate::names::{self, Names};
use crate::stream::broker::{self, Broker, Outgoing};

/// Options for publishing a log.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Maximum number of lines per second.
    pub rate: Option<u32>,
    /// Whether the episodes of the log end with it.
    pub ends: bool,
}

/// Counts of published lines and ended episodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Published {
    /// Lines of the log that are in the streams, without blank lines.
    pub lines: u64,
    /// Lines among these that had been published before.
    pub before: u64,
    /// Number of episodes that were ended.
    pub ended: u64,
}

/// A log that is being published.
pub(crate) struct Publication<'p, B> {
    broker: &'p B,
    source: String,
    options: &'p Options,
    /// Publication to each partition.
    lanes: Vec<Lane<'p, B>>,
    /// Time at which the next lines may be sent, if the rate is limited.
    next: Instant,
    waiting: usize,
    published: Published,
    /// Episodes in order of their first line, if they are to end with the log.
    episodes: Vec<String>,
    begun: HashSet<String>,
}

/// Progress of a log in a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
struct Note {
    /// Number of the log's messages in the stream.
    messages: u64,
    /// Hash of these messages, which detects another log with the same name.
    hash: String,
}

/// Publication of a log to the stream of one partition.
struct Lane<'p, B> {
    broker: &'p B,
    partition: u16,
    stream: String,
    source: &'p str,
    /// Subject of the notes of this log.
    subject: String,
    /// Last note in the stream, and its number.
    noted: (Note, u64),
    /// Messages of the log that were read so far, stored or not.
    read: Note,
    batch: Vec<Outgoing>,
    bytes: usize,
}

impl<'p, B: Broker> Publication<'p, B> {
    pub(crate) async fn begin(
        broker: &'p B,
        names: &Names,
        partitions: u16,
        source: &'p str,
        options: &'p Options,
    ) -> Result<Self, Failure> {
        let lanes = (0..partitions).map(|partition| Lane::begin(broker, partition, names.packets(partition), source));
        Ok(Self {
            broker,
            source: source.to_owned(),
            options,
            lanes: try_join_all(lanes).await?,
            next: Instant::now(),
            waiting: 0,
            published: Published::default(),
            episodes: Vec::new(),
            begun: HashSet::new(),
        })
    }

    pub(crate) async fn line(&mut self, number: u64, line: &[u8]) -> Result<(), Failure> {
        let message = Message::new(line);
        if message.is_blank() {
            return Ok(());
        }
        let most = self.broker.max_payload();
        if line.len() + ROOM > most {
            return Err(Failure::Refused(format!(
                "line {number} of {} has {} bytes; expected at most {}: raise `max_payload` of the server",
                self.source,
                line.len(),
                most.saturating_sub(ROOM),
            )));
        }
        self.published.lines += 1;
        let body = Bytes::copy_from_slice(line);
        let is_new = match message.correlation_id() {
            Some(id) => {
                if self.options.ends && !self.begun.contains(id) {
                    self.begun.insert(id.to_owned());
                    self.episodes.push(id.to_owned());
                }
                self.message(id, HeaderMap::new(), body)?
            }
            None => {
                let mut is_new = false;
                for lane in &mut self.lanes {
                    let subject = names::mark(lane.partition, names::LOST);
                    is_new |= lane.add(Outgoing { subject, headers: HeaderMap::new(), body: body.clone() })?;
                }
                is_new
            }
        };
        self.published.before += u64::from(!is_new);
        self.waiting += usize::from(is_new);
        self.flush_if_full().await
    }

    /// Adds a message of an episode. Returns whether the stream does not have it yet.
    fn message(&mut self, id: &str, headers: HeaderMap, body: Bytes) -> Result<bool, Failure> {
        let partitions = u16::try_from(self.lanes.len()).unwrap_or(u16::MAX);
        let partition = names::partition_of(id, partitions);
        let message = Outgoing { subject: names::packets_of(id, partitions), headers, body };
        self.lanes.get_mut(usize::from(partition)).map_or(Ok(false), |lane| lane.add(message))
    }

    async fn flush_if_full(&mut self) -> Result<(), Failure> {
        // Lines for a tenth of a second.
        let is_due = self.options.rate.is_some_and(|rate| self.waiting >= (rate / 10).max(1) as usize);
        if is_due || self.lanes.iter().any(Lane::is_full) { self.flush().await } else { Ok(()) }
    }

    /// Stores the lines that were read.
    pub(crate) async fn flush(&mut self) -> Result<(), Failure> {
        if let Some(rate) = self.options.rate {
            sleep_until(self.next).await;
            let time = Duration::from_secs_f64(self.waiting as f64 / f64::from(rate.max(1)));
            self.next = self.next.max(Instant::now()) + time;
        }
        self.waiting = 0;
        try_join_all(self.lanes.iter_mut().map(Lane::flush)).await.map(drop)
    }

    pub(crate) async fn finish(mut self) -> Result<Published, Failure> {
        for id in std::mem::take(&mut self.episodes) {
            let mut headers = HeaderMap::new();
            headers.insert(names::END_HEADER, "true");
            self.published.ended += 1;
            self.message(&id, headers, Bytes::new())?;
            self.flush_if_full().await?;
        }
        self.flush().await?;
        self.lanes.iter().try_for_each(Lane::check_end)?;
        Ok(self.published)
    }
}

impl<'p, B: Broker> Lane<'p, B> {
    async fn begin(broker: &'p B, partition: u16, stream: String, source: &'p str) -> Result<Self, Failure> {
        let subject = names::mark(partition, &format!("{}.{}", names::NOTE, names::hash(source)));
        let mut lane = Self {
            broker,
            partition,
            stream,
            source,
            subject,
            noted: (Note::default(), 0),
            read: Note::default(),
            batch: Vec::new(),
            bytes: 0,
        };
        lane.noted = lane.last().await?;
        Ok(lane)
    }

    /// Reads the last note in the stream, and its number.
    async fn last(&self) -> Result<(Note, u64), Failure> {
        let Some(last) = self.broker.last(&self.stream, &self.subject).await? else { return Ok((Note::default(), 0)) };
        let note = serde_json::from_slice(&last.body).map_err(|error| {
            Failure::Refused(format!(
                "message {} of the stream `{}`, on `{}`, does not record how far a log was published ({error}); \
                 remove it: nats stream rmm {} {}",
                last.sequence, self.stream, self.subject, self.stream, last.sequence
            ))
        })?;
        Ok((note, last.sequence))
    }

    /// Adds the next message of the log for this stream. Returns whether the stream does not have it yet.
    fn add(&mut self, message: Outgoing) -> Result<bool, Failure> {
        let Note { messages, hash } = &mut self.read;
        *messages += 1;
        *hash = names::hash([hash.as_bytes(), message.subject.as_bytes(), &message.body].concat());
        let (noted, _) = &self.noted;
        if self.read.messages > noted.messages {
            self.bytes += message.body.len();
            self.batch.push(message);
            return Ok(true);
        }
        if self.read.messages == noted.messages && self.read != *noted {
            return Err(Failure::Refused(format!(
                "another log was published as `{}`; give this one another name with `--source`",
                self.source
            )));
        }
        Ok(false)
    }

    fn is_full(&self) -> bool {
        self.batch.len() >= MOST || self.bytes >= MOST_BYTES
    }

    /// Stores the waiting messages with a note. If no response arrives, the last note shows whether they were stored; if not,
    /// they are sent again. The server refuses the later of two publishers.
    async fn flush(&mut self) -> Result<(), Failure> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let note = Outgoing {
            subject: self.subject.clone(),
            headers: HeaderMap::new(),
            body: serde_json::to_vec(&self.read).during("write how far the log is published")?.into(),
        };
        let lines = std::mem::take(&mut self.batch);
        self.bytes = 0;
        let what = format!("lines of {}", self.source);
        let mut attempts = 1;
        loop {
            let mut batch = lines.clone();
            batch.push(broker::after(note.clone(), self.noted.1));
            let failure = match self.broker.store(batch, &what).await {
                Ok(sequence) => {
                    self.noted = (self.read.clone(), sequence);
                    return Ok(());
                }
                Err(failure) => failure,
            };
            match self.last().await {
                Ok((note, sequence)) if note == self.read => {
                    self.noted = (note, sequence);
                    return Ok(());
                }
                // The previous note has expired.
                Ok((_, 0)) if self.noted.1 > 0 && self.has_expired(self.noted.1).await => {
                    self.noted.1 = 0;
                    continue;
                }
                // Another process is publishing this log.
                Ok((_, sequence)) if sequence != self.noted.1 => return Err(Failure::Fenced(self.source.to_owned())),
                // The server may be unreachable for a while.
                Ok(_) | Err(_) => {}
            }
            if attempts == ATTEMPTS {
                return Err(failure);
            }
            attempts += 1;
            sleep(PAUSE).await;
        }
    }

    /// Returns whether a message was deleted together with all older ones, as the limits of a stream do.
    async fn has_expired(&self, sequence: u64) -> bool {
        self.broker.state(&self.stream).await.is_ok_and(|state| state.first > sequence)
    }

    /// Checks, after the whole log was read, that the stream contains no more messages of it than the log has.
    fn check_end(&self) -> Result<(), Failure> {
        let ((noted, _), read) = (&self.noted, &self.read);
        if read.messages >= noted.messages {
            return Ok(());
        }
        Err(Failure::Refused(format!(
            "{} messages of `{}` are in the stream `{}`, and the log has {} for this stream: it was replaced or cut; publish it under \
             another name with `--source`",
            noted.messages, self.source, self.stream, read.messages
        )))
    }
}

/// Maximum number of messages in a batch. The server accepts 1,000.
const MOST: usize = 500;

/// Maximum size of a batch in bytes. A single larger message is sent alone.
const MOST_BYTES: usize = 2 * 1024 * 1024;

/// Bytes reserved for the subject and headers of a message.
const ROOM: usize = 4 * 1024;

/// Number of attempts to store a batch.
const ATTEMPTS: u32 = 5;

/// Pause between these attempts.
const PAUSE: Duration = Duration::from_secs(1);
