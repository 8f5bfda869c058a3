//! The messages of a stream, in its order.
//!
//! The consumer has no filter: the server reads its files from one end to the other then, and searches for nothing. A filter by
//! partition makes it search among the subjects of all episodes, which takes far longer than to send a message.

use std::time::Duration;

use async_nats::jetstream::consumer::pull::{BatchConfig, Config};
use async_nats::jetstream::consumer::{AckPolicy, Consumer, DeliverPolicy};
use async_nats::jetstream::stream::Stream;
use async_nats::jetstream::{self, Context};
use async_nats::{StatusCode, Subject, Subscriber};
use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::ReadyChunks;
use tokio::time::timeout;

use crate::failure::{During as _, Failure};
use crate::judge::{Arrived, Kind};
use crate::names;

/// A consumer that the server forgets soon after nobody asks. It acknowledges nothing: the commit is the acknowledgement.
pub(crate) struct Source {
    /// What it does, for errors.
    what: String,
    context: Context,
    consumer: Consumer<Config>,
    inbox: Subject,
    answers: ReadyChunks<Subscriber>,
    /// How many messages the server may still send.
    asked: usize,
    /// Whether the next message has more bytes than a request has room for.
    is_large: bool,
    /// The number of the last message that the consumer delivered.
    delivered: u64,
    /// How long the server has said nothing.
    silent: Duration,
}

/// Some messages in order, and how many are in the stream behind them.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) messages: Vec<Received>,
    pub(crate) pending: u64,
}

impl Batch {
    /// Splits the messages where a number is missing, for a reader that has read up to `after`. A stream of packets stores every
    /// number, so a message that is missing was deleted.
    pub(crate) fn parts(self, after: u64) -> Vec<Self> {
        let (mut parts, mut last, mut left) = (Vec::new(), after, self.messages.len() as u64);
        let mut part = Self::default();
        for message in self.messages {
            if message.sequence > last + 1 && !part.messages.is_empty() {
                parts.push(std::mem::take(&mut part));
            }
            (last, left) = (message.sequence, left - 1);
            part.pending = self.pending + left;
            part.messages.push(message);
        }
        // One without a message says that there is none.
        part.pending = self.pending;
        parts.push(part);
        parts
    }

    /// Returns the first and the last number that are missing between `after` and the first message here.
    pub(crate) fn gap(&self, after: u64) -> Option<(u64, u64)> {
        let first = self.messages.first()?.sequence;
        (first > after + 1).then(|| (after + 1, first - 1))
    }
}

/// A message, and what the server says of it.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    subject: Box<str>,
    body: Bytes,
    is_end: bool,
    /// Its number in the stream.
    pub(crate) sequence: u64,
    /// When the server stored it, in milliseconds since 1970.
    time: i64,
}

impl Received {
    /// What it is.
    pub(crate) fn arrived(&self) -> Arrived<'_> {
        let Self { subject, body, is_end, sequence, time } = self;
        Arrived { sequence: *sequence, time: *time, kind: kind(subject, body, *is_end) }
    }

    /// Whether all partitions read it.
    pub(crate) fn is_for_all(&self) -> bool {
        matches!(&*self.subject, names::LOST | names::TICK)
    }

    /// The partition that judges it, if it is one's own.
    pub(crate) fn partition(&self) -> Option<u16> {
        self.subject.strip_prefix(names::PARTITION)?.strip_prefix('.')?.split('.').next()?.parse().ok()
    }

    /// Where it was published, or where the server mapped that to.
    pub(crate) fn subject(&self) -> &str {
        &self.subject
    }

    /// Its content.
    pub(crate) fn body(&self) -> &[u8] {
        &self.body
    }

    /// The bytes of its content.
    pub(crate) fn bytes(&self) -> usize {
        self.body.len()
    }

    /// How many bytes of memory it takes, about.
    pub(crate) fn memory(&self) -> usize {
        self.body.len() + self.subject.len() + size_of::<Self>()
    }

    #[cfg(test)]
    pub(crate) fn of(subject: &str, body: Vec<u8>, sequence: u64) -> Self {
        Self { subject: subject.into(), body: body.into(), is_end: false, sequence, time: 0 }
    }
}

