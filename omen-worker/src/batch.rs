//! Messages that are stored together, or not at all.

use async_nats::jetstream::Context;
use omen::log::batch::NotStored;
pub(crate) use omen::log::batch::Outgoing;

use crate::failure::Failure;

/// The most messages of a batch. The server takes 1,000.
pub(crate) const MOST: usize = 500;

/// The most bytes of a batch, unless one message has more.
pub(crate) const MOST_BYTES: usize = 2 * 1024 * 1024;

/// Stores messages together, and returns the sequence of the last one. `what` is for the error.
///
/// # Errors
/// [`Failure::Fenced`] if an expectation of one of them does not hold, or one was stored before. Another failure leaves open
/// whether they were stored.
pub(crate) async fn store(context: &Context, messages: Vec<Outgoing>, what: &str) -> Result<u64, Failure> {
    omen::log::batch::store(context, messages).await.map_err(|error| match error {
        NotStored::Unexpected => Failure::Fenced(what.to_owned()),
        NotStored::Failed(why) => Failure::server(format!("publish {what}"))(&why),
    })
}
