//! `omen publish`: a log into the stream of packets, in order, each line once.
//!
//! Lines are stored in atomic batches, so the lines of a log that are in the stream are always its beginning. How far it is stands in
//! the bucket, with the last message of the stream at that time. To go on, the headers of the messages after that one are read: a
//! line that was stored without an answer is found there, however long ago that was.

use std::collections::HashSet;
use std::io::Read;
use std::time::{Duration, Instant};

use async_nats::HeaderMap;
use async_nats::jetstream::Context;
use async_nats::jetstream::consumer::{DeliverPolicy, pull};
use async_nats::jetstream::kv::{Store, UpdateErrorKind};
use async_nats::jetstream::stream::Stream;
use bytes::Bytes;
use futures_util::StreamExt as _;
use omen::lines::{LineSplitter, RawLine};
use omen::validator::Message;
use serde::{Deserialize, Serialize};
use tokio::time::{sleep, sleep_until, timeout};

use crate::ask::ask;
use crate::batch::{self, Outgoing};
use crate::failure::{During as _, Failure};
use crate::names;
use crate::setup::Setup;

/// How a log is published.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The most lines in a second.
    pub rate: Option<u32>,
    /// Whether its episodes end with it.
    pub ends: bool,
}

/// What was published.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Published {
    /// Lines of the log that are in the stream, without blank ones.
    pub lines: u64,
    /// Of these, the ones that were there before.
    pub before: u64,
    /// Episodes that were ended.
    pub ended: u64,
}

/// How far a log is published.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
struct Position {
    /// Messages of the log that are in the stream.
    messages: u64,
    /// A hash of them, so that another log with this name is noticed.
    hash: String,
    /// All of them are in the stream up to this message.
    sequence: u64,
}

/// Publishes logs.
#[derive(Debug)]
pub struct Publisher {
    context: Context,
    packets: Stream,
    bucket: Store,
    max_payload: usize,
}

impl Publisher {
    /// Publishes to the stream of a set-up.
    ///
    /// # Errors
    /// If it cannot be used.
    pub async fn new(context: Context, setup: &Setup) -> Result<Self, Failure> {
        let max_payload = context.client().server_info().max_payload;
        let (packets, bucket) = (setup.packets(&context).await?, setup.bucket(&context).await?);
        Ok(Self { context, packets, bucket, max_payload })
    }

    /// Publishes a log, whose name is `source`, from where it was published up to.
    ///
    /// # Errors
    /// If the server fails: to publish the log once more goes on there. [`Failure::Refused`] if another log with this name was
    /// published, or a line is too long for the server.
    pub async fn log(&self, source: &str, log: impl Read, options: &Options) -> Result<Published, Failure> {
        let mut run = Run::begin(self, source, options).await?;
        let mut lines = Lines::new(log);
        while let Some(line) = lines.next().map_err(|error| Failure::Log(format!("cannot read {source}: {error}")))? {
            let Some(line) = line else {
                return Err(Failure::Refused(format!(
                    "line {} of {source} exceeds 16 MiB; remove it: no packet is that long",
                    lines.number
                )));
            };
            run.line(lines.number, &line).await?;
        }
        run.finish().await
    }
}

/// A log that is being published.
struct Run<'p> {
    publisher: &'p Publisher,
    source: String,
    /// How the ids of its messages begin.
    ids: String,
    options: &'p Options,
    key: String,
    revision: u64,
    position: Position,
    /// Messages so far, in the stream or not.
    messages: u64,
    hash: String,
    batch: Vec<Outgoing>,
    bytes: usize,
    is_limited_by: Option<Pace>,
    saved_at: Instant,
    published: Published,
    /// Its episodes in their order, if they are to end.
    episodes: Vec<String>,
    begun: HashSet<String>,
}

