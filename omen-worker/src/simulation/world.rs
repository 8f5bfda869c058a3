//! Server in memory that loses messages, and whose clients lose requests, responses and connections.

use std::collections::BTreeMap;
use std::hash::Hasher as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_nats::Event;
use async_nats::header::NATS_EXPECTED_LAST_SUBJECT_SEQUENCE;
use siphasher::sip::SipHasher13;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use crate::failure::Failure;
use crate::stream::broker::{Batch, Broker, Outgoing, Reader, StoredMessage, StreamBounds};
use crate::stream::link::Link;

/// Random number generator with the same numbers for the same seed on every platform.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    pub(super) fn millis(&mut self, most: u64) -> Duration {
        Duration::from_millis(self.below(most))
    }
}

/// Loss rates, per thousand requests.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Losses {
    pub(super) requests: u64,
    pub(super) answers: u64,
}

#[derive(Debug, Default)]
pub(super) struct Stream {
    pub(super) messages: BTreeMap<u64, StoredMessage>,
    pub(super) last: u64,
    /// Incarnation of the stream. It increases when the stream is restored, which ends the readers.
    pub(super) epoch: u64,
    /// Messages that were deleted.
    pub(super) deleted: BTreeMap<u64, StoredMessage>,
}

/// The server.
#[derive(Clone, Debug)]
pub(super) struct World(Arc<Mutex<Inner>>);

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) random: Random,
    pub(super) streams: BTreeMap<String, Stream>,
    pub(super) losses: Losses,
    /// Offset of the server's clock in milliseconds.
    pub(super) moved: i64,
    /// Incarnation of the server. It increases when the server restarts, which ends the readers.
    pub(super) epoch: u64,
    begin: Instant,
    last_time: i64,
    unique: u64,
    /// Hash of everything that was stored, in order.
    trace: SipHasher13,
}

impl World {
    pub(super) fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(Inner {
            random: Random::new(seed),
            streams: BTreeMap::new(),
            losses: Losses::default(),
            moved: 0,
            epoch: 0,
            begin: Instant::now(),
            last_time: 0,
            unique: 0,
            trace: SipHasher13::new(),
        })))
    }

    pub(super) fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn trace(&self) -> u64 {
        self.inner().trace.finish()
    }
}

impl Inner {
    /// Returns a time that no earlier message has, even if the clock goes back.
    fn now(&mut self) -> i64 {
        let elapsed = i64::try_from(self.begin.elapsed().as_millis()).unwrap_or(i64::MAX);
        let now = 1_700_000_000_000 + elapsed + self.moved;
        self.last_time = if now == self.last_time { now + 1 } else { now };
        self.last_time
    }

    fn epoch(&self, stream: &str) -> (u64, u64) {
        (self.epoch, self.streams.get(stream).map_or(0, |stream| stream.epoch))
    }

    pub(super) fn last(&self, stream: &str, subject: &str) -> Option<&StoredMessage> {
        self.streams.get(stream)?.messages.values().rev().find(|message| matches(subject, &message.subject))
    }

    /// Stores messages of one stream, all or none.
    fn store(&mut self, messages: &[Outgoing]) -> Option<u64> {
        let stream = stream_of(&messages.first()?.subject);
        for Outgoing { subject, headers, .. } in messages {
            let Some(expected) = headers.get(NATS_EXPECTED_LAST_SUBJECT_SEQUENCE) else { continue };
            let about = headers.get("Nats-Expected-Last-Subject-Sequence-Subject");
            let about = about.map_or(subject.as_str(), |about| about.as_str());
            let found = self.last(&stream, about).map_or(0, |last| last.sequence);
            if expected.as_str() != found.to_string() {
                return None;
            }
        }
        let time = self.now();
        self.trace.write(format!("{stream} {time}").as_bytes());
        let is_bucket = stream.starts_with("KV_");
        let stored = self.streams.entry(stream).or_default();
        for Outgoing { subject, headers, body } in messages {
            stored.last += 1;
            let (subject, headers, body) = (subject.as_str().into(), headers.clone(), body.clone());
            if is_bucket {
                stored.messages.retain(|_, message| message.subject != subject);
            }
            // The content of a checkpoint has no defined order.
            self.trace.write(if is_bucket { &[] } else { &body });
            stored.messages.insert(stored.last, StoredMessage { subject, headers, body, sequence: stored.last, time });
        }
        Some(stored.last)
    }

