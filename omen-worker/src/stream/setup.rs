//! Creation of streams and buckets, and checks of existing ones.

use std::collections::HashMap;
use std::time::Duration;

use async_nats::Client;
use async_nats::jetstream::context::{GetStreamError, GetStreamErrorKind};
use async_nats::jetstream::kv;
use async_nats::jetstream::stream::{Config, RetentionPolicy, StorageType};
use async_nats::jetstream::{Context, ErrorCode};

use super::names::{self, Names};
use super::retry::retry;
use crate::failure::{During as _, Failure};

/// Streams that the server must have.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Names of the streams and buckets.
    pub names: Names,
    /// Number of partitions, each with a stream of packets. It cannot change while episodes are open. `None` means the number of
    /// existing streams, or [`DEFAULT_PARTITIONS`].
    pub partitions: Option<u16>,
    /// Number of servers that keep a copy of each stream, if the streams are created here.
    pub replicas: usize,
}

/// Default number of partitions. One worker at a time judges a partition, and it judges several times as many packets per second
/// as a stream stores.
pub const DEFAULT_PARTITIONS: u16 = 4;

/// Time after which the lease of a worker that has not renewed it expires.
pub(crate) const LEASE: Duration = Duration::from_secs(5);

impl Setup {
    /// Creates or checks the streams of packets, and returns the number of partitions.
    ///
    /// # Errors
    /// [`Failure::Refused`] if the number of existing streams differs, or one of them loses packets.
    pub async fn packets(&self, context: &Context) -> Result<u16, Failure> {
        // The first stream records the number, even if two processes create the streams at the same time.
        let first = self.stream_of(context, 0, self.partitions.unwrap_or(DEFAULT_PARTITIONS)).await?;
        let found = first.metadata.get(names::PARTITIONS_KEY).and_then(|count| count.parse::<u16>().ok());
        let partitions = match (found, self.partitions) {
            (Some(found), Some(wanted)) if found != wanted => {
                return Err(Failure::Refused(format!(
                    "the stream `{}` is for {found} partitions; expected {wanted}: omit `--partitions` to use the \
                     number of partitions of the stream",
                    first.name
                )));
            }
            (Some(found), _) if found > 0 => found,
            _ => {
                return Err(Failure::Refused(format!(
                    "the stream `{}` does not state its number of partitions; set it: nats stream edit {} --metadata \
                     '{}={DEFAULT_PARTITIONS}'",
                    first.name,
                    first.name,
                    names::PARTITIONS_KEY
                )));
            }
        };
        for partition in 0..partitions {
            let config = match partition {
                0 => first.clone(),
                partition => self.stream_of(context, partition, partitions).await?,
            };
            keeps_packets(&config, &subjects(partition)).map_err(Failure::Refused)?;
        }
        Ok(partitions)
    }

    async fn stream_of(&self, context: &Context, partition: u16, partitions: u16) -> Result<Config, Failure> {
        let config = Config {
            name: self.names.packets(partition),
            description: Some(format!("OMEN packets, partition {partition} of {partitions}")),
            subjects: subjects(partition).to_vec(),
            metadata: HashMap::from([(names::PARTITIONS_KEY.to_owned(), partitions.to_string())]),
            storage: StorageType::File,
            num_replicas: self.replicas,
            allow_atomic_publish: true,
            allow_direct: true,
            ..Config::default()
        };
        stream(context, config).await
    }

    /// Creates or checks the stream of findings.
    ///
    /// # Errors
    /// [`Failure::Refused`] if an existing stream is unsuitable.
    pub async fn findings(&self, context: &Context) -> Result<(), Failure> {
        let config = Config {
            name: self.names.findings.clone(),
            description: Some("OMEN findings, by partition".to_owned()),
            subjects: vec![format!("{}.>", names::FINDINGS)],
            storage: StorageType::File,
            num_replicas: self.replicas,
            allow_direct: true,
            ..Config::default()
        };
        let (name, expected) = (config.name.clone(), config.subjects.clone());
        let found = stream(context, config).await?;
        if found.subjects != expected {
            return Err(Failure::Refused(format!(
                "the stream `{name}` stores `{}`; expected `{}`: it was created by an earlier version; delete it and \
                 its buckets when its findings are no longer needed",
                found.subjects.join("`, `"),
                expected.join("`, `")
            )));
        }
        Ok(())
    }

    pub(crate) async fn buckets(&self, context: &Context) -> Result<(), Failure> {
        let bucket = |bucket: &str, description: &str| kv::Config {
            bucket: bucket.to_owned(),
            description: description.to_owned(),
            history: 1,
            storage: StorageType::File,
            num_replicas: self.replicas,
            ..kv::Config::default()
        };
        let state = bucket(&self.names.state, "OMEN checkpoints");
        let workers = kv::Config { max_age: LEASE, ..bucket(&self.names.workers, "OMEN workers that are alive") };
        for config in [state, workers] {
            let name = config.bucket.clone();
            if retry(|| context.get_key_value(&name)).await.is_ok() {
                continue;
            }
            // Creation fails if another process creates the bucket at the same time.
            if let Err(error) = context.create_key_value(config).await
                && context.get_key_value(&name).await.is_err()
            {
                return Err(Failure::server(format!("make the bucket `{name}`"))(&error));
            }
        }
        Ok(())
    }
}

