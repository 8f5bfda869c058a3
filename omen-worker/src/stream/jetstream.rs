//! NATS JetStream as a [`Broker`].
//!
//! A stream is read by a consumer without a filter, so the server reads its files sequentially and searches for nothing.

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

use super::broker::{self, Batch, Broker, Reader, StoredMessage, StreamBounds};
use super::retry::retry;
use crate::failure::{During as _, Failure};

/// JetStream of an account.
#[derive(Clone, Debug)]
pub(crate) struct JetStream {
    context: Context,
    /// Prefix of the subjects to which keys of buckets are written, in a domain other than the server's.
    domain: String,
}

impl JetStream {
    /// Creates the broker of a connection, in a JetStream domain unless the name is empty.
    pub(crate) fn new(context: Context, domain: &str) -> Self {
        let domain = if domain.is_empty() { String::new() } else { format!("$JS.{domain}.API.") };
        Self { context, domain }
    }

    async fn stream(&self, name: &str) -> Result<Stream<()>, Failure> {
        self.context.get_stream_no_info(name).await.during(&reading(name))
    }
}

impl Broker for JetStream {
    type Reader = PullConsumer;

    async fn read(&self, stream: &str, after: u64) -> Result<PullConsumer, Failure> {
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
        // All responses arrive at one inbox, so messages of different requests stay in order.
        let answers = client.subscribe(inbox.clone()).await.during(&what)?.ready_chunks(MESSAGES);
        Ok(PullConsumer {
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
        let state = retry(|| handle.get_info()).await.during(&reading(stream))?.state;
        Ok(StreamBounds { first: state.first_sequence.max(1), last: state.last_sequence })
    }

    async fn message(&self, stream: &str, sequence: u64) -> Result<Option<StoredMessage>, Failure> {
        let handle = self.stream(stream).await?;
        found(retry(|| handle.get_raw_message(sequence)).await, stream)
    }

    async fn last(&self, stream: &str, subject: &str) -> Result<Option<StoredMessage>, Failure> {
        let handle = self.stream(stream).await?;
        found(retry(|| handle.get_last_raw_message_by_subject(subject)).await, stream)
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
        // A caller that needs to know whether the message is stored uses `store`.
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
) -> Result<Option<StoredMessage>, Failure> {
    match message {
        Ok(StreamMessage { subject, sequence, headers, payload, time }) => Ok(Some(StoredMessage {
            subject: subject.as_str().into(),
            headers,
            body: payload,
            sequence,
            time: milliseconds(time.unix_timestamp_nanos()),
        })),
        Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
        // A missing stream has no messages. A caller that reads on asks for its state, which fails.
        Err(error) if is_missing(&error.kind()) => Ok(None),
        Err(error) => Err(Failure::server(reading(stream))(&error)),
    }
}

fn is_missing(error: &LastRawMessageErrorKind) -> bool {
    matches!(error, LastRawMessageErrorKind::JetStream(error) if error.error_code() == ErrorCode::STREAM_NOT_FOUND)
}

/// Consumer that the server removes soon after its last request. It acknowledges nothing: the commit is the acknowledgement.
pub(crate) struct PullConsumer {
    /// Name of the operation, for errors.
    what: String,
    context: Context,
    consumer: Consumer<Config>,
    inbox: Subject,
    answers: ReadyChunks<Subscriber>,
    /// Number of messages that the server may still send.
    asked: usize,
    /// Whether the next message is larger than the byte limit of a request.
    is_large: bool,
    /// Number of the last message that the consumer delivered.
    delivered: u64,
    /// Time since the server's last message.
    silent: Duration,
}

impl Reader for PullConsumer {
    /// The server sends only what is requested, so messages that a worker cannot judge yet stay in the stream. The next request
    /// is sent while the previous messages are being judged.
    async fn some(&mut self) -> Result<Batch, Failure> {
        let mut some = Batch::default();
        loop {
            self.request_more().await?;
            let Ok(answers) = timeout(SLICE, self.answers.next()).await else {
                self.waited()?;
                continue;
            };
            self.silent = Duration::ZERO;
            let mut is_idle = false;
            for answer in answers.ok_or_else(|| Failure::server(&*self.what)(&"the connection was closed"))? {
                match answer.status {
                    None | Some(StatusCode::OK) => self.message(answer, &mut some)?,
                    // Sent while no message is available.
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
        // The server also deletes an unused consumer by itself.
        let _ = timeout(SLICE, self.context.delete_consumer_from_stream(name, stream)).await;
    }
}

impl PullConsumer {
    /// Requests more messages, so that the server always has an open request.
    async fn request_more(&mut self) -> Result<(), Failure> {
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

    /// Counts a wait without a message, and fails after a long silence.
    fn waited(&mut self) -> Result<(), Failure> {
        self.silent += SLICE;
        if self.silent >= 2 * SILENCE {
            return Err(Failure::server(&*self.what)(&"the server is not responding"));
        }
        if self.silent == SILENCE {
            // The server sends heartbeats while it has a request, so this one is lost.
            self.asked = 0;
        }
        Ok(())
    }

    /// Handles a request that has ended before all its messages were sent.
    fn ended(&mut self, status: StatusCode, answer: &async_nats::Message) -> Result<(), Failure> {
        let why = answer.description.as_deref().unwrap_or_default();
        let is_large = why.contains(TOO_LARGE);
        if !is_large && status != StatusCode::TIMEOUT && ![COMPLETE, MOVED].iter().any(|known| why.contains(known)) {
            return Err(Failure::server(&*self.what)(&format!("{status} {why}")));
        }
        let header = answer.headers.as_ref().and_then(|headers| headers.get(LEFT));
        let left = header.and_then(|left| left.as_str().parse().ok()).unwrap_or(MESSAGES);
        self.asked = self.asked.saturating_sub(left);
        // A message that did not fit the rest of a request may fit a new one.
        self.is_large = is_large && left == MESSAGES;
        Ok(())
    }

    /// Accepts a message, unless an earlier one was lost in transit.
    fn message(&mut self, message: async_nats::Message, some: &mut Batch) -> Result<(), Failure> {
        let message = jetstream::Message { message, context: self.context.clone() };
        let info = message.info().map_err(|error| Failure::server(&*self.what)(&error))?;
        if info.consumer_sequence != self.delivered + 1 {
            return Err(Failure::server(&*self.what)(&format!("message {} was lost in transit", self.delivered + 1)));
        }
        self.delivered = info.consumer_sequence;
        self.asked = self.asked.saturating_sub(1);
        self.is_large = false;
        some.pending = info.pending;
        some.messages.push(StoredMessage {
            subject: message.subject.as_str().into(),
            sequence: info.stream_sequence,
            time: milliseconds(info.published.unix_timestamp_nanos()),
            // The payload is part of a larger buffer, which a copy releases.
            body: Bytes::copy_from_slice(&message.payload),
            headers: message.message.headers.unwrap_or_default(),
        });
        Ok(())
    }
}

/// Converts a time of the server to milliseconds since 1970.
fn milliseconds(nanoseconds: i128) -> i64 {
    i64::try_from(nanoseconds / 1_000_000).unwrap_or(i64::MAX)
}

/// Maximum number of messages of a request.
const MESSAGES: usize = 1024;

/// Maximum size of these messages in bytes.
const BYTES: usize = 4 * 1024 * 1024;

/// Expiry of a request at the server.
const EXPIRES: Duration = Duration::from_secs(10);

/// Interval of the server's heartbeats for a request without messages.
const BEAT: Duration = Duration::from_secs(1);

/// Time without a request after which the server removes a consumer.
const FORGOTTEN: Duration = Duration::from_secs(30);

/// Maximum single wait, after which the silence is measured.
const SLICE: Duration = Duration::from_millis(500);

/// Silence after which a request is repeated, and after which the reader fails the second time: a multiple of [`SLICE`].
const SILENCE: Duration = Duration::from_secs(2);

/// Header with the number of messages of a request that were not sent.
const LEFT: &str = "Nats-Pending-Messages";

/// Status text for a message that exceeds the byte limit of a request.
const TOO_LARGE: &str = "Exceeds MaxBytes";

/// Status text for a request that ends because its byte limit is reached.
const COMPLETE: &str = "Batch Completed";

/// Status text for a consumer that has moved to another server of the cluster.
const MOVED: &str = "Leadership Change";