    /// Removes expired entries of workers.
    fn expire(&mut self) {
        let oldest = self.now() - i64::try_from(crate::setup::LEASE.as_millis()).unwrap_or(i64::MAX);
        if let Some(workers) = self.streams.get_mut("KV_PACKETS_WORKERS") {
            workers.messages.retain(|_, message| message.time >= oldest);
        }
    }
}

fn stream_of(subject: &str) -> String {
    let parts: Vec<&str> = subject.split('.').collect();
    match &*parts {
        ["$KV", bucket, ..] => format!("KV_{bucket}"),
        ["omen", "findings", ..] => "PACKETS_FINDINGS".to_owned(),
        ["omen", _, partition, ..] => format!("PACKETS_{partition}"),
        _ => String::new(),
    }
}

fn matches(filter: &str, subject: &str) -> bool {
    filter.strip_suffix('>').map_or(filter == subject, |beginning| subject.starts_with(beginning))
}

/// Health of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Health {
    Connected,
    Cut,
    /// The client does nothing until it is resumed.
    Paused,
    /// The client does nothing any more.
    Dead,
}

/// A connection to the server.
#[derive(Clone, Debug)]
pub(super) struct Client {
    pub(super) world: World,
    pub(super) link: Link,
    health: Arc<(Mutex<Health>, Notify)>,
}

impl Client {
    pub(super) fn new(world: &World) -> Self {
        let link = Link::new();
        link.note(&Event::Connected);
        Self { world: world.clone(), link, health: Arc::new((Mutex::new(Health::Connected), Notify::new())) }
    }

    fn health(&self) -> MutexGuard<'_, Health> {
        self.health.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set(&self, health: Health) {
        let before = std::mem::replace(&mut *self.health(), health);
        self.health.1.notify_waiters();
        match (before, health) {
            (Health::Connected, Health::Cut) => self.link.note(&Event::Disconnected),
            (Health::Cut, Health::Connected) => self.link.note(&Event::Connected),
            _ => {}
        }
    }

    /// Waits while the client is paused.
    async fn awake(&self) {
        loop {
            let mut changed = std::pin::pin!(self.health.1.notified());
            changed.as_mut().enable();
            if matches!(*self.health(), Health::Connected | Health::Cut) {
                return;
            }
            changed.await;
        }
    }

    fn is_cut(&self) -> bool {
        *self.health() == Health::Cut
    }

    async fn request<T>(&self, what: &str, effect: impl FnOnce(&mut Inner) -> T + Send) -> Result<T, Failure> {
        self.awake().await;
        let (there, back, fate, losses) = {
            let mut inner = self.world.inner();
            let random = &mut inner.random;
            let drawn = (random.millis(20), random.millis(20), random.below(1000));
            (drawn.0, drawn.1, drawn.2, inner.losses)
        };
        let lost = || Failure::server(what)(&"timed out");
        sleep(there).await;
        self.awake().await;
        if self.is_cut() || fate < losses.requests {
            sleep(TIMEOUT).await;
            self.awake().await;
            return Err(lost());
        }
        let answer = effect(&mut self.world.inner());
        sleep(back).await;
        self.awake().await;
        if self.is_cut() || fate < losses.requests + losses.answers {
            sleep(TIMEOUT).await;
            self.awake().await;
            return Err(lost());
        }
        Ok(answer)
    }
}

impl Broker for Client {
    type Reader = WorldReader;