fn subjects(partition: u16) -> [String; 2] {
    [format!("{}.{partition}.*", names::PACKETS), format!("{}.{partition}.>", names::MARKS)]
}

/// Returns the configuration of a stream, which is created if it is missing.
async fn stream(context: &Context, config: Config) -> Result<Config, Failure> {
    let name = config.name.clone();
    let found = match retry(|| context.get_stream(&name)).await {
        Ok(stream) => stream,
        Err(error) if is_missing(&error) => {
            let made = context.create_stream(&config).await;
            // Another process may have created it meanwhile.
            let Ok(stream) = context.get_stream(&name).await else {
                let why = made.err().map_or_else(|| "it is not there".to_owned(), |error| error.to_string());
                return Err(Failure::server(format!("make the stream `{name}`"))(&why));
            };
            stream
        }
        Err(error) => return Err(error).during(&format!("read the stream `{name}`")),
    };
    let found = found.cached_info().config.clone();
    if config.allow_atomic_publish && !found.allow_atomic_publish {
        return Err(Failure::Refused(format!(
            "the stream `{name}` does not allow atomic batches; allow them: nats stream edit {name} --allow-batch"
        )));
    }
    Ok(found)
}

/// Checks that a stream stores all packets, and keeps them after they are read. Otherwise findings would be wrong: to a worker, a
/// missing packet was never sent.
fn keeps_packets(config: &Config, subjects: &[String]) -> Result<(), String> {
    let name = &config.name;
    let missing: Vec<_> = subjects
        .iter()
        .filter(|subject| !config.subjects.iter().any(|found| covers(found, subject)))
        .cloned()
        .collect();
    if !missing.is_empty() {
        let all = [&config.subjects[..], &missing].concat().join(",");
        return Err(format!(
            "the stream `{name}` does not store `{}`; add what is missing: nats stream edit {name} --subjects '{all}'",
            missing.join("`, `")
        ));
    }
    if config.subject_transform.is_some() {
        return Err(format!(
            "the stream `{name}` stores packets under subjects other than those they were published to; create it \
             without `subject_transform`"
        ));
    }
    if config.retention != RetentionPolicy::Limits {
        return Err(format!(
            "the stream `{name}` removes packets once they have been read; expected the retention `limits`, which \
             must be set when a stream is created: delete it when its packets are no longer needed"
        ));
    }
    if config.max_messages_per_subject > 0 {
        let most = config.max_messages_per_subject;
        return Err(format!(
            "the stream `{name}` keeps the last {most} packets of an episode and removes the others; remove the limit: nats \
             stream edit {name} --max-msgs-per-subject=-1"
        ));
    }
    Ok(())
}

/// Returns whether a subject with wildcards matches every subject that another one matches.
fn covers(wide: &str, narrow: &str) -> bool {
    let mut narrow = narrow.split('.');
    for part in wide.split('.') {
        match (part, narrow.next()) {
            (">", Some(_)) => return true,
            ("*", Some(found)) if found != ">" => {}
            (part, Some(found)) if part == found => {}
            _ => return false,
        }
    }
    narrow.next().is_none()
}

fn is_missing(error: &GetStreamError) -> bool {
    matches!(error.kind(), GetStreamErrorKind::JetStream(error) if error.error_code() == ErrorCode::STREAM_NOT_FOUND)
}

/// Checks that the server supports the batches that OMEN needs.
pub(crate) fn check_version(client: &Client) -> Result<(), Failure> {
    // 2.12.0 supports an expectation only on the first message of a batch; `omen publish` has it on the last one.
    if client.is_server_compatible(2, 12, 1) {
        return Ok(());
    }
    let found = client.server_info().version;
    Err(Failure::Refused(format!(
        "nats-server {found} does not store batches as OMEN requires; expected nats-server 2.12.1 or later"
    )))
}

#[cfg(test)]
mod tests {
    use super::covers;

    #[test]
    fn a_subject_covers_what_it_has() {
        for wide in ["omen.packets.*", "omen.packets.>", "omen.>", "*.*.*", ">"] {
            assert!(covers(wide, "omen.packets.*"), "{wide}");
        }
        for other in ["omen.packets", "omen.packets.a", "omen.*", "omen.packets.*.*", "omen.marks"] {
            assert!(!covers(other, "omen.packets.*"), "{other}");
        }
        assert!(covers("omen.marks.0.>", "omen.marks.0.>") && !covers("omen.marks.1.>", "omen.marks.0.>"));
    }
}
