//! The last value of a key, whichever server of a cluster the client is connected to.

use async_nats::jetstream::kv::Store;
use async_nats::jetstream::stream::LastRawMessageErrorKind;
use bytes::Bytes;

use crate::ask::ask;
use crate::failure::Failure;

/// The value of a key and its revision, if there is one. `what` is for the error.
///
/// The server that leads the bucket answers. Any other one that has a copy may be behind: it gives an older value, which cannot be
/// replaced, or names what was removed.
pub(crate) async fn latest(bucket: &Store, key: &str, what: &str) -> Result<Option<(Bytes, u64)>, Failure> {
    let subject = format!("$KV.{}.{key}", bucket.name);
    match ask(|| bucket.stream.get_last_raw_message_by_subject(&subject)).await {
        // A key that was deleted has no bytes.
        Ok(last) => Ok(Some((last.payload, last.sequence)).filter(|(value, _)| !value.is_empty())),
        Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
        Err(error) => Err(Failure::server(what)(&error)),
    }
}
