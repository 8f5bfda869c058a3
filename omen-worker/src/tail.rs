//! `omen tail`: reads findings as they are published.

use std::future::Future;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_nats::Client;
use async_nats::jetstream::Context;
use bytes::Bytes;
use serde::Deserialize;
use tokio::time::{Instant, sleep};
use tracing::warn;

use crate::connect::Server;
use crate::failure::{During as _, Failure};
use crate::names::{self, Names};
use crate::partition::KnownMessage;
use crate::stream::JetStream;
use crate::stream::broker::{Batch, Broker as _, Reader as _, StoredMessage};
use crate::stream::bucket::Bucket;

/// Reader of the findings on a server.
#[derive(Debug)]
pub struct Findings {
    client: Client,
    broker: JetStream,
    names: Names,
}

impl Findings {
    /// Opens the streams with these names, over a connection to `server`.
    ///
    /// # Errors
    /// If the streams do not exist because no worker has run.
    pub async fn open(server: &Server, context: &Context, names: &Names) -> Result<Self, Failure> {
        let broker = server.broker(context.clone());
        broker.state(&names.findings).await?;
        Ok(Self { client: context.client(), broker, names: names.clone() })
    }

    /// Returns the packet that a finding is about, if its stream still has it.
    async fn packet(&self, finding: &[u8]) -> Result<Option<Bytes>, Failure> {
        #[derive(Deserialize)]
        struct PacketPlace {
            file: String,
            line: u64,
        }
        let Ok(PacketPlace { file, line }) = serde_json::from_slice(finding) else { return Ok(None) };
        // Anyone who may publish findings could name another stream, so only streams of packets are read.
        let partition = file.strip_prefix(&self.names.prefix).and_then(|rest| rest.strip_prefix('_'));
        if line == 0 || partition.is_none_or(|partition| partition.parse::<u16>().is_err()) {
            return Ok(None);
        }
        Ok(self.broker.message(&file, line).await?.map(|message| message.body))
    }
}

/// Position at which reading begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum From {
    /// The oldest stored finding.
    #[default]
    Beginning,
    /// The next finding that is published.
    Now,
}

/// Options for reading findings.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where to begin, if `consumer` is `None` or has no stored position yet.
    pub from: From,
    /// Whether to wait for more findings at the end.
    pub follows: bool,
    /// Whether each finding is followed by the packet that it is about.
    pub with_packets: bool,
    /// Name under which the server stores the reader's position, of letters, digits, `_` and `-`. A later reader with this name
    /// continues from there.
    pub consumer: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self { from: From::Beginning, follows: false, with_packets: false, consumer: None }
    }
}

