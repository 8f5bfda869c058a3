//! Which workers are alive, and which partitions each has.
//!
//! Every worker writes its name into a bucket whose entries expire by the clock of the server, so no clock of a worker matters. All
//! workers compute the same owner for each partition from the same list (rendezvous hashing). For a moment two may believe that
//! they have the same partition; then the commits of one are refused.

use std::collections::BTreeSet;
use std::time::Duration;

use async_nats::jetstream::kv::Store;
use bytes::Bytes;
use futures_util::TryStreamExt as _;

use crate::failure::{During as _, Failure};
use crate::names;

#[derive(Debug)]
pub(crate) struct Members {
    bucket: Store,
    id: String,
}

impl Members {
    pub(crate) fn new(bucket: Store, id: &str) -> Self {
        Self { bucket, id: id.to_owned() }
    }

    /// Says that this worker is alive, and returns those that are.
    pub(crate) async fn beat(&self) -> Result<BTreeSet<String>, Failure> {
        self.bucket.put(self.id.as_str(), Bytes::from_static(b"1")).await.during("write to the bucket of workers")?;
        let what = "read the bucket of workers";
        let prefix = format!("$KV.{}.", self.bucket.name);
        let subjects = self.bucket.stream.info_with_subjects(format!("{prefix}>")).await.during(what)?;
        let subjects: Vec<(String, usize)> = subjects.try_collect().await.during(what)?;
        let mut members: BTreeSet<String> =
            subjects.iter().filter_map(|(subject, _)| subject.strip_prefix(&prefix)).map(str::to_owned).collect();
        members.insert(self.id.clone());
        Ok(members)
    }

    /// Leaves, so that the others need not wait until the entry expires.
    pub(crate) async fn leave(&self) -> Result<(), Failure> {
        let subject = format!("$KV.{}.{}", self.bucket.name, self.id);
        self.bucket.stream.purge().filter(subject).await.during("leave the bucket of workers").map(drop)
    }
}

/// The partitions of a worker.
pub(crate) fn owned(id: &str, members: &BTreeSet<String>, partitions: u16) -> BTreeSet<u16> {
    let rank = |member: &str, partition: u16| names::hash(format!("{partition} {member}"));
    let owner = |partition: u16| members.iter().max_by_key(|member| rank(member, partition));
    (0..partitions).filter(|partition| owner(*partition).is_some_and(|owner| owner == id)).collect()
}

/// Within this time a worker says that it is alive …
pub(crate) const BEAT: Duration = Duration::from_secs(1);

/// … and after this time it is not.
pub(crate) const LEASE: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_partition_has_one_owner_and_few_move() {
        let members = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<BTreeSet<_>>();
        let (two, three) = (members(&["a", "b"]), members(&["a", "b", "c"]));
        let all = |set: &BTreeSet<String>| set.iter().flat_map(|id| owned(id, set, 64)).collect::<Vec<_>>();
        for set in [&two, &three] {
            let mut partitions = all(set);
            partitions.sort_unstable();
            assert_eq!(partitions, (0..64).collect::<Vec<_>>());
        }
        let (before, after) = (owned("a", &two, 64), owned("a", &three, 64));
        assert!(after.is_subset(&before), "what moves goes to the worker that joined");
        assert!((10..33).contains(&owned("c", &three, 64).len()));
    }
}
