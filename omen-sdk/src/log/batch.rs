//! Messages that are stored together, or not at all.

use async_nats::jetstream::Context;
use async_nats::{HeaderMap, header};
use bytes::Bytes;
use serde::Deserialize;

/// A message to be stored.
#[derive(Clone, Debug)]
pub struct Outgoing {
    /// Where.
    pub subject: String,
    /// What the server is to expect, and what readers see.
    pub headers: HeaderMap,
    /// The content.
    pub body: Bytes,
}

/// Why messages are not stored.
#[derive(Debug, PartialEq, Eq)]
pub enum NotStored {
    /// Something was stored that they did not expect, or one of them was stored before.
    Unexpected,
    /// The server failed. They may be stored, all of them.
    Failed(String),
}

/// What a server answers to the last message of a batch.
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

/// Stores messages together, and returns the sequence of the last one. A server takes at most 1,000.
///
/// # Errors
/// If they are not stored, or it is not known whether they are.
pub async fn store(context: &Context, messages: Vec<Outgoing>) -> Result<u64, NotStored> {
    let client = context.client();
    let count = messages.len();
    // Any id that no other batch has.
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

/// The codes of the server for: wrong last sequence (two forms), and a batch with a message id that it has seen.
const UNEXPECTED: &[u64] = &[10071, 10164, 10201];
