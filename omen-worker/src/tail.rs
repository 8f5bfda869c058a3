//! `omen tail`: findings as they come.

use std::future::Future;
use std::time::Duration;

use async_nats::jetstream::Context;
use async_nats::jetstream::consumer::{DeliverPolicy, pull};
use async_nats::jetstream::stream::Stream;
use bytes::Bytes;
use futures_util::StreamExt as _;
use tokio::time::timeout;

use crate::ask::ask;
use crate::failure::{During as _, Failure};
use crate::names::{self, Names};

/// What is read.
#[derive(Debug)]
pub struct Streams {
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
        Ok(Self { findings: open(&names.findings).await?, packets: open(&names.packets).await? })
    }

    /// The packet that a finding is about, if the stream still has it.
    async fn packet(&self, finding: &[u8]) -> Option<Bytes> {
        #[derive(serde::Deserialize)]
        struct Line {
            line: u64,
        }
        let Line { line } = serde_json::from_slice(finding).ok()?;
        Some(self.packets.get_raw_message(line).await.ok()?.payload)
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
/// until `stop` is ready, `each` fails, or with `is_following` unset the end is reached.
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
    let what = "read the stream of findings";
    let state = ask(|| streams.findings.get_info()).await.during(what)?.state;
    if !is_following && (state.messages == 0 || from == From::Now) {
        return Ok(Ok(()));
    }
    let deliver_policy = match from {
        From::Beginning => DeliverPolicy::All,
        From::Now => DeliverPolicy::ByStartSequence { start_sequence: state.last_sequence + 1 },
    };
    // Commits, too, because the end is noticed by them: there is at least one.
    let config = pull::OrderedConfig { deliver_policy, ..pull::OrderedConfig::default() };
    let consumer = streams.findings.create_consumer(config).await.during(what)?;
    let mut messages = consumer.messages().await.during(what)?;
    tokio::pin!(stop);
    loop {
        let next =
            async { if is_following { Ok(messages.next().await) } else { timeout(SILENCE, messages.next()).await } };
        let message = tokio::select! {
            message = next => message.during(what)?,
            () = &mut stop => return Ok(Ok(())),
        };
        let Some(message) = message else { return Ok(Ok(())) };
        let message = message.during(what)?;
        let pending = message.info().map_err(|error| Failure::server(what)(&error))?.pending;
        let is_finding = message.subject.strip_prefix(names::FINDINGS).is_some_and(|rest| rest.starts_with('.'));
        if is_finding {
            let packet = if with_packets { streams.packet(&message.payload).await } else { None };
            if let Err(error) = each(&message.payload, packet.as_deref()) {
                return Ok(Err(error));
            }
        }
        if !is_following && pending == 0 {
            return Ok(Ok(()));
        }
    }
}

/// How long an answer may take.
const SILENCE: Duration = Duration::from_secs(10);