impl<'p> Run<'p> {
    async fn begin(publisher: &'p Publisher, source: &str, options: &'p Options) -> Result<Self, Failure> {
        let key = format!("publish.{}", names::hash(source));
        let what = "read how far the log was published";
        let entry = ask(|| publisher.bucket.entry(&key)).await.during(what)?;
        let (mut position, revision) = match entry {
            Some(entry) => (serde_json::from_slice(&entry.value).during(what)?, entry.revision),
            None => {
                let state = ask(|| publisher.packets.get_info()).await.during(what)?.state;
                let position = Position { sequence: state.last_sequence, ..Position::default() };
                let value = Bytes::from(serde_json::to_vec(&position).during(what)?);
                let revision =
                    publisher.bucket.create(&key, value).await.during("note how far the log is published")?;
                (position, revision)
            }
        };
        if let Some((messages, sequence)) = publisher.stored(source, position.sequence).await? {
            // The hash stays that of the messages before: it is checked when they have been read.
            position.messages = position.messages.max(messages);
            position.sequence = sequence;
            position.hash = String::new();
        }
        Ok(Self {
            publisher,
            source: source.to_owned(),
            ids: ids(source),
            options,
            key,
            revision,
            position,
            messages: 0,
            hash: String::new(),
            batch: Vec::new(),
            bytes: 0,
            is_limited_by: options.rate.map(Pace::new),
            saved_at: Instant::now(),
            published: Published::default(),
            episodes: Vec::new(),
            begun: HashSet::new(),
        })
    }

    async fn line(&mut self, number: u64, line: &[u8]) -> Result<(), Failure> {
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
        if line.len() + ROOM > self.publisher.max_payload {
            return Err(Failure::Refused(format!(
                "line {number} of {} has {} bytes, and the server takes {}; raise `max_payload` of the server",
                self.source,
                line.len(),
                self.publisher.max_payload
            )));
        }
        self.published.lines += 1;
        self.message(subject, HeaderMap::new(), Bytes::copy_from_slice(line)).await
    }

