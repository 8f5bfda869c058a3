//! Agreement of all workers of a stream on the rules: those of the first worker apply.
//!
//! A worker with other rules would report other findings for the same packets, so it is refused. `--rejudge` replaces the rules,
//! and the stream is judged again.

use std::time::Duration;

use bytes::Bytes;
use omen::validator::{Validator, ValidatorOptions};
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

use crate::failure::{During as _, Failure};
use crate::names;
use crate::stream::broker::Broker;
use crate::stream::bucket::Bucket;

/// Rules that all workers of a stream must share.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Agreement {
    /// Hash of the schema, the levels of codes, the fixed time and the nesting depth.
    rules: String,
    /// Seconds without a message after which an episode ends.
    idle_seconds: Option<u64>,
}

impl Agreement {
    /// Returns the agreement of a worker with these options.
    pub(crate) fn new(options: &ValidatorOptions, idle_seconds: Option<u64>) -> Self {
        // The snapshot of a new validator contains only its rules.
        Self { rules: names::hash(Validator::new(options.clone()).snapshot()), idle_seconds }
    }

    /// Checks that the workers of a bucket use these rules. The first worker records them for all.
    ///
    /// # Errors
    /// [`Failure::Refused`] if the others use different rules.
    pub(crate) async fn join<B: Broker>(&self, bucket: &Bucket<B>) -> Result<(), Failure> {
        match bucket.get(KEY).await? {
            (Some(theirs), _) => self.compare(&theirs, bucket),
            (None, revision) => bucket.update(KEY, self.value()?, revision).await.map(drop),
        }
    }

    /// Joins when a worker starts, and retries for a while: another worker may be recording its rules, or the bucket is so new
    /// that not all servers of a cluster have it.
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

    /// Replaces the rules of all workers. Checkpoints with another hash are ignored from then on. The caller renews the commits
    /// afterwards, so that workers with other rules cannot commit.
    ///
    /// # Errors
    /// [`Failure::Server`] if the server fails. The call can be repeated.
    pub(crate) async fn replace<B: Broker>(&self, bucket: &Bucket<B>) -> Result<(), Failure> {
        match self.join_at_last(bucket).await {
            Err(Failure::Refused(_)) => bucket.put(KEY, self.value()?).await,
            joined => joined,
        }
    }

    /// Returns the hash that checkpoints and commits contain. A worker resumes only from a checkpoint with the same hash.
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

/// Key of the agreement in the bucket.
const KEY: &str = "options";

/// Number of attempts of a worker to join, and the pause between them.
const ATTEMPTS: usize = 20;
const PAUSE: Duration = Duration::from_millis(250);
