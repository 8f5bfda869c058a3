//! Batches of messages that are stored atomically.

use async_nats::jetstream::Context;
use async_nats::{HeaderMap, header};
use bytes::Bytes;
use serde::Deserialize;

/// Message to store.
#[derive(Clone, Debug)]
pub struct Outgoing {
    /// Subject of the message.
    pub subject: String,
    /// Headers, including the server's expectations.
    pub headers: HeaderMap,
    /// Content.
    pub body: Bytes,
}

/// Reason why messages were not stored.
#[derive(Debug, PartialEq, Eq)]
pub enum NotStored {
    /// An expectation of a message was not met, or a message was already stored.
    Unexpected,
    /// The server failed. The whole batch may have been stored.
    Failed(String),
}

/// Server's response to the last message of a batch.
#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    seq: u64,
    #[serde(default)]
    duplicate: bool,
    error: Option<Refusal>,
}

#[derive(Deserialize)]
struct Refusal {
    err_code: u64,
    description: String,
}

/// Stores messages atomically, and returns the sequence number of the last one. A server accepts at most 1,000.
///
/// # Errors
/// If the messages were not stored, or the outcome is unknown.
pub async fn store(context: &Context, messages: Vec<Outgoing>) -> Result<u64, NotStored> {
    let client = context.client();
    let count = messages.len();
    // Only has to be unique.
    let id = client.new_inbox();
    let failed = |why: &dyn std::fmt::Display| NotStored::Failed(why.to_string());
    for (message, number) in messages.into_iter().zip(1..) {
        let Outgoing { subject, mut headers, body } = message;
        if count > 1 {
            headers.insert(header::NATS_BATCH_ID, id.as_str());
            headers.insert(header::NATS_BATCH_SEQUENCE, number.to_string());
        }
        if number < count {
            client.publish_with_headers(subject, headers, body).await.map_err(|error| failed(&error))?;
            continue;
        }
        if count > 1 {
            headers.insert(header::NATS_BATCH_COMMIT, header::NATS_BATCH_COMMIT_FINAL);
        }
        let answer = client.request_with_headers(subject, headers, body).await.map_err(|error| failed(&error))?;
        let answer: Answer = serde_json::from_slice(&answer.payload).map_err(|error| failed(&error))?;
        return match answer.error {
            None if answer.duplicate => Err(NotStored::Unexpected),
            None => Ok(answer.seq),
            Some(refusal) if UNEXPECTED.contains(&refusal.err_code) => Err(NotStored::Unexpected),
            Some(refusal) => Err(failed(&refusal.description)),
        };
    }
    Err(failed(&"nothing to publish"))
}

/// Error codes of the server: wrong last sequence (two variants), and a batch with a message id that was already used.
const UNEXPECTED: &[u64] = &[10071, 10164, 10201];