    /// The next message of the log: published now, unless it is in the stream.
    async fn message(&mut self, subject: String, mut headers: HeaderMap, body: Bytes) -> Result<(), Failure> {
        self.messages += 1;
        self.hash = names::hash([self.hash.as_bytes(), subject.as_bytes(), &body].concat());
        if self.messages <= self.position.messages {
            if self.messages == self.position.messages
                && !self.position.hash.is_empty()
                && self.position.hash != self.hash
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
        self.position.sequence = self.store(batch, &what).await?;
        self.position.messages = self.messages;
        self.position.hash.clone_from(&self.hash);
        if self.saved_at.elapsed() >= OFTEN { self.save().await } else { Ok(()) }
    }

    /// Stores a batch. If no answer comes, the stream shows whether it was stored; if not, it is sent again. The server drops the later
    /// one of two, because their messages have the same ids.
    async fn store(&self, batch: Vec<Outgoing>, what: &str) -> Result<u64, Failure> {
        let mut attempts = 1;
        loop {
            let failure = match batch::store(&self.publisher.context, batch.clone(), what).await {
                Ok(sequence) => return Ok(sequence),
                Err(failure) => failure,
            };
            if attempts == ATTEMPTS {
                return Err(failure);
            }
            attempts += 1;
            sleep(PAUSE).await;
            match self.publisher.stored(&self.source, self.position.sequence).await {
                Ok(Some((messages, sequence))) if messages == self.messages => return Ok(sequence),
                // Another process publishes this log.
                Ok(Some((messages, _))) if messages > self.position.messages => return Err(failure),
                // The server may not be there yet.
                Ok(_) | Err(_) => {}
            }
        }
    }

    /// Notes how far the log is. A note whose answer was lost is the one that is there.
    async fn save(&mut self) -> Result<(), Failure> {
        let what = "note how far the log is published";
        let bucket = &self.publisher.bucket;
        let value = Bytes::from(serde_json::to_vec(&self.position).during(what)?);
        let mut attempts = 1;
        loop {
            let error = match bucket.update(&self.key, value.clone(), self.revision).await {
                Ok(revision) => {
                    self.revision = revision;
                    break;
                }
                Err(error) => error,
            };
            if error.kind() == UpdateErrorKind::WrongLastRevision {
                let entry = ask(|| bucket.entry(&self.key)).await.during(what)?.filter(|entry| entry.value == value);
                let Some(entry) = entry else { return Err(Failure::Fenced(self.source.clone())) };
                self.revision = entry.revision;
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

    async fn finish(mut self) -> Result<Published, Failure> {
        for id in std::mem::take(&mut self.episodes) {
            let mut headers = HeaderMap::new();
            headers.insert(names::END_HEADER, "true");
            self.published.ended += 1;
            self.message(names::packets_of(&id), headers, Bytes::new()).await?;
        }
        self.flush().await?;
        if self.messages < self.position.messages {
            return Err(Failure::Refused(format!(
                "{} messages of `{}` are in the stream, and the log has {}; it was replaced or cut",
                self.position.messages, self.source, self.messages
            )));
        }
        self.save().await?;
        Ok(self.published)
    }
}

impl Publisher {
    /// How many messages of a log are in the stream, as far as there are any after a message, and the last of them.
    async fn stored(&self, source: &str, after: u64) -> Result<Option<(u64, u64)>, Failure> {
        let what = "read the stream of packets";
        let last = ask(|| self.packets.get_info()).await.during(what)?.state.last_sequence;
        let mut found = None;
        if last <= after {
            return Ok(found);
        }
        let ids = ids(source);
        let config = pull::OrderedConfig {
            deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: after + 1 },
            headers_only: true,
            ..pull::OrderedConfig::default()
        };
        let consumer = self.packets.create_consumer(config).await.during(what)?;
        let mut messages = consumer.messages().await.during(what)?;
        loop {
            let message = match timeout(SILENCE, messages.next()).await.during(what)? {
                Some(message) => message.during(what)?,
                None => return Ok(found),
            };
            let info = message.info().map_err(|error| Failure::server(what)(&error))?;
            let headers = message.headers.as_ref();
            let id = headers.and_then(|headers| headers.get(async_nats::header::NATS_MESSAGE_ID));
            if let Some(number) = id.and_then(|id| id.as_str().strip_prefix(&ids)?.parse().ok()) {
                found = Some((number, info.stream_sequence));
            }
            if info.pending == 0 {
                return Ok(found);
            }
        }
    }
}

/// How the ids of the messages of a log begin: its number follows.
fn ids(source: &str) -> String {
    format!("{}:", names::hash(source))
}

/// Lines, and what number each has.
struct Lines<R> {
    log: R,
    splitter: LineSplitter,
    ready: std::collections::VecDeque<Option<Vec<u8>>>,
    number: u64,
    is_over: bool,
}

impl<R: Read> Lines<R> {
    fn new(log: R) -> Self {
        let splitter = LineSplitter::new(LONGEST_LINE);
        Self { log, splitter, ready: std::collections::VecDeque::new(), number: 0, is_over: false }
    }

    /// The next line; the inner value is `None` for one that is too long.
    fn next(&mut self) -> std::io::Result<Option<Option<Vec<u8>>>> {
        let mut buffer = [0; 64 * 1024];
        while self.ready.is_empty() && !self.is_over {
            let ready = &mut self.ready;
            let mut each = |line: RawLine<'_>| {
                ready.push_back(match line {
                    RawLine::Whole(line) => Some(line.to_vec()),
                    RawLine::TooLong => None,
                });
                Ok::<(), std::convert::Infallible>(())
            };
            match self.log.read(&mut buffer) {
                Ok(0) => {
                    let Ok(()) = self.splitter.finish(&mut each);
                    self.is_over = true;
                }
                Ok(count) => {
                    let Ok(()) = self.splitter.feed(buffer.get(..count).unwrap_or_default(), &mut each);
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let line = self.ready.pop_front();
        self.number += u64::from(line.is_some());
        Ok(line)
    }
}

/// Keeps to a rate.
struct Pace {
    rate: u32,
    next: tokio::time::Instant,
}

impl Pace {
    fn new(rate: u32) -> Self {
        Self { rate: rate.max(1), next: tokio::time::Instant::now() }
    }

    /// How many lines go together: a tenth of a second.
    fn batch(&self) -> usize {
        usize::try_from(self.rate / 10).unwrap_or(usize::MAX).clamp(1, batch::MOST)
    }

    async fn wait(&mut self, count: usize) {
        sleep_until(self.next).await;
        let time = Duration::from_secs_f64(count as f64 / f64::from(self.rate));
        self.next = tokio::time::Instant::now().max(self.next) + time;
    }
}

/// How often it is noted how far a log is.
const OFTEN: Duration = Duration::from_secs(1);

/// How often a batch is sent …
const ATTEMPTS: u32 = 5;

/// … and how long to wait in between.
const PAUSE: Duration = Duration::from_secs(1);

/// How long an answer may take.
const SILENCE: Duration = Duration::from_secs(10);

/// Room for the subject and headers of a message.
const ROOM: usize = 4 * 1024;

/// The longest line of a log.
const LONGEST_LINE: usize = 16 * 1024 * 1024;