impl Source {
    /// Reads on after a message of the stream.
    pub(crate) async fn after(context: &Context, stream: &Stream, sequence: u64) -> Result<Self, Failure> {
        let what = format!("read the stream `{}`", stream.cached_info().config.name);
        let client = context.client();
        let config = Config {
            deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: sequence + 1 },
            ack_policy: AckPolicy::None,
            inactive_threshold: FORGOTTEN,
            memory_storage: true,
            num_replicas: 1,
            ..Config::default()
        };
        let consumer = stream.create_consumer(config).await.during(&what)?;
        let inbox = Subject::from(client.new_inbox());
        // All answers come to one place, so messages of different requests keep their order.
        let answers = client.subscribe(inbox.clone()).await.during(&what)?.ready_chunks(MESSAGES);
        Ok(Self {
            what,
            context: context.clone(),
            consumer,
            inbox,
            answers,
            asked: 0,
            is_large: false,
            delivered: 0,
            silent: Duration::ZERO,
        })
    }

    /// The messages that are there, or come within a second or so. The server sends what is asked for and no more, so what a
    /// worker cannot judge yet stays in the stream; more is asked for while the messages before are judged.
    pub(crate) async fn some(&mut self) -> Result<Batch, Failure> {
        let mut some = Batch::default();
        loop {
            self.ask().await?;
            let Ok(answers) = timeout(SLICE, self.answers.next()).await else {
                self.waited()?;
                continue;
            };
            self.silent = Duration::ZERO;
            let mut is_idle = false;
            for answer in answers.ok_or_else(|| Failure::server(&*self.what)(&"the connection was closed"))? {
                match answer.status {
                    None | Some(StatusCode::OK) => self.message(answer, &mut some)?,
                    // Sent when no message was there for a while.
                    Some(StatusCode::IDLE_HEARTBEAT) => is_idle = true,
                    Some(status) => self.ended(status, &answer)?,
                }
            }
            if is_idle || !some.messages.is_empty() {
                return Ok(some);
            }
        }
    }

    /// Removes the consumer. Otherwise the server would keep it for a while.
    pub(crate) async fn close(self) {
        let name = &self.consumer.cached_info().name;
        let stream = &self.consumer.cached_info().stream_name;
        // It forgets it anyway.
        let _ = timeout(SLICE, self.context.delete_consumer_from_stream(name, stream)).await;
    }

    /// Asks for more, so that the server always knows what it may send.
    async fn ask(&mut self) -> Result<(), Failure> {
        if self.asked > MESSAGES / 2 {
            return Ok(());
        }
        let (batch, max_bytes) = match self.is_large && self.asked == 0 {
            true => (1, 0),
            false => (MESSAGES, BYTES),
        };
        let request =
            BatchConfig { batch, max_bytes, expires: Some(EXPIRES), idle_heartbeat: BEAT, ..BatchConfig::default() };
        self.consumer.request_batch(request, self.inbox.clone()).await.during(&self.what)?;
        self.asked += batch;
        Ok(())
    }

    /// To be called when nothing has come for a moment.
    fn waited(&mut self) -> Result<(), Failure> {
        self.silent += SLICE;
        if self.silent >= 2 * SILENCE {
            return Err(Failure::server(&*self.what)(&"the server does not answer"));
        }
        if self.silent == SILENCE {
            // It sends a sign as long as it has a request, so it has none.
            self.asked = 0;
        }
        Ok(())
    }

    /// A request has ended before all that it asked for was sent.
    fn ended(&mut self, status: StatusCode, answer: &async_nats::Message) -> Result<(), Failure> {
        let why = answer.description.as_deref().unwrap_or_default();
        let is_large = why.contains(TOO_LARGE);
        if !is_large && status != StatusCode::TIMEOUT && ![COMPLETE, MOVED].iter().any(|known| why.contains(known)) {
            return Err(Failure::server(&*self.what)(&format!("{status} {why}")));
        }
        let header = answer.headers.as_ref().and_then(|headers| headers.get(LEFT));
        let left = header.and_then(|left| left.as_str().parse().ok()).unwrap_or(MESSAGES);
        self.asked = self.asked.saturating_sub(left);
        // If it is too large for what was left of one request, another one has room for it.
        self.is_large = is_large && left == MESSAGES;
        Ok(())
    }

    /// Takes a message, unless one before it was lost on the way.
    fn message(&mut self, message: async_nats::Message, some: &mut Batch) -> Result<(), Failure> {
        let is_end = message.headers.as_ref().is_some_and(|headers| headers.get(names::END_HEADER).is_some());
        let message = jetstream::Message { message, context: self.context.clone() };
        let info = message.info().map_err(|error| Failure::server(&*self.what)(&error))?;
        if info.consumer_sequence != self.delivered + 1 {
            return Err(Failure::server(&*self.what)(&format!("message {} was lost on the way", self.delivered + 1)));
        }
        self.delivered = info.consumer_sequence;
        self.asked = self.asked.saturating_sub(1);
        self.is_large = false;
        some.pending = info.pending;
        some.messages.push(Received {
            subject: message.subject.as_str().into(),
            // Its bytes are part of a larger buffer, which a copy does not keep.
            body: Bytes::copy_from_slice(&message.payload),
            is_end,
            sequence: info.stream_sequence,
            time: milliseconds(info.published.unix_timestamp_nanos()),
        });
        Ok(())
    }
}

