//! What of a log is in the stream.

use std::time::Duration;

use async_nats::jetstream::consumer::{DeliverPolicy, pull};
use async_nats::jetstream::stream::Stream;
use futures_util::StreamExt as _;
use tokio::time::timeout;

use crate::ask::ask;
use crate::failure::{During as _, Failure};
use crate::names;

/// How many messages of a log are in the stream, as far as there are any after a message, and the last of them.
pub(super) async fn stored(packets: &Stream, source: &str, after: u64) -> Result<Option<(u64, u64)>, Failure> {
    let what = "read the stream of packets";
    let last = ask(|| packets.get_info()).await.during(what)?.state.last_sequence;
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
    let consumer = packets.create_consumer(config).await.during(what)?;
    if consumer.cached_info().num_pending == 0 {
        // They were deleted.
        return Ok(found);
    }
    let mut messages = consumer.messages().await.during(what)?;
    loop {
        let message = match timeout(SILENCE, messages.next()).await.during(what)? {
            Some(message) => message.during(what)?,
            None => return Err(Failure::server(what)(&"the connection was closed")),
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

/// How the ids of the messages of a log begin: its number follows.
pub(super) fn ids(source: &str) -> String {
    format!("{}:", names::hash(source))
}

/// How long an answer may take.
const SILENCE: Duration = Duration::from_secs(10);
