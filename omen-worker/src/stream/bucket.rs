//! Key-value buckets: the value of a key is the last message of a subject in a stream.
//!
//! Reads go to the leader of the stream. Any other replica may lag behind: it would return an older value, which cannot be
//! replaced, or list keys that were removed.

use async_nats::HeaderMap;
use bytes::Bytes;

use super::broker::{self, Broker, Outgoing};
use crate::failure::Failure;

#[derive(Clone, Debug)]
pub(crate) struct Bucket<B> {
    broker: B,
    pub(crate) name: String,
}

impl<B: Broker> Bucket<B> {
    pub(crate) fn new(broker: B, name: &str) -> Self {
        Self { broker, name: name.to_owned() }
    }

    /// Returns the value of a key, if any, and the revision that [`update`](Self::update) expects.
    pub(crate) async fn get(&self, key: &str) -> Result<(Option<Bytes>, u64), Failure> {
        let last = self.broker.last(&self.stream(), &broker::key(&self.name, key)).await?;
        // A deleted key has an empty value.
        Ok(last.map_or((None, 0), |last| (Some(last.body).filter(|body| !body.is_empty()), last.sequence)))
    }

    pub(crate) async fn put(&self, key: &str, value: Bytes) -> Result<(), Failure> {
        self.broker.store(vec![self.message(key, value)], &self.what(key)).await.map(drop)
    }

    /// Writes a value, and returns its revision.
    ///
    /// # Errors
    /// [`Failure::Fenced`] if the current value does not have the revision `revision`.
    pub(crate) async fn update(&self, key: &str, value: Bytes, revision: u64) -> Result<u64, Failure> {
        self.broker.store(vec![broker::after(self.message(key, value), revision)], &self.what(key)).await
    }

    /// Returns the keys that match a filter, such as `value.>`.
    pub(crate) async fn keys(&self, filter: &str) -> Result<Vec<String>, Failure> {
        let prefix = broker::key(&self.name, "");
        let subjects = self.broker.subjects(&self.stream(), &format!("{prefix}{filter}")).await?;
        Ok(subjects.iter().filter_map(|subject| subject.strip_prefix(&prefix)).map(str::to_owned).collect())
    }

    /// Removes a key and its history.
    pub(crate) async fn remove(&self, key: &str) -> Result<(), Failure> {
        self.broker.remove(&self.stream(), &broker::key(&self.name, key)).await
    }

    fn stream(&self) -> String {
        format!("KV_{}", self.name)
    }

    fn what(&self, key: &str) -> String {
        format!("the key `{key}` of the bucket `{}`", self.name)
    }

    fn message(&self, key: &str, value: Bytes) -> Outgoing {
        Outgoing { subject: self.broker.written_key(&self.name, key), headers: HeaderMap::new(), body: value }
    }
}