/// Passes findings to `each` in order of publication, each as a line of JSON, until `stop` is ready, `each` fails, or the end is
/// reached. A reader that follows the stream resumes after an outage of the server, and receives each finding once.
///
/// # Errors
/// If the server fails, or the first error of `each`. [`Failure::Refused`] if the stream of findings is not the one that was read
/// before, because it was recreated or restored from an older copy. [`Failure::Fenced`] if another process reads as the same
/// consumer.
pub async fn run<E>(
    findings: &Findings,
    options: &Options,
    stop: impl Future<Output = ()>,
    mut each: impl FnMut(&[u8], Option<&[u8]>) -> Result<(), E>,
) -> Result<Result<(), E>, Failure> {
    let mut place = match &options.consumer {
        Some(name) => Some(ConsumerPlace::open(findings, name).await?),
        None => None,
    };
    let state = findings.broker.state(&findings.names.findings).await?;
    let after = match (place.as_ref().and_then(|place| place.last), options.from) {
        (Some(last), _) => last.sequence,
        (None, From::Beginning) => 0,
        (None, From::Now) => state.last,
    };
    if let Some(place) = place.as_mut().filter(|place| place.last.is_none() && after > 0)
        && let Some(last) = findings.broker.message(&findings.names.findings, after).await?
    {
        // A consumer that begins with the next finding must find this position the next time.
        place.keep(known(&last)).await?;
        place.last = Some(known(&last));
    }
    let last = place.as_ref().and_then(|place| place.last);
    let mut reader = Tail { findings, after, last, source: None, is_patient: options.follows, failing_since: None };
    if !options.follows && state.last <= after {
        return reader.check().await.map(Ok);
    }
    tokio::pin!(stop);
    let mut printed = after;
    loop {
        let Batch { messages, pending } = tokio::select! {
            some = reader.some() => some?,
            () = &mut stop => return Ok(Ok(())),
        };
        for message in &messages {
            let (first, end) = (printed + 1, message.sequence.saturating_sub(1));
            if printed > 0 && first <= end {
                warn!("messages {first} to {end} of the findings were deleted before they were printed");
            }
            printed = message.sequence;
            for line in message.body.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                let packet = async { if options.with_packets { reader.packet(line).await } else { Ok(None) } };
                let packet = tokio::select! {
                    packet = packet => packet?,
                    () = &mut stop => return Ok(Ok(())),
                };
                if let Err(error) = each(line, packet.as_deref()) {
                    return Ok(Err(error));
                }
            }
            if let Some(place) = &mut place {
                reader.keep(place, known(message)).await?;
            }
        }
        // The server has reported that there are no messages.
        if !options.follows && pending == 0 {
            return Ok(Ok(()));
        }
    }
}

fn known(message: &StoredMessage) -> KnownMessage {
    KnownMessage { sequence: message.sequence, time: message.time }
}

/// Stored position of a consumer.
struct ConsumerPlace {
    bucket: Bucket<JetStream>,
    key: String,
    revision: u64,
    last: Option<KnownMessage>,
}

impl ConsumerPlace {
    async fn open(findings: &Findings, name: &str) -> Result<Self, Failure> {
        if !names::is_plain(name) {
            return Err(Failure::Input(format!(
                "invalid name of a consumer `{name}`; expected letters, digits, `_` and `-`"
            )));
        }
        let bucket = Bucket::new(findings.broker.clone(), &findings.names.state);
        let key = format!("consumer.{name}");
        let mut place = Self { bucket, key, revision: 0, last: None };
        (place.last, place.revision) = place.read().await?;
        Ok(place)
    }

    async fn read(&self) -> Result<(Option<KnownMessage>, u64), Failure> {
        let (value, revision) = self.bucket.get(&self.key).await?;
        let last = value.map(|value| serde_json::from_slice(&value)).transpose().map_err(|error| {
            let (key, bucket) = (&self.key, &self.bucket.name);
            Failure::Refused(format!("the key `{key}` of the bucket `{bucket}` cannot be read ({error}); delete it"))
        })?;
        Ok((last, revision))
    }

    async fn keep(&mut self, last: KnownMessage) -> Result<(), Failure> {
        let value = serde_json::to_vec(&last).during("store the reader's position")?;
        self.revision = self.bucket.update(&self.key, value.into(), self.revision).await?;
        Ok(())
    }
}

/// Reader that survives lost connections.
struct Tail<'f> {
    findings: &'f Findings,
    /// Number of the last message that was read.
    after: u64,
    /// The last message that was read, if any.
    last: Option<KnownMessage>,
    source: Option<<JetStream as crate::stream::broker::Broker>::Reader>,
    /// Whether the reader waits for an unreachable server.
    is_patient: bool,
    /// Time since which requests fail although there is a connection.
    failing_since: Option<Instant>,
}

