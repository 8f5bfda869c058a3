//! `omen tail`: findings as they come.

use std::future::Future;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_nats::Client;
use async_nats::connection::State;
use async_nats::jetstream::Context;
use async_nats::jetstream::stream::{LastRawMessageErrorKind, Stream};
use bytes::Bytes;
use tokio::time::{Instant, sleep};

use crate::ask::ask;
use crate::failure::{During as _, Failure};
use crate::names::{self, Names};
use crate::source::{Batch, Received, Source};

/// What is read.
#[derive(Debug)]
pub struct Streams {
    context: Context,
    findings: Stream,
    packets: Stream,
}

impl Streams {
    /// Opens the streams that belong together.
    ///
    /// # Errors
    /// If there are none: no worker has run.
    pub async fn open(context: &Context, names: &Names) -> Result<Self, Failure> {
        let open =
            async |name: &str| ask(|| context.get_stream(name)).await.during(&format!("read the stream `{name}`"));
        let (findings, packets) = (open(&names.findings).await?, open(&names.packets).await?);
        Ok(Self { context: context.clone(), findings, packets })
    }

    /// The packet that a finding is about, if the stream still has it.
    async fn packet(&self, finding: &[u8]) -> Result<Option<Bytes>, Failure> {
        #[derive(serde::Deserialize)]
        struct Line {
            line: u64,
        }
        let Ok(Line { line }) = serde_json::from_slice(finding) else { return Ok(None) };
        match self.packets.get_raw_message(line).await {
            Ok(message) => Ok(Some(message.payload)),
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
            Err(error) => Err(Failure::server("read the packet of a finding")(&error)),
        }
    }
}

/// Which findings are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum From {
    /// All that are stored, and those that come.
    #[default]
    Beginning,
    /// Those that come.
    Now,
}

/// Passes on findings in the order in which they were published, each as a line of JSON, with its packet if `with_packets` is set,
/// until `stop` is ready, `each` fails, or with `is_following` unset the end is reached. Who follows goes on when the server is there again
/// after it was away, and receives each finding once.
///
/// # Errors
/// If the server fails, or the first error of `each`.
pub async fn run<E>(
    streams: &Streams,
    from: From,
    (is_following, with_packets): (bool, bool),
    stop: impl Future<Output = ()>,
    mut each: impl FnMut(&[u8], Option<&[u8]>) -> Result<(), E>,
) -> Result<Result<(), E>, Failure> {
    let state = ask(|| streams.findings.get_info()).await.during("read the stream of findings")?.state;
    if !is_following && (state.messages == 0 || from == From::Now) {
        return Ok(Ok(()));
    }
    let after = match from {
        From::Beginning => 0,
        From::Now => state.last_sequence,
    };
    let mut reader = Reader { streams, after, source: None, is_patient: is_following, failing_since: None };
    tokio::pin!(stop);
    loop {
        let Batch { messages, pending } = tokio::select! {
            some = reader.some() => some?,
            () = &mut stop => return Ok(Ok(())),
        };
        for message in messages.iter().filter(|message| is_finding(message)) {
            let packet = async { if with_packets { reader.packet(message).await } else { Ok(None) } };
            let packet = tokio::select! {
                packet = packet => packet?,
                () = &mut stop => return Ok(Ok(())),
            };
            if let Err(error) = each(message.body(), packet.as_deref()) {
                return Ok(Err(error));
            }
        }
        // Without a message, the server has said that there is none.
        if !is_following && pending == 0 {
            return Ok(Ok(()));
        }
    }
}

fn is_finding(message: &Received) -> bool {
    message.subject().strip_prefix(names::FINDINGS).is_some_and(|rest| rest.starts_with('.'))
}

/// Reads on, whatever becomes of the connection.
struct Reader<'s> {
    streams: &'s Streams,
    /// The last message that was read.
    after: u64,
    source: Option<Source>,
    /// Whether it waits for a server that is away.
    is_patient: bool,
    /// Since when the server fails although there is a connection.
    failing_since: Option<Instant>,
}

impl Reader<'_> {
    async fn some(&mut self) -> Result<Batch, Failure> {
        loop {
            let interrupted = interrupted(self.streams.context.client());
            let some = tokio::select! {
                some = self.try_some() => some,
                () = interrupted => Err(Failure::server("read the stream of findings")(&"the connection was lost")),
            };
            match some {
                Ok(some) => {
                    self.failing_since = None;
                    self.after = some.messages.last().map_or(self.after, |last| last.sequence);
                    return Ok(some);
                }
                Err(failure) => {
                    self.source = None;
                    self.wait(failure).await?;
                }
            }
        }
    }

    async fn try_some(&mut self) -> Result<Batch, Failure> {
        let source = match &mut self.source {
            Some(source) => source,
            none => none.insert(Source::after(&self.streams.context, &self.streams.findings, self.after).await?),
        };
        source.some().await
    }

    async fn packet(&mut self, finding: &Received) -> Result<Option<Bytes>, Failure> {
        loop {
            let packet = tokio::select! {
                packet = ask(|| self.streams.packet(finding.body())) => packet,
                () = interrupted(self.streams.context.client()) => {
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

    /// Waits a moment after a failure, if it may pass.
    async fn wait(&mut self, failure: Failure) -> Result<(), Failure> {
        let is_connected = self.streams.context.client().connection_state() == State::Connected;
        let since = self.failing_since.get_or_insert_with(Instant::now);
        if !is_connected {
            *since = Instant::now();
        }
        if !self.is_patient || since.elapsed() >= PATIENCE {
            return Err(failure);
        }
        sleep(PAUSE).await;
        Ok(())
    }
}

/// Waits until there is no connection, or another one. What was asked for before does not come.
async fn interrupted(client: Client) {
    let connections = || client.statistics().connects.load(Ordering::Relaxed);
    let before = connections();
    while client.connection_state() == State::Connected && connections() == before {
        sleep(PAUSE).await;
    }
}

/// For how long a server that is there may fail: after a start it may take a while until it has read its files.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long to wait after a failure, or until the connection is checked again.
const PAUSE: Duration = Duration::from_millis(250);