    async fn read(&self, stream: &str, after: u64) -> Result<WorldReader, Failure> {
        let epoch = self.request("read", |inner| inner.epoch(stream)).await?;
        Ok(WorldReader { client: self.clone(), stream: stream.to_owned(), after, epoch })
    }

    async fn state(&self, stream: &str) -> Result<StreamBounds, Failure> {
        self.request("read the state", |inner| {
            let stream = inner.streams.entry(stream.to_owned()).or_default();
            let first = stream.messages.keys().next().copied().unwrap_or(stream.last + 1);
            StreamBounds { first, last: stream.last }
        })
        .await
    }

    async fn message(&self, stream: &str, sequence: u64) -> Result<Option<StoredMessage>, Failure> {
        self.request("read a message", |inner| inner.streams.get(stream)?.messages.get(&sequence).cloned()).await
    }

    async fn last(&self, stream: &str, subject: &str) -> Result<Option<StoredMessage>, Failure> {
        self.request("read the last message", |inner| inner.last(stream, subject).cloned()).await
    }

    async fn subjects(&self, stream: &str, filter: &str) -> Result<Vec<String>, Failure> {
        self.request("read subjects", |inner| {
            inner.expire();
            let messages = inner.streams.get(stream).map(|stream| &stream.messages);
            let subjects = messages.into_iter().flatten().map(|(_, message)| message.subject.to_string());
            subjects.filter(|subject| matches(filter, subject)).collect()
        })
        .await
    }

    async fn remove(&self, stream: &str, subject: &str) -> Result<(), Failure> {
        self.request("remove", |inner| {
            if let Some(stream) = inner.streams.get_mut(stream) {
                stream.messages.retain(|_, message| &*message.subject != subject);
            }
        })
        .await
    }

    async fn store(&self, messages: Vec<Outgoing>, what: &str) -> Result<u64, Failure> {
        let stored = self.request("publish", |inner| inner.store(&messages)).await?;
        stored.ok_or_else(|| Failure::Fenced(what.to_owned()))
    }

    async fn send(&self, message: Outgoing) {
        let _ = self.request("send", |inner| inner.store(&[message])).await;
    }

    fn is_connected(&self) -> bool {
        !self.is_cut()
    }

    fn unique(&self) -> String {
        let mut inner = self.world.inner();
        inner.unique += 1;
        format!("u{}", inner.unique)
    }

    fn max_payload(&self) -> usize {
        // Small enough that a commit has few findings, and a checkpoint several values.
        24 * 1024
    }
}

/// Reader of a stream.
pub(super) struct WorldReader {
    client: Client,
    stream: String,
    after: u64,
    epoch: (u64, u64),
}

impl Reader for WorldReader {
    async fn some(&mut self) -> Result<Batch, Failure> {
        let (most, wait) = {
            let mut inner = self.client.world.inner();
            (inner.random.below(9) + 1, inner.random.millis(1000))
        };
        let mut waited = Duration::ZERO;
        loop {
            let (stream, after, epoch) = (&self.stream, self.after, self.epoch);
            let some = self
                .client
                .request("read", |inner| {
                    let stream = (inner.epoch(stream) == epoch).then(|| inner.streams.get(stream))?;
                    let mut there = stream.into_iter().flat_map(|stream| stream.messages.range(after + 1..));
                    let messages: Vec<StoredMessage> =
                        there.by_ref().take(usize::try_from(most).ok()?).map(|(_, message)| message.clone()).collect();
                    Some(Batch { messages, pending: there.count() as u64 })
                })
                .await?;
            let some = some.ok_or_else(|| Failure::server("read")(&"the consumer is gone"))?;
            if !some.messages.is_empty() || waited >= wait {
                self.after = some.messages.last().map_or(self.after, |last| last.sequence);
                return Ok(some);
            }
            sleep(PAUSE).await;
            waited += PAUSE;
        }
    }

    async fn close(self) {}
}

/// Response timeout of a client.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Polling interval of a reader.
const PAUSE: Duration = Duration::from_millis(500);
