//! Makes the streams and buckets, or checks those that are there.

use async_nats::Client;
use async_nats::jetstream::context::GetStreamErrorKind;
use async_nats::jetstream::kv;
use async_nats::jetstream::stream::{Config, RetentionPolicy, StorageType, Stream, SubjectTransform};
use async_nats::jetstream::{Context, ErrorCode};

use crate::ask::ask;
use crate::failure::{During as _, Failure};
use crate::members::LEASE;
use crate::names::{self, Names};

/// What the server must have.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Its names.
    pub names: Names,
    /// Into how many partitions the packets are mapped. It cannot be changed while episodes are open.
    pub partitions: u16,
    /// On how many servers each stream is kept, if it is made here.
    pub replicas: usize,
}

impl Setup {
    /// The stream of packets.
    ///
    /// # Errors
    /// [`Failure::Refused`] if there is one that maps packets in another manner, or the server is too old.
    pub async fn packets(&self, context: &Context) -> Result<Stream, Failure> {
        let transform = SubjectTransform {
            source: format!("{}.*", names::PACKETS),
            destination: format!("{}.{{{{partition({},1)}}}}.{{{{wildcard(1)}}}}", names::PARTITION, self.partitions),
        };
        let subjects = [transform.source.clone(), names::LOST.to_owned(), names::TICK.to_owned()];
        let config = Config {
            name: self.names.packets.clone(),
            description: Some("OMEN packets, by episode".to_owned()),
            subjects: subjects.to_vec(),
            storage: StorageType::File,
            num_replicas: self.replicas,
            subject_transform: Some(transform.clone()),
            allow_atomic_publish: true,
            allow_direct: true,
            ..Config::default()
        };
        let stream = self.stream(context, config).await?;
        let found = stream.cached_info().config.subject_transform.as_ref();
        if found.is_none_or(|found| found.source != transform.source || found.destination != transform.destination) {
            let found = found.map_or("no subject", |found| &found.destination);
            return Err(Failure::Refused(format!(
                "the stream `{}` maps packets to `{found}`; expected `{}`: use the number of partitions that it was made with",
                self.names.packets, transform.destination
            )));
        }
        keeps_packets(&stream.cached_info().config, &subjects).map_err(Failure::Refused)?;
        Ok(stream)
    }

    /// The stream of findings and commits.
    ///
    /// # Errors
    /// [`Failure::Refused`] if there is one that cannot be used.
    pub async fn findings(&self, context: &Context) -> Result<Stream, Failure> {
        let config = Config {
            name: self.names.findings.clone(),
            description: Some("OMEN findings, and up to where packets are judged".to_owned()),
            subjects: vec![format!("{}.>", names::FINDINGS), format!("{}.*", names::VERDICTS)],
            storage: StorageType::File,
            num_replicas: self.replicas,
            allow_atomic_publish: true,
            allow_rollup: true,
            allow_direct: true,
            ..Config::default()
        };
        let stream = self.stream(context, config).await?;
        if !stream.cached_info().config.allow_rollup {
            let name = &self.names.findings;
            return Err(Failure::Refused(format!(
                "the stream `{name}` does not allow rollup; allow it: nats stream edit {name} --allow-rollup"
            )));
        }
        Ok(stream)
    }

    /// The bucket of checkpoints.
    pub(crate) async fn bucket(&self, context: &Context) -> Result<kv::Store, Failure> {
        let config = kv::Config {
            bucket: self.names.bucket.clone(),
            description: "OMEN checkpoints".to_owned(),
            history: 1,
            storage: StorageType::File,
            num_replicas: self.replicas,
            ..kv::Config::default()
        };
        self.key_value(context, config).await
    }

    /// The bucket of workers.
    pub(crate) async fn members(&self, context: &Context) -> Result<kv::Store, Failure> {
        let config = kv::Config {
            bucket: self.names.members(),
            description: "OMEN workers that are alive".to_owned(),
            history: 1,
            max_age: LEASE,
            storage: StorageType::File,
            num_replicas: self.replicas,
            ..kv::Config::default()
        };
        self.key_value(context, config).await
    }

