//! Interface between a worker and a server: [`JetStream`](super::JetStream) implements it for NATS, tests in memory.

use std::future::Future;

use async_nats::HeaderMap;
use bytes::Bytes;
pub(crate) use omen::log::batch::Outgoing;

use crate::failure::Failure;

/// A server with streams.
pub(crate) trait Broker: Clone + Send + Sync + 'static {
    /// Reader of a stream.
    type Reader: Reader;

    /// Opens a reader at the message after this number.
    fn read(&self, stream: &str, after: u64) -> impl Future<Output = Result<Self::Reader, Failure>> + Send;

    /// Returns the numbers of the first and the last message of a stream. For an empty stream, the first is the number of the
    /// next message.
    fn state(&self, stream: &str) -> impl Future<Output = Result<StreamBounds, Failure>> + Send;

    fn message(
        &self,
        stream: &str,
        sequence: u64,
    ) -> impl Future<Output = Result<Option<StoredMessage>, Failure>> + Send;

    /// Returns the last message whose subject matches.
    fn last(&self, stream: &str, subject: &str) -> impl Future<Output = Result<Option<StoredMessage>, Failure>> + Send;

    /// Returns the subjects of a stream that match and have messages.
    fn subjects(&self, stream: &str, filter: &str) -> impl Future<Output = Result<Vec<String>, Failure>> + Send;

    /// Removes the messages of a subject.
    fn remove(&self, stream: &str, subject: &str) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Stores messages of one stream atomically, and returns the number of the last one. `what` names the operation in errors.
    ///
    /// # Errors
    /// [`Failure::Fenced`] if the expectation of a message is not met. After any other failure, the messages may or may not be
    /// stored.
    fn store(&self, messages: Vec<Outgoing>, what: &str) -> impl Future<Output = Result<u64, Failure>> + Send;

    /// Sends a message without waiting until it is stored.
    fn send(&self, message: Outgoing) -> impl Future<Output = ()> + Send;

    /// Returns the subject to which a key of a bucket is written. It is read from the stream at the subject that [`key`] returns.
    fn written_key(&self, bucket: &str, key: &str) -> String {
        self::key(bucket, key)
    }

    /// Returns whether there is a connection.
    fn is_connected(&self) -> bool;

    /// Returns a globally unique string of letters and digits.
    fn unique(&self) -> String;

    /// Returns the maximum size of a message with its headers, in bytes.
    fn max_payload(&self) -> usize;
}

/// Ordered reader of a stream. The server removes it soon after its last use.
pub(crate) trait Reader: Send {
    /// Returns the available messages, or waits about a second for some. It is cancel-safe.
    fn some(&mut self) -> impl Future<Output = Result<Batch, Failure>> + Send;

    /// Deletes the reader on the server at once.
    fn close(self) -> impl Future<Output = ()> + Send;
}

/// Messages in order, and the number of messages in the stream after them.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) messages: Vec<StoredMessage>,
    pub(crate) pending: u64,
}

/// Numbers of the first and the last message of a stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamBounds {
    pub(crate) first: u64,
    pub(crate) last: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct StoredMessage {
    pub(crate) subject: Box<str>,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// Number of the message in the stream.
    pub(crate) sequence: u64,
    /// Time at which the server stored it, in milliseconds since 1970.
    pub(crate) time: i64,
}

/// Returns the message with a condition: it is stored only if the last message of its subject has the number `last`, where 0
/// means that there is none.
pub(crate) fn after(mut message: Outgoing, last: u64) -> Outgoing {
    message.headers.insert(async_nats::header::NATS_EXPECTED_LAST_SUBJECT_SEQUENCE, last.to_string());
    message
}

/// Returns the subject of a key in the stream of its bucket.
pub(crate) fn key(bucket: &str, key: &str) -> String {
    format!("$KV.{bucket}.{key}")
}
