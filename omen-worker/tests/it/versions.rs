//! Checkpoints of another version of the command, or of a worker with other rules: they are refused, with what helps.

use std::hash::Hasher as _;
use std::sync::Mutex;

use async_nats::jetstream::Context;
use async_nats::jetstream::kv::Store;
use futures_util::StreamExt as _;
use omen::{Level, Levels, ValidatorOptions};
use omen_worker::worker::Options;
use serde_json::Value;
use siphasher::sip128::{Hasher128 as _, SipHasher13};

use crate::damage::{a_checkpoint_is_changed, entry, half, heard, published, says};
use crate::logs::{checked, checked_with};
use crate::messages::Worker;
use crate::process::options;
use crate::same::{many, same};
use crate::server::Nats;
use crate::stream::{found, judged, publish};

/// The hash of a checkpoint, and of its head.
fn hash(bytes: &[u8]) -> SipHasher13 {
    let mut hasher = SipHasher13::new();
    hasher.write(bytes);
    hasher
}

fn in_hexadecimal(bytes: &[u8]) -> String {
    format!("{:032x}", hash(bytes).finish128().as_u128())
}

/// The head of a checkpoint, without its hash.
async fn head(bucket: &Store, partition: u16) -> Value {
    let (_, value) = entry(bucket, &format!("checkpoint.{partition}")).await;
    let begin = value.iter().position(|byte| *byte == b'{').unwrap();
    serde_json::from_slice(&value[begin..]).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_head_without_a_hash_is_refused() {
    let change = async |bucket: &Store, partition| {
        let mut head = head(bucket, partition).await;
        // As they were written at first.
        head["version"] = 1.into();
        bucket.put(format!("checkpoint.{partition}"), head.to_string().into()).await.unwrap();
    };
    a_checkpoint_is_changed("of another version", change).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_checkpoint_of_another_schema_is_refused() {
    let change = async |bucket: &Store, partition| {
        let (key, mut value) = entry(bucket, &format!("value.{partition}.")).await;
        // What another schema gives: its fingerprint, and with it the seal of the snapshot and the hashes of the checkpoint.
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

/// Waits until all partitions say that they do not go on, and deletes their checkpoints.
async fn all_are_deleted(context: &Context, said: &Mutex<Vec<String>>, why: &str) {
    let bucket = context.get_key_value("PACKETS_STATE").await.unwrap();
    let keys = bucket.keys().await.unwrap().map(Result::unwrap).collect::<Vec<_>>().await;
    for key in keys.iter().filter(|key| key.starts_with("checkpoint.")) {
        says(said, &[&format!("delete the key `{key}`"), why]).await;
        bucket.delete(key).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_with_other_rules_take_over_when_the_checkpoints_are_deleted() {
    let Some(server) = Nats::start() else { return };
    let context = server.context().await;
    let log = many(53_000, 20);
    let first = half(&log);
    published(&context, &first).await;
    let worker = Worker::start(&server, options());
    judged(&context).await;
    worker.stop().await;

    let mut levels = Levels::default();
    levels.set_warnings(Level::Deny);
    let validator = ValidatorOptions { levels, ..ValidatorOptions::default() };
    let (options, said) = heard();
    let worker = Worker::start(&server, Options { validator: validator.clone(), ..options });
    all_are_deleted(&context, &said, "a validator with other options").await;
    publish(&context, "log", &log).await;
    judged(&context).await;
    worker.stop().await;

    // What was published stays as it is, and what comes is judged by the new rules, with all that came before.
    let last = first.lines().count() as u64;
    let line = |finding: &String| serde_json::from_str::<Value>(finding).unwrap()["line"].as_u64().unwrap_or(u64::MAX);
    let (before, after) = (checked(&log), checked_with(&log, validator));
    let mut expected: Vec<String> = before.iter().filter(|finding| line(finding) <= last).cloned().collect();
    expected.extend(after.iter().filter(|finding| line(finding) > last).cloned());
    expected.sort_unstable();
    assert!(expected != before && expected != after, "the rules differ in both parts");
    same(&found(&context).await, &expected);
}

/// How a snapshot of a validator begins. The version and the fingerprint of the schema follow.
const MAGIC: &[u8] = b"omensnap";
