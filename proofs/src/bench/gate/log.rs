//! The audit log: entries appended and verified.

use std::fs::{self, File};
use std::hint::black_box;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use omen_gate::audit::store::Memory;
use omen_gate::audit::{Audit, Kind, LogVerdict, Options, Record, verify_file};
use omen_gate::{SystemClock, TurnId};
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use super::super::Samples;
use super::super::measure::lines;
use super::calls::{Measure, key};
use crate::Failure;

/// Runs one round of all measures: entries per second. Returns the size of an entry in bytes.
pub(super) fn round(entries: u32, synced: u32, samples: &mut Samples<Measure>) -> Result<usize, Failure> {
    let folder = tempfile::tempdir()?;
    let place = |name: &str| folder.path().join(name);

    let memory = Memory::default();
    let audit = Audit::over(memory.clone(), key()?, Arc::new(SystemClock::default()), Options::default())?;
    samples.add(Measure::Append, appended(&audit, entries)?);
    drop(audit);
    let text = memory.bytes();
    // The first entry records that the log was opened.
    let line = lines(&text).nth(1).unwrap_or_default().to_vec();
    drop(memory);

    // Measures that are compared run directly after each other.
    samples.add(Measure::Write, written(&place("plain.jsonl"), &line, entries, false)?);
    let log = place("audit.jsonl");
    let audit = open(&log, false)?;
    samples.add(Measure::AppendFiles, appended(&audit, entries)?);
    drop(audit);
    let audit = open(&place("synced.jsonl"), true)?;
    samples.add(Measure::AppendSynced, appended(&audit, synced)?);
    drop(audit);
    samples.add(Measure::WriteSynced, written(&place("plain_synced.jsonl"), &line, synced, true)?);

    for writers in WRITERS {
        let audit = open(&place(&format!("by_{writers}.jsonl")), true)?;
        let each = (synced / writers).max(8);
        samples.add(Measure::AppendBy(writers), appended_by(&audit, writers, each)?);
        drop(audit);
        samples.add(
            Measure::WriteBy(writers),
            written_by(&place(&format!("plain_by_{writers}.jsonl")), &line, writers, each)?,
        );
    }

    samples.add(Measure::Skip, skipped(&log)?);
    samples.add(Measure::Verify, verified(&log)?);
    Ok(line.len() + 1)
}

fn open(log: &Path, sync: bool) -> Result<Audit, Failure> {
    Ok(Audit::open(log, key()?, Arc::new(SystemClock::default()), Options { sync, ..Options::default() })?)
}

/// Returns the content of a typical intent.
fn intent() -> Map<String, Value> {
    let intent = json!({
        "args": { "key": "pool.orders.max" },
        "call": "6cb1cbc1c1a31c5a2a9e8a3c1a9e6cb1cbc1c1a31c5a2a9e8a3c1a9e6cb1cbc1",
        "grants": [1],
        "outcome": "allowed",
        "permissions": ["READ"],
        "stage": "dispatch",
        "tool": { "server": "store", "tool": "get" },
        "turn": "turn_1",
    });
    match intent {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

fn appended(audit: &Audit, entries: u32) -> Result<f64, Failure> {
    let (turn, intent) = (TurnId::new("turn_1")?, intent());
    let begun = Instant::now();
    for _ in 0..entries {
        let _ = audit.append(Record::new(Kind::Intent, &turn, intent.clone()))?;
    }
    Ok(f64::from(entries) / begun.elapsed().as_secs_f64())
}

/// Returns the synced entries per second from several threads, each of which waits for its own.
fn appended_by(audit: &Audit, writers: u32, each: u32) -> Result<f64, Failure> {
    let turn = TurnId::new("turn_1")?;
    by(writers, || {
        (0..each)
            .try_for_each(|_| audit.append(Record::new(Kind::Intent, &turn, intent())).map(drop))
            .map_err(Into::into)
    })
    .map(|seconds| f64::from(writers * each) / seconds)
}

/// Returns the same for the same bytes, written and synced directly by as many threads, at the end of one file.
fn written_by(file: &Path, line: &[u8], writers: u32, each: u32) -> Result<f64, Failure> {
    let file = File::options().append(true).create_new(true).open(file)?;
    let line = [line, b"\n"].concat();
    let seconds = by(writers, || {
        (0..each).try_for_each(|_| {
            (&file).write_all(&line)?;
            file.sync_data().map_err(Failure::from)
        })
    })?;
    Ok(f64::from(writers * each) / seconds)
}

/// Runs a function in this many threads in parallel, and returns the duration in seconds.
fn by(threads: u32, run: impl Fn() -> Result<(), Failure> + Sync) -> Result<f64, Failure> {
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(&run)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| Failure::from("a writer panicked"))?)
    })?;
    Ok(begun.elapsed().as_secs_f64())
}

/// Numbers of threads that append in parallel.
pub(super) const WRITERS: [u32; 3] = [1, 8, 64];

/// Writes the same JSON directly.
fn written(file: &Path, line: &[u8], entries: u32, sync: bool) -> Result<f64, Failure> {
    let value: Value = serde_json::from_slice(line)?;
    let mut file = File::create_new(file)?;
    let begun = Instant::now();
    for _ in 0..entries {
        let mut line = serde_json::to_vec(&value)?;
        line.push(b'\n');
        file.write_all(&line)?;
        if sync {
            file.sync_data()?;
        }
    }
    Ok(f64::from(entries) / begun.elapsed().as_secs_f64())
}

fn verified(log: &Path) -> Result<f64, Failure> {
    let key = key()?;
    let begun = Instant::now();
    let found = verify_file(log, &key, None)?;
    let seconds = begun.elapsed().as_secs_f64();
    match found.verdict {
        LogVerdict::Sound => Ok(found.entries as f64 / seconds),
        verdict => Err(format!("the log is {verdict}").into()),
    }
}

fn skipped(log: &Path) -> Result<f64, Failure> {
    let begun = Instant::now();
    let text = fs::read(log)?;
    let read = lines(&text).filter(|line| black_box(serde_json::from_slice::<IgnoredAny>(line)).is_ok()).count();
    Ok(read as f64 / begun.elapsed().as_secs_f64())
}
