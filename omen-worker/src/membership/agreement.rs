//! The rules by which all workers of a stream judge: those of the first worker.
//!
//! A worker with other rules would find something else in the same packets, so it is refused. `--rejudge` replaces the rules, and the
//! stream is judged again.

use std::time::Duration;

use bytes::Bytes;
use omen::validator::{Validator, ValidatorOptions};
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

use crate::failure::{During as _, Failure};
use crate::names;
use crate::stream::broker::Broker;
use crate::stream::bucket::Bucket;

/// What all workers must have.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Agreement {
    /// A hash of the rules: the schema, the levels of codes, the time and the depth.
    rules: String,
    /// Episodes without a message in so many seconds end.
    idle_seconds: Option<u64>,
}

impl Agreement {
    /// Returns the agreement of a worker with these options.
    pub(crate) fn of(options: &ValidatorOptions, idle_seconds: Option<u64>) -> Self {
        // Of a validator that has seen nothing, a snapshot has the rules alone.
        Self { rules: names::hash(Validator::new(options.clone()).snapshot()), idle_seconds }
    }

    /// Checks that the workers of a bucket judge in this manner. The first one fixes what all must have.
    ///
    /// # Errors
    /// [`Failure::Refused`] if the others judge in another manner.
    pub(crate) async fn join<B: Broker>(&self, bucket: &Bucket<B>) -> Result<(), Failure> {
        match bucket.get(KEY).await? {
            (Some(theirs), _) => self.compare(&theirs, bucket),
            (None, revision) => bucket.update(KEY, self.value()?, revision).await.map(drop),
        }
    }

    /// Does the same for a worker that starts: another one may be first, or the bucket was made a moment ago and not all servers of a
    /// cluster have it.
    ///
    /// # Errors
    /// As [`join`](Self::join).
    pub(crate) async fn join_at_last<B: Broker>(&self, bucket: &Bucket<B>) -> Result<(), Failure> {
        for _ in 1..ATTEMPTS {
            match self.join(bucket).await {
                Err(Failure::Server { .. } | Failure::Fenced(_)) => sleep(PAUSE).await,
                joined => return joined,
            }
        }
        self.join(bucket).await
    }

    /// Replaces the rules for all workers. Checkpoints with another hash are ignored from then on. The caller renews the commits
    /// afterwards, so that workers with other rules cannot commit.
    ///
    /// # Errors
    /// [`Failure::Server`] if the server fails. It can be repeated.
    pub(crate) async fn replace<B: Broker>(&self, bucket: &Bucket<B>) -> Result<(), Failure> {
        match self.join_at_last(bucket).await {
            Err(Failure::Refused(_)) => bucket.put(KEY, self.value()?).await,
            joined => joined,
        }
    }

    /// Returns a hash, which checkpoints and commits contain: a worker goes on only from a checkpoint with its own.
    pub(crate) fn hash(&self) -> String {
        names::hash(self.value().unwrap_or_default())
    }

    fn value(&self) -> Result<Bytes, Failure> {
        serde_json::to_vec(self).during(WRITE).map(Bytes::from)
    }

    fn compare<B: Broker>(&self, theirs: &[u8], bucket: &Bucket<B>) -> Result<(), Failure> {
        let theirs = serde_json::from_slice::<Self>(theirs).ok();
        let difference = match &theirs {
            Some(theirs) if theirs == self => return Ok(()),
            Some(theirs) if theirs.rules == self.rules => {
                let time = |seconds: Option<u64>| {
                    seconds.map_or("no `--episode-ttl`".to_owned(), |seconds| format!("`--episode-ttl {seconds}s`"))
                };
                format!("have {}, and this one has {}", time(theirs.idle_seconds), time(self.idle_seconds))
            }
            Some(_) => "have other rules: another schema or other levels of codes".to_owned(),
            None => {
                format!("have rules that this version cannot read in the key `{KEY}` of the bucket `{}`", bucket.name)
            }
        };
        Err(Failure::Refused(format!(
            "the workers of this stream {difference}; start all with the same options, or this one with `--rejudge` to judge the \
             packets that are in the stream again: what was published is not published again"
        )))
    }
}

const WRITE: &str = "write how the workers judge";

/// Its key in the bucket.
const KEY: &str = "options";

/// How often a worker tries to join, and how long it waits in between.
const ATTEMPTS: usize = 20;
const PAUSE: Duration = Duration::from_millis(250);
