//! Checkpoints of another version of the command, or of a worker with other rules: they are refused with a remedy.

use std::hash::Hasher as _;
use std::time::Duration;

use async_nats::jetstream::kv::Store;
use omen::{Level, Levels, ValidatorOptions};
use omen_worker::Failure;
use omen_worker::worker::{self, Options};
use serde_json::Value;
use siphasher::sip128::{Hasher128 as _, SipHasher13};

use crate::damage::{a_checkpoint_is_changed, entry, half, published};
use crate::messages::Worker;
use crate::process::options;
use crate::same::{many, same};
use crate::server::{Nats, PARTITIONS};
use crate::stream::{expected, expected_with, found, judged, last, publish, stream};

/// Returns the hash of a checkpoint or of its head.
fn hash(bytes: &[u8]) -> SipHasher13 {
    let mut hasher = SipHasher13::new();
    hasher.write(bytes);
    hasher
}

fn in_hexadecimal(bytes: &[u8]) -> String {
    format!("{:032x}", hash(bytes).finish128().as_u128())
}

/// Returns the head of a checkpoint, without its hash.
async fn head(bucket: &Store, partition: u16) -> Value {
    let (_, value) = entry(bucket, &format!("checkpoint.{partition}")).await;
    let begin = value.iter().position(|byte| *byte == b'{').unwrap();
    serde_json::from_slice(&value[begin..]).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_head_without_a_hash_is_refused() {
    let change = async |bucket: &Store, partition| {
        let mut head = head(bucket, partition).await;
        // The first version of the stored form.
        head["version"] = 1.into();
        bucket.put(format!("checkpoint.{partition}"), head.to_string().into()).await.unwrap();
    };
    a_checkpoint_is_changed("of another version", change).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_checkpoint_of_another_schema_is_refused() {
    let change = async |bucket: &Store, partition| {
        let (key, mut value) = entry(bucket, &format!("value.{partition}.")).await;
        // Another schema changes the fingerprint, and so the seal of the snapshot and the hashes of the checkpoint.
        let snapshot = value.windows(MAGIC.len()).position(|bytes| bytes == MAGIC).unwrap();
        value[snapshot + MAGIC.len() + 1] ^= 1;
        let seal = value.len() - 16;
        let sealed = hash(&value[snapshot..seal]).finish128().as_bytes();
        value[seal..].copy_from_slice(&sealed);
        let mut head = head(bucket, partition).await;
        assert_eq!((head["values"].as_u64(), head["bytes"].as_u64()), (Some(1), Some(value.len() as u64)));
        head["seal"] = in_hexadecimal(&value).into();
        let head = serde_json::to_string(&head).unwrap();
        bucket.put(key, value.into()).await.unwrap();
        bucket.put(format!("checkpoint.{partition}"), (in_hexadecimal(head.as_bytes()) + &head).into()).await.unwrap();
    };
    a_checkpoint_is_changed("a snapshot of another schema", change).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_with_other_rules_take_over_when_they_judge_again() {
    let Some(server) = Nats::start() else { return };
    let context = server.context().await;
    let log = many(53_000, 20);
    let first = half(&log);
    published(&context, &first).await;
    let before = Worker::start(&server, options());
    judged(&context).await;
    let mut early = Vec::new();
    for partition in 0..PARTITIONS {
        early.push(last(&context, partition).await);
    }

    let mut levels = Levels::default();
    levels.set_warnings(Level::Deny);
    let validator = ValidatorOptions { levels, ..ValidatorOptions::default() };
    let other = Options { validator: validator.clone(), ..options() };
    let refused = worker::run(&server.address(), other, std::future::pending()).await;
    assert!(matches!(&refused, Err(Failure::Refused(why)) if why.contains("have other rules")), "{refused:?}");
    let later = Options { episode_ttl: Some(Duration::from_secs(600)), ..options() };
    let refused = worker::run(&server.address(), later, std::future::pending()).await;
    assert!(
        matches!(&refused, Err(Failure::Refused(why)) if why.contains("have no `--episode-ttl`, and this one has `--episode-ttl 600s`")),
        "{refused:?}"
    );
    let worker = Worker::start(&server, Options { judges_again: true, validator: validator.clone(), ..options() });
    worker.says(&["judging packets of"]).await;
    // The other worker commits nothing more.
    publish(&context, "log", &log).await;
    assert!(before.ended().await.contains("have other rules"));
    judged(&context).await;
    worker.stop().await;

    // Published findings stay, and new packets are judged by the new rules, with all earlier packets.
    let is_early = |finding: &String| {
        let row = serde_json::from_str::<Value>(finding).unwrap();
        let partition = (0..PARTITIONS).find(|partition| row["file"] == stream(*partition)).unwrap();
        row["line"].as_u64().is_some_and(|line| line <= early[usize::from(partition)])
    };
    let before = expected(&context, &log).await;
    let after = expected_with(&context, &log, validator).await;
    let mut expected: Vec<String> = before.iter().filter(|finding| is_early(finding)).cloned().collect();
    expected.extend(after.iter().filter(|finding| !is_early(finding)).cloned());
    expected.sort_unstable();
    assert!(expected != before && expected != after, "the rules differ in both parts");
    same(&found(&context).await, &expected);
}

#[tokio::test]
async fn a_server_that_takes_small_messages_alone_is_refused() {
    let Some(server) = Nats::start_with(|_| "max_payload: 64KB".to_owned()) else { return };
    let refused = worker::run(&server.address(), options(), std::future::pending()).await;
    let expected = "`max_payload` of the server is 65536 bytes; expected at least 524288";
    assert!(matches!(&refused, Err(Failure::Refused(why)) if why.contains(expected)), "{refused:?}");
}

/// First bytes of a snapshot of a validator. The version and the fingerprint of the schema follow.
const MAGIC: &[u8] = b"omensnap";
