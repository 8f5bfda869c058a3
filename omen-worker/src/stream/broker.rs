//! What a worker asks of a server. [`JetStream`](super::JetStream) is the one of NATS, and tests have one in memory.

use std::future::Future;

use async_nats::HeaderMap;
use bytes::Bytes;
pub(crate) use omen::log::batch::Outgoing;

use crate::failure::Failure;

/// A server with streams.
pub(crate) trait Broker: Clone + Send + Sync + 'static {
    /// What reads a stream in its order.
    type Reader: Reader;

    /// Reads a stream from the message after this number.
    fn read(&self, stream: &str, after: u64) -> impl Future<Output = Result<Self::Reader, Failure>> + Send;

    /// Returns the numbers of the first and the last message of a stream. If it has none, the first is the one that comes next.
    fn state(&self, stream: &str) -> impl Future<Output = Result<StreamBounds, Failure>> + Send;

    /// Returns the message with this number.
    fn message(&self, stream: &str, sequence: u64) -> impl Future<Output = Result<Option<Stored>, Failure>> + Send;

    /// Returns the last message whose subject matches.
    fn last(&self, stream: &str, subject: &str) -> impl Future<Output = Result<Option<Stored>, Failure>> + Send;

    /// Returns the subjects of a stream that match and have messages.
    fn subjects(&self, stream: &str, filter: &str) -> impl Future<Output = Result<Vec<String>, Failure>> + Send;

    /// Removes the messages of a subject.
    fn remove(&self, stream: &str, subject: &str) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Stores messages of one stream together, and returns the number of the last one. `what` is for the error.
    ///
    /// # Errors
    /// [`Failure::Fenced`] if an expectation of one of them does not hold. Another failure leaves open whether they were stored.
    fn store(&self, messages: Vec<Outgoing>, what: &str) -> impl Future<Output = Result<u64, Failure>> + Send;

    /// Sends a message, and does not wait until it is stored.
    fn send(&self, message: Outgoing) -> impl Future<Output = ()> + Send;

    /// The subject by which a key of a bucket is written; it is read from the stream by [`key`].
    fn written_key(&self, bucket: &str, key: &str) -> String {
        self::key(bucket, key)
    }

    /// Whether there is a connection.
    fn is_connected(&self) -> bool;

    /// Letters and digits that were never returned before, by anyone.
    fn unique(&self) -> String;

    /// The most bytes of a message with its headers.
    fn max_payload(&self) -> usize;
}

/// What reads a stream in its order. The server forgets it soon after it is not used any more.
pub(crate) trait Reader: Send {
    /// Returns the messages that are there, or that come within a second or so. It loses nothing if it is dropped.
    fn some(&mut self) -> impl Future<Output = Result<Batch, Failure>> + Send;

    /// Deletes the reader on the server at once.
    fn close(self) -> impl Future<Output = ()> + Send;
}

/// Some messages in order, and how many are in the stream behind them.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) messages: Vec<Stored>,
    pub(crate) pending: u64,
}

/// The numbers of the first and the last message of a stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamBounds {
    pub(crate) first: u64,
    pub(crate) last: u64,
}

/// A message of a stream.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub(crate) subject: Box<str>,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// Its number in the stream.
    pub(crate) sequence: u64,
    /// When the server stored it, in milliseconds since 1970.
    pub(crate) time: i64,
}

/// A message that is stored if the last one of its subject has this number; 0 if there must be none.
pub(crate) fn after(mut message: Outgoing, last: u64) -> Outgoing {
    message.headers.insert(async_nats::header::NATS_EXPECTED_LAST_SUBJECT_SEQUENCE, last.to_string());
    message
}

/// The subject of a key in the stream of its bucket.
pub(crate) fn key(bucket: &str, key: &str) -> String {
    format!("$KV.{bucket}.{key}")
}
