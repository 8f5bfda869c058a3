//! Tests of the audit log (A1, A3, A4, D49), in one binary.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]
#![allow(clippy::print_stdout, reason = "a test says what it has counted")]

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use omen_audit::store::{Memory, Store};
use omen_audit::{Anchor, Audit, AuditError, Key, Kind, Options, Record, Verification, verify};
use omen_base::{GateClock, ManualClock, TurnId};
use serde_json::{Map, Value, json};

mod chain;
mod checkpoint;
mod crash;
mod files;
mod groups;
mod head;
mod keys;
mod kill;
mod records;
mod required;
mod rotation;
#[cfg(unix)]
mod signed;
mod states;
mod tamper;
mod torn;
mod truncate;

/// 2026-03-01T10:00:00Z.
const START: Duration = Duration::from_secs(1_772_359_200);

/// Key with the bytes 0 to 31, for tests only.
fn key() -> Key {
    Key::from_bytes(&std::array::from_fn::<u8, 32, _>(|i| i as u8)).unwrap()
}

fn clock() -> Arc<dyn GateClock> {
    Arc::new(ManualClock::new(SystemTime::UNIX_EPOCH + START))
}

fn turn() -> TurnId {
    TurnId::new("turn_1").unwrap()
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        other => panic!("{other} is not an object"),
    }
}

fn open(store: impl Store) -> Result<Audit, AuditError> {
    Audit::over(store, key(), clock(), Options::default())
}

/// Appends a small record.
fn record(audit: &Audit, n: u64) -> Result<u64, AuditError> {
    let turn = turn();
    audit.append(Record::new(Kind::Decision, &turn, object(json!({ "n": n })))).map(|receipt| receipt.sequence)
}

/// Log with a number of entries, the first of which says that it was opened.
struct Written {
    log: Vec<u8>,
    head: Vec<u8>,
    anchor: Anchor,
}

fn written(entries: u64) -> Written {
    let memory = Memory::default();
    let audit = open(memory.clone()).unwrap();
    for n in 2..=entries {
        assert_eq!(record(&audit, n).unwrap(), n);
    }
    Written { log: memory.bytes(), head: memory.head_bytes().unwrap(), anchor: audit.anchor().unwrap() }
}

impl Written {
    fn lines(&self) -> Vec<&[u8]> {
        self.log.split_inclusive(|byte| *byte == b'\n').collect()
    }
}

/// Verifies a log given as bytes.
fn judge(log: &[u8], head: Option<&[u8]>) -> Verification {
    verify(log, head, &key(), None).unwrap()
}

/// Parses the entries of a log as JSON.
fn entries(log: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(log).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Pseudorandom numbers, the same in every run: SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }
}