impl Tail<'_> {
    async fn some(&mut self) -> Result<Batch, Failure> {
        loop {
            let interrupted = interrupted(&self.findings.client);
            let some = tokio::select! {
                some = self.try_some() => some,
                () = interrupted => Err(Failure::server("read the stream of findings")(&"the connection was lost")),
            };
            match some {
                Ok(some) => {
                    self.failing_since = None;
                    if let Some(last) = some.messages.last() {
                        (self.after, self.last) = (last.sequence, Some(known(last)));
                    }
                    return Ok(some);
                }
                Err(failure @ Failure::Refused(_)) => return Err(failure),
                Err(failure) => {
                    self.source = None;
                    self.wait(failure).await?;
                }
            }
        }
    }

    async fn try_some(&mut self) -> Result<Batch, Failure> {
        if self.source.is_none() {
            self.check().await?;
            self.source = Some(self.findings.broker.read(&self.findings.names.findings, self.after).await?);
        }
        match &mut self.source {
            Some(source) => source.some().await,
            None => Ok(Batch::default()),
        }
    }

    /// Checks that the stream is the one that was read before, and still has the messages that were read.
    async fn check(&self) -> Result<(), Failure> {
        let (broker, stream) = (&self.findings.broker, &self.findings.names.findings);
        let state = broker.state(stream).await?;
        let is_other = match self.last {
            Some(last) => broker.message(stream, last.sequence).await?.is_some_and(|found| found.time != last.time),
            None => false,
        };
        if !is_other && self.after <= state.last {
            return Ok(());
        }
        Err(Failure::Refused(format!(
            "the stream `{stream}` is not the one that was read up to message {}: it was recreated, or restored from \
             an older copy; start `omen tail` again, with another name for `--consumer`; findings may be printed \
             again",
            self.after
        )))
    }

    async fn packet(&mut self, finding: &[u8]) -> Result<Option<Bytes>, Failure> {
        loop {
            let packet = tokio::select! {
                packet = self.findings.packet(finding) => packet,
                () = interrupted(&self.findings.client) => {
                    Err(Failure::server("read the packet of a finding")(&"the connection was lost"))
                }
            };
            match packet {
                Ok(packet) => {
                    self.failing_since = None;
                    return Ok(packet);
                }
                Err(failure) => self.wait(failure).await?,
            }
        }
    }

    /// Stores the position on the server. If the response to an earlier attempt was lost, the stored position is already this
    /// one.
    async fn keep(&mut self, place: &mut ConsumerPlace, last: KnownMessage) -> Result<(), Failure> {
        loop {
            let kept = tokio::select! {
                kept = place.keep(last) => kept,
                () = interrupted(&self.findings.client) => {
                    Err(Failure::server("store the reader's position")(&"the connection was lost"))
                }
            };
            let failure = match kept {
                Ok(()) => {
                    self.failing_since = None;
                    return Ok(());
                }
                Err(failure) => failure,
            };
            if let Ok((found, revision)) = place.read().await
                && found == Some(last)
            {
                place.revision = revision;
                return Ok(());
            }
            if matches!(failure, Failure::Fenced(_)) {
                return Err(failure);
            }
            self.wait(failure).await?;
        }
    }

    /// Waits a moment after a failure that may be transient.
    async fn wait(&mut self, failure: Failure) -> Result<(), Failure> {
        let since = self.failing_since.get_or_insert_with(Instant::now);
        if !self.findings.broker.is_connected() {
            *since = Instant::now();
        }
        if !self.is_patient || since.elapsed() >= PATIENCE {
            return Err(failure);
        }
        sleep(PAUSE).await;
        Ok(())
    }
}

/// Waits until the connection is lost or replaced. Pending requests then get no response.
async fn interrupted(client: &Client) {
    let connections = || client.statistics().connects.load(Ordering::Relaxed);
    let before = connections();
    while client.connection_state() == async_nats::connection::State::Connected && connections() == before {
        sleep(PAUSE).await;
    }
}

/// Maximum time for which a reachable server may fail. After a start, it may need a while to read its files.
const PATIENCE: Duration = Duration::from_secs(60);

/// Pause after a failure, and between checks of the connection.
const PAUSE: Duration = Duration::from_millis(250);
