//! Lease of a worker: its entry among the live workers.
//!
//! Every worker writes its name into a bucket whose entries expire by the clock of the server, so workers' clocks do not matter.

use std::collections::BTreeSet;
use std::time::Duration;

use bytes::Bytes;

use crate::failure::Failure;
use crate::stream::broker::Broker;
use crate::stream::bucket::Bucket;

/// Interval at which a worker renews its lease, which otherwise expires after [`LEASE`](crate::setup::LEASE).
pub(crate) const BEAT: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) struct WorkerLease<B> {
    bucket: Bucket<B>,
    id: String,
}

impl<B: Broker> WorkerLease<B> {
    pub(crate) fn new(bucket: Bucket<B>, id: &str) -> Self {
        Self { bucket, id: id.to_owned() }
    }

    /// Renews the lease, and returns the names of all live workers.
    pub(crate) async fn renew(&self) -> Result<BTreeSet<String>, Failure> {
        self.bucket.put(&self.id, Bytes::from_static(b"1")).await?;
        let mut members: BTreeSet<String> = self.bucket.keys(">").await?.into_iter().collect();
        members.insert(self.id.clone());
        Ok(members)
    }

    /// Ends the lease, so that the others need not wait until it expires.
    pub(crate) async fn end(&self) -> Result<(), Failure> {
        self.bucket.remove(&self.id).await
    }
}