    async fn key_value(&self, context: &Context, config: kv::Config) -> Result<kv::Store, Failure> {
        let name = config.bucket.clone();
        match ask(|| context.get_key_value(&name)).await {
            Ok(store) => Ok(store),
            // Another process may make it at the same moment; then it is there.
            Err(_) => match context.create_key_value(config).await {
                Ok(store) => Ok(store),
                Err(error) => match context.get_key_value(&name).await {
                    Ok(store) => Ok(store),
                    Err(_) => Err(Failure::server(format!("make the bucket `{name}`"))(&error)),
                },
            },
        }
    }

    async fn stream(&self, context: &Context, config: Config) -> Result<Stream, Failure> {
        let name = config.name.clone();
        let stream = match ask(|| context.get_stream(&name)).await {
            Ok(stream) => stream,
            Err(error) if is_missing(&error) => {
                match context.create_stream(&config).await {
                    Ok(_) => {}
                    // Another process has made it meanwhile; what it is like is checked below.
                    Err(error) => {
                        if context.get_stream(&name).await.is_err() {
                            return Err(Failure::server(format!("make the stream `{name}`"))(&error));
                        }
                    }
                }
                context.get_stream(&name).await.during(&format!("read the stream `{name}`"))?
            }
            Err(error) => return Err(Failure::server(format!("read the stream `{name}`"))(&error)),
        };
        if !stream.cached_info().config.allow_atomic_publish {
            return Err(Failure::Refused(format!(
                "the stream `{name}` does not allow atomic batches; allow them: nats stream edit {name} --allow-batch"
            )));
        }
        Ok(stream)
    }
}

/// Checks that a stream stores all packets, and keeps them after they were read. Otherwise what the workers find is wrong: to them, a
/// packet that is missing was never sent.
fn keeps_packets(config: &Config, subjects: &[String]) -> Result<(), String> {
    let name = &config.name;
    let missing: Vec<_> = subjects
        .iter()
        .filter(|subject| !config.subjects.iter().any(|found| covers(found, subject)))
        .cloned()
        .collect();
    // A subject that the mapping does not know would store packets that nobody judges.
    if let Some(other) = config.subjects.iter().find(|found| found.starts_with(PREFIX) && !subjects.contains(found)) {
        return Err(format!(
            "the stream `{name}` stores `{other}`, which is not mapped to partitions; remove that subject"
        ));
    }
    if !missing.is_empty() {
        let all = [&config.subjects[..], &missing].concat().join(",");
        return Err(format!(
            "the stream `{name}` does not store `{}`; add what is missing: nats stream edit {name} --subjects '{all}'",
            missing.join("`, `")
        ));
    }
    if config.retention != RetentionPolicy::Limits {
        return Err(format!(
            "the stream `{name}` removes packets once somebody has read them; expected the retention `limits`, with which a stream \
             must be made: name another one"
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

/// How the subjects of packets begin.
const PREFIX: &str = "omen.packets.";

/// Whether a subject with wildcards has all that another one has.
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

fn is_missing(error: &async_nats::jetstream::context::GetStreamError) -> bool {
    matches!(error.kind(), GetStreamErrorKind::JetStream(error) if error.error_code() == ErrorCode::STREAM_NOT_FOUND)
}

/// Checks that the server can store messages together.
pub(crate) fn check_version(client: &Client) -> Result<(), Failure> {
    // 2.12.0 takes no expectation but on the first message of a batch, and a commit has it on the last one.
    if client.is_server_compatible(2, 12, 1) {
        return Ok(());
    }
    let found = client.server_info().version;
    Err(Failure::Refused(format!(
        "nats-server {found} does not store batches as OMEN needs it; expected nats-server 2.12.1 or later"
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
        for other in ["omen.packets", "omen.packets.a", "omen.*", "omen.packets.*.*", "omen.lost"] {
            assert!(!covers(other, "omen.packets.*"), "{other}");
        }
        assert!(covers("omen.lost", "omen.lost") && !covers("omen.lost", "omen.tick") && !covers("omen.*", "omen.>"));
    }
}
