//! NATS JetStream as a [`Broker`].
//!
//! A stream is read by a consumer without a filter: the server reads its files from one end to the other then, and searches for nothing.

use std::time::Duration;

use async_nats::connection::State as Connection;
use async_nats::jetstream::consumer::pull::{BatchConfig, Config};
use async_nats::jetstream::consumer::{AckPolicy, Consumer, DeliverPolicy};
use async_nats::jetstream::message::StreamMessage;
use async_nats::jetstream::stream::{LastRawMessageErrorKind, Stream};
use async_nats::jetstream::{self, Context, ErrorCode};
use async_nats::{StatusCode, Subject, Subscriber};
use bytes::Bytes;
use futures_util::stream::ReadyChunks;
use futures_util::{StreamExt as _, TryStreamExt as _};
use omen::log::batch::{self, NotStored, Outgoing};
use tokio::time::timeout;

use super::ask::ask;
use super::broker::{self, Batch, Broker, Reader, Stored, StreamBounds};
use crate::failure::{During as _, Failure};

/// JetStream of an account.
#[derive(Clone, Debug)]
pub(crate) struct JetStream {
    context: Context,
    /// How a subject begins at which a domain other than that of the server takes keys of buckets.
    domain: String,
}

impl JetStream {
    /// Takes the JetStream of a connection, in a domain if it has a name.
    pub(crate) fn new(context: Context, domain: &str) -> Self {
        let domain = if domain.is_empty() { String::new() } else { format!("$JS.{domain}.API.") };
        Self { context, domain }
    }

    async fn stream(&self, name: &str) -> Result<Stream<()>, Failure> {
        self.context.get_stream_no_info(name).await.during(&reading(name))
    }
}

impl Broker for JetStream {
    type Reader = Source;

    async fn read(&self, stream: &str, after: u64) -> Result<Source, Failure> {
        let what = reading(stream);
        let client = self.context.client();
        let config = Config {
            deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: after + 1 },
            ack_policy: AckPolicy::None,
            inactive_threshold: FORGOTTEN,
            memory_storage: true,
            num_replicas: 1,
            ..Config::default()
        };
        let consumer = self.stream(stream).await?.create_consumer(config).await.during(&what)?;
        let inbox = Subject::from(client.new_inbox());
        // All answers come to one place, so messages of different requests keep their order.
        let answers = client.subscribe(inbox.clone()).await.during(&what)?.ready_chunks(MESSAGES);
        Ok(Source {
            what,
            context: self.context.clone(),
            consumer,
            inbox,
            answers,
            asked: 0,
            is_large: false,
            delivered: 0,
            silent: Duration::ZERO,
        })
    }

    async fn state(&self, stream: &str) -> Result<StreamBounds, Failure> {
        let handle = self.stream(stream).await?;
        let state = ask(|| handle.get_info()).await.during(&reading(stream))?.state;
        Ok(StreamBounds { first: state.first_sequence.max(1), last: state.last_sequence })
    }

    async fn message(&self, stream: &str, sequence: u64) -> Result<Option<Stored>, Failure> {
        let handle = self.stream(stream).await?;
        found(ask(|| handle.get_raw_message(sequence)).await, stream)
    }

    async fn last(&self, stream: &str, subject: &str) -> Result<Option<Stored>, Failure> {
        let handle = self.stream(stream).await?;
        found(ask(|| handle.get_last_raw_message_by_subject(subject)).await, stream)
    }

    async fn subjects(&self, stream: &str, filter: &str) -> Result<Vec<String>, Failure> {
        let handle = self.stream(stream).await?;
        let subjects = handle.info_with_subjects(filter).await.during(&reading(stream))?;
        subjects.map_ok(|(subject, _)| subject).try_collect().await.during(&reading(stream))
    }

    async fn remove(&self, stream: &str, subject: &str) -> Result<(), Failure> {
        let purged = self.stream(stream).await?.purge().filter(subject).await;
        purged.during(&format!("remove `{subject}`")).map(drop)
    }

    async fn store(&self, messages: Vec<Outgoing>, what: &str) -> Result<u64, Failure> {
        batch::store(&self.context, messages).await.map_err(|error| match error {
            NotStored::Unexpected => Failure::Fenced(what.to_owned()),
            NotStored::Failed(why) => Failure::server(format!("publish {what}"))(&why),
        })
    }

    async fn send(&self, message: Outgoing) {
        // Who needs to know whether it is stored waits for an answer.
        let _ = self.context.client().publish_with_headers(message.subject, message.headers, message.body).await;
    }

    fn written_key(&self, bucket: &str, key: &str) -> String {
        self.domain.clone() + &broker::key(bucket, key)
    }

    fn is_connected(&self) -> bool {
        self.context.client().connection_state() == Connection::Connected
    }

    fn unique(&self) -> String {
        self.context.client().new_inbox().rsplit('.').next().unwrap_or_default().to_owned()
    }

    fn max_payload(&self) -> usize {
        self.context.client().server_info().max_payload
    }
}

fn reading(stream: &str) -> String {
    format!("read the stream `{stream}`")
}

fn found(
    message: Result<StreamMessage, async_nats::jetstream::stream::LastRawMessageError>,
    stream: &str,
) -> Result<Option<Stored>, Failure> {
    match message {
        Ok(StreamMessage { subject, sequence, headers, payload, time }) => Ok(Some(Stored {
            subject: subject.as_str().into(),
            headers,
            body: payload,
            sequence,
            time: milliseconds(time.unix_timestamp_nanos()),
        })),
        Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
        // A stream that does not exist has none. Who reads on asks for its state, which fails.
        Err(error) if is_missing(&error.kind()) => Ok(None),
        Err(error) => Err(Failure::server(reading(stream))(&error)),
    }
}

fn is_missing(error: &LastRawMessageErrorKind) -> bool {
    matches!(error, LastRawMessageErrorKind::JetStream(error) if error.error_code() == ErrorCode::STREAM_NOT_FOUND)
}

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

impl Reader for Source {
    /// The server sends what is asked for and no more, so what a worker cannot judge yet stays in the stream; more is asked for while
    /// the messages before are judged.
    async fn some(&mut self) -> Result<Batch, Failure> {
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

    async fn close(self) {
        let name = &self.consumer.cached_info().name;
        let stream = &self.consumer.cached_info().stream_name;
        // The server deletes an unused consumer by itself.
        let _ = timeout(SLICE, self.context.delete_consumer_from_stream(name, stream)).await;
    }
}

impl Source {
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
        let message = jetstream::Message { message, context: self.context.clone() };
        let info = message.info().map_err(|error| Failure::server(&*self.what)(&error))?;
        if info.consumer_sequence != self.delivered + 1 {
            return Err(Failure::server(&*self.what)(&format!("message {} was lost on the way", self.delivered + 1)));
        }
        self.delivered = info.consumer_sequence;
        self.asked = self.asked.saturating_sub(1);
        self.is_large = false;
        some.pending = info.pending;
        some.messages.push(Stored {
            subject: message.subject.as_str().into(),
            sequence: info.stream_sequence,
            time: milliseconds(info.published.unix_timestamp_nanos()),
            // Its bytes are part of a larger buffer, which a copy does not keep.
            body: Bytes::copy_from_slice(&message.payload),
            headers: message.message.headers.unwrap_or_default(),
        });
        Ok(())
    }
}

/// A time of the server, in milliseconds since 1970.
fn milliseconds(nanoseconds: i128) -> i64 {
    i64::try_from(nanoseconds / 1_000_000).unwrap_or(i64::MAX)
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