/// A time of the server, in milliseconds since 1970.
pub(crate) fn milliseconds(nanoseconds: i128) -> i64 {
    i64::try_from(nanoseconds / 1_000_000).unwrap_or(i64::MAX)
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

/// How many messages are asked for at a time …
const MESSAGES: usize = 1024;

/// … and how many bytes.
const BYTES: usize = 4 * 1024 * 1024;

/// How long a request stays at the server.
const EXPIRES: Duration = Duration::from_secs(10);

/// How often the server gives a sign that it has a request, while it has no message.
const BEAT: Duration = Duration::from_secs(1);

/// After this time without a request the server forgets a consumer.
const FORGOTTEN: Duration = Duration::from_secs(30);

/// How long to wait before the time without an answer is noted.
const SLICE: Duration = Duration::from_millis(500);

/// How long the server may be silent before it is asked again, and once more before the reader fails: a multiple of [`SLICE`].
const SILENCE: Duration = Duration::from_secs(2);

/// How many messages of a request were not sent.
const LEFT: &str = "Nats-Pending-Messages";

/// How the server describes a message that has more bytes than were asked for.
const TOO_LARGE: &str = "Exceeds MaxBytes";

/// How the server describes the end of a request that has room for more bytes.
const COMPLETE: &str = "Batch Completed";

/// How the server describes that another one of its cluster has the consumer now.
const MOVED: &str = "Leadership Change";

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

    #[test]
    fn numbers_that_are_missing_are_noticed() {
        let parts = |after, numbers: &[u64]| {
            let messages = numbers.iter().map(|number| Received::of("omen.lost", Vec::new(), *number)).collect();
            let parts = Batch { messages, pending: 3 }.parts(after);
            let numbers = |part: &Batch| part.messages.iter().map(|message| message.sequence).collect::<Vec<_>>();
            parts.iter().map(|part| (numbers(part), part.pending)).collect::<Vec<_>>()
        };
        assert_eq!(parts(4, &[]), [(vec![], 3)]);
        assert_eq!(parts(4, &[5, 6, 7]), [(vec![5, 6, 7], 3)]);
        assert_eq!(parts(4, &[6, 7]), [(vec![6, 7], 3)]);
        assert_eq!(parts(0, &[1, 4, 5, 9]), [(vec![1], 6), (vec![4, 5], 4), (vec![9], 3)]);
        let gap = |after| Batch { messages: vec![Received::of("omen.lost", Vec::new(), 9)], pending: 0 }.gap(after);
        assert_eq!([gap(5), gap(7), gap(8), gap(9)], [Some((6, 8)), Some((8, 8)), None, None]);
        assert_eq!(Batch::default().gap(5), None);
    }

    #[test]
    fn the_subject_names_the_partition() {
        let partition = |subject: &str| Received::of(subject, Vec::new(), 1).partition();
        assert_eq!(partition("omen.partition.63.corr_a"), Some(63));
        for subject in ["omen.lost", "omen.tick", "omen.partition.x.corr_a", "omen.partitions.1.corr_a", "elsewhere"] {
            assert_eq!(partition(subject), None, "{subject}");
            let is_for_all = Received::of(subject, Vec::new(), 1).is_for_all();
            assert_eq!(is_for_all, ["omen.lost", "omen.tick"].contains(&subject), "{subject}");
        }
    }
}
