//! Messages that are stored together, or not at all.

use async_nats::HeaderMap;
use async_nats::jetstream::Context;
use bytes::Bytes;
use serde::Deserialize;

use crate::failure::Failure;

/// A message to be stored.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub(crate) subject: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// The most messages of a batch. The server takes 1,000.
pub(crate) const MOST: usize = 500;

/// The most bytes of a batch, unless one message has more.
pub(crate) const MOST_BYTES: usize = 2 * 1024 * 1024;

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

/// Stores messages together, and returns the sequence of the last one. `what` is for the error.
///
/// # Errors
/// [`Failure::Fenced`] if an expectation of one of them does not hold, or one was stored before. Another failure leaves open
/// whether they were stored.
pub(crate) async fn store(context: &Context, messages: Vec<Outgoing>, what: &str) -> Result<u64, Failure> {
    let client = context.client();
    let count = messages.len();
    // Any id that no other batch has.
    let id = client.new_inbox();
    let failed = |why: &dyn std::fmt::Display| Failure::server(format!("publish {what}"))(why);
    for (message, number) in messages.into_iter().zip(1..) {
        let Outgoing { subject, mut headers, body } = message;
        if count > 1 {
            headers.insert(async_nats::header::NATS_BATCH_ID, id.as_str());
            headers.insert(async_nats::header::NATS_BATCH_SEQUENCE, number.to_string());
        }
        if number < count {
            client.publish_with_headers(subject, headers, body).await.map_err(|error| failed(&error))?;
            continue;
        }
        if count > 1 {
            headers.insert(async_nats::header::NATS_BATCH_COMMIT, async_nats::header::NATS_BATCH_COMMIT_FINAL);
        }
        let answer = client.request_with_headers(subject, headers, body).await.map_err(|error| failed(&error))?;
        let answer: Answer = serde_json::from_slice(&answer.payload).map_err(|error| failed(&error))?;
        return match answer.error {
            None if answer.duplicate => Err(Failure::Fenced(what.to_owned())),
            None => Ok(answer.seq),
            Some(refusal) if FENCED.contains(&refusal.err_code) => Err(Failure::Fenced(what.to_owned())),
            Some(refusal) => Err(failed(&refusal.description)),
        };
    }
    Err(failed(&"nothing to publish"))
}

/// The codes of the server for: wrong last sequence (two forms), and a batch with a message id that it has seen.
const FENCED: &[u64] = &[10071, 10164, 10201];
