//! The messages of a partition, in the order of the stream.

use std::time::Duration;

use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::pull::{self, Batch};
use async_nats::jetstream::consumer::{AckPolicy, Consumer, DeliverPolicy};
use async_nats::jetstream::stream::Stream;
use futures_util::StreamExt as _;
use tokio::time::timeout;

use crate::failure::{During as _, Failure};
use crate::judge::{Arrived, Kind};
use crate::names;

/// A consumer that the server forgets soon after nobody asks. It acknowledges nothing: the commit is the acknowledgement.
pub(crate) struct Source {
    consumer: Consumer<pull::Config>,
    /// The number of the last message that the consumer delivered.
    delivered: u64,
    /// What the server sends while the messages before are judged.
    ahead: Option<Batch>,
}

/// A message, and what the server says of it.
#[derive(Debug)]
pub(crate) struct Received {
    message: Message,
    /// Its number in the stream.
    pub(crate) sequence: u64,
    /// When the server stored it, in milliseconds since 1970.
    time: i64,
    /// How many of the partition are in the stream behind it.
    pub(crate) pending: u64,
}

impl Received {
    /// What it is.
    pub(crate) fn arrived(&self) -> Arrived<'_> {
        let Self { message, sequence, time, .. } = self;
        let kind = kind(&message.subject, &message.payload, message.headers.as_ref().is_some_and(is_end));
        Arrived { sequence: *sequence, time: *time, kind }
    }

    /// The bytes of its content.
    pub(crate) fn bytes(&self) -> usize {
        self.message.payload.len()
    }
}

impl Source {
    /// Reads on after a message of the stream.
    pub(crate) async fn after(packets: &Stream, sequence: u64, partition: u16) -> Result<Self, Failure> {
        let config = pull::Config {
            filter_subjects: vec![names::partition(partition), names::LOST.to_owned(), names::TICK.to_owned()],
            deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: sequence + 1 },
            ack_policy: AckPolicy::None,
            inactive_threshold: FORGOTTEN,
            memory_storage: true,
            num_replicas: 1,
            ..pull::Config::default()
        };
        let consumer = packets.create_consumer(config).await.during("read the stream of packets")?;
        Ok(Self { consumer, delivered: 0, ahead: None })
    }

    /// The messages that are there, at most some megabytes. The server sends what is asked for and no more, so what a worker
    /// cannot judge yet stays in the stream. If there are more, the next ones are asked for, and come while these are judged.
    pub(crate) async fn available(&mut self) -> Result<Vec<Received>, Failure> {
        let batch = match self.ahead.take() {
            Some(batch) => batch,
            None => self.ask(MESSAGES, Some(BYTES)).await?,
        };
        let messages = match self.receive(batch).await? {
            Some(messages) => messages,
            // The next one is larger than that.
            None => {
                let batch = self.ask(1, None).await?;
                self.receive(batch).await?.unwrap_or_default()
            }
        };
        if messages.last().is_some_and(|last| last.pending > 0) {
            self.ahead = Some(self.ask(MESSAGES, Some(BYTES)).await?);
        }
        Ok(messages)
    }

    /// Asks for messages that are there.
    async fn ask(&self, most: usize, most_bytes: Option<usize>) -> Result<Batch, Failure> {
        let mut fetch = self.consumer.fetch().max_messages(most);
        if let Some(most_bytes) = most_bytes {
            fetch = fetch.max_bytes(most_bytes);
        }
        fetch.messages().await.during(READ)
    }

    /// The messages that were asked for; `None` if the first one has more bytes than that.
    async fn receive(&mut self, mut batch: Batch) -> Result<Option<Vec<Received>>, Failure> {
        let mut messages = Vec::new();
        loop {
            match timeout(SILENCE, batch.next()).await.during(READ)? {
                None => return Ok(Some(messages)),
                Some(Ok(message)) => messages.push(self.in_order(message)?),
                Some(Err(error)) => {
                    let why = error.to_string();
                    if why.contains(TOO_LARGE) {
                        return Ok((!messages.is_empty()).then_some(messages));
                    } else if why.contains(COMPLETE) {
                        return Ok(Some(messages));
                    }
                    return Err(Failure::server(READ)(&why));
                }
            }
        }
    }

    /// The next message, if there is one within some time. To be called when none was available.
    pub(crate) async fn next(&mut self, within: Duration) -> Result<Option<Received>, Failure> {
        let mut batch = self.consumer.batch().max_messages(1).expires(within).messages().await.during(READ)?;
        match timeout(within + SILENCE, batch.next()).await.during(READ)? {
            None => Ok(None),
            Some(Ok(message)) => self.in_order(message).map(Some),
            Some(Err(error)) => Err(Failure::server(READ)(&error)),
        }
    }

    /// Refuses a message if one before it was lost on the way.
    fn in_order(&mut self, message: Message) -> Result<Received, Failure> {
        let info = message.info().map_err(|error| Failure::server(READ)(&error))?;
        let (number, sequence, pending) = (info.consumer_sequence, info.stream_sequence, info.pending);
        let time = i64::try_from(info.published.unix_timestamp_nanos() / 1_000_000).unwrap_or(i64::MAX);
        if number != self.delivered + 1 {
            return Err(Failure::server(READ)(&format!("message {} was lost on the way", self.delivered + 1)));
        }
        self.delivered = number;
        Ok(Received { message, sequence, time, pending })
    }
}

fn kind<'m>(subject: &'m str, body: &'m [u8], is_end: bool) -> Kind<'m> {
    match subject {
        names::LOST => Kind::Lost { body },
        names::TICK => Kind::Tick { body },
        subject => match subject.strip_prefix(names::PARTITION).and_then(|rest| rest.rsplit_once('.')) {
            Some((_, token)) if is_end => Kind::End { token },
            Some((_, token)) => Kind::Packet { token, body },
            None => Kind::Other,
        },
    }
}

fn is_end(headers: &async_nats::HeaderMap) -> bool {
    headers.get(names::END_HEADER).is_some()
}

/// How many messages are asked for at a time …
const MESSAGES: usize = 512;

/// … and how many bytes.
const BYTES: usize = 4 * 1024 * 1024;

/// After this time without a pull the server forgets a consumer.
const FORGOTTEN: Duration = Duration::from_secs(30);

/// How long an answer may take.
const SILENCE: Duration = Duration::from_secs(5);

const READ: &str = "read the stream of packets";

/// How the server describes a message that has more bytes than were asked for.
const TOO_LARGE: &str = "Exceeds MaxBytes";

/// How the server describes the end of an answer.
const COMPLETE: &str = "Batch Completed";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_subject_says_what_a_message_is() {
        let token = |kind: Kind<'_>| match kind {
            Kind::Packet { token, .. } => format!("packet of {token}"),
            Kind::End { token } => format!("end of {token}"),
            other => format!("{other:?}"),
        };
        assert_eq!(token(kind("omen.partition.7.corr_a", b"", false)), "packet of corr_a");
        assert_eq!(token(kind("omen.partition.7.corr_a", b"", true)), "end of corr_a");
        assert!(matches!(kind("omen.lost", b"x", false), Kind::Lost { body: b"x" }));
        assert!(matches!(kind("omen.tick", b"", true), Kind::Tick { .. }));
        assert!(matches!(kind("elsewhere", b"", false), Kind::Other));
    }
}
