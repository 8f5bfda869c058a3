//! `kill -9` at random points (A1): no acknowledged entry is lost.

use std::fs;
use std::path::Path;

use omen_audit::{LogVerdict, verify_file};
use omen_testkit::child::TestChild;
use omen_testkit::proofs::Proofs;
use tempfile::TempDir;

use super::*;

/// Number of processes to kill.
fn kills() -> u64 {
    Proofs::wanted().choose(100, 500)
}

/// Consecutive kills on one log: the next process repairs the remains of a kill, and is killed, too.
const KILLS_A_LOG: u64 = 25;

/// Variable with the log that a child process writes to.
const LOG: &str = "OMEN_GATE_TEST_KILL_LOG";
const KEY: &str = "OMEN_GATE_TEST_KILL_KEY";

const DIGITS: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

/// Opens a log, appends to it, and prints the acknowledged numbers, one per line.
fn write_entries(log: &Path, key: Key, count: u64, mut out: impl std::io::Write) {
    let audit = Audit::open(log, key, clock(), Options::default()).unwrap();
    for n in 0..count {
        let sequence = record(&audit, n).unwrap();
        // One write, so that a line is complete or missing.
        out.write_all(format!("acknowledged {sequence}\n").as_bytes()).unwrap();
        out.flush().unwrap();
    }
}

/// Role of the killed process: writes without end. Run as a test, it writes a few entries.
#[test]
fn the_writer() {
    if let Some(log) = std::env::var_os(LOG) {
        write_entries(Path::new(&log), Key::from_env(KEY).unwrap(), u64::MAX, std::io::stdout());
    }
    let folder = TempDir::new().unwrap();
    let mut out = Vec::new();
    write_entries(&folder.path().join("audit.jsonl"), key(), 2, &mut out);
    assert_eq!(out, b"acknowledged 2\nacknowledged 3\n");
}

#[test]
fn no_acknowledged_entry_is_lost() {
    let mut random = Random(4);
    let (mut incomplete, mut killed_early) = (0, 0);
    for log in 0..kills() / KILLS_A_LOG {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("audit.jsonl");
        let mut acknowledged = Vec::new();
        for kill in 0..KILLS_A_LOG {
            let new = write_until_killed(&path, &mut random);
            killed_early += u64::from(new.is_empty());
            acknowledged.extend(new);
            if !path.exists() {
                assert!(acknowledged.is_empty());
                continue;
            }
            let found = verify_file(&path, &key(), None).unwrap();
            let context = format!("log {log}, kill {kill}: {found:?}");
            assert!(matches!(found.verdict, LogVerdict::Sound | LogVerdict::Incomplete { .. }), "{context}");
            assert!(acknowledged.iter().all(|sequence| *sequence <= found.entries), "{context}");
            incomplete += u64::from(found.verdict != LogVerdict::Sound);
        }
        drop(Audit::open(&path, key(), clock(), Options::default()).unwrap());
        let found = verify_file(&path, &key(), None).unwrap();
        assert_eq!(found.verdict, LogVerdict::Sound);
        let entries = entries(&fs::read(&path).unwrap());
        for sequence in acknowledged {
            let entry = &entries[sequence as usize - 1];
            assert_eq!((&entry["sequence"], &entry["kind"]), (&json!(sequence), &json!("decision")));
        }
    }
    // The test would prove nothing if no kill had hit a write.
    assert!(incomplete > 0 && killed_early < kills() / 2, "{incomplete} incomplete, {killed_early} early");
}

/// Starts a writer, kills it after some acknowledgements and a short delay, and returns the acknowledged numbers.
fn write_until_killed(log: &Path, random: &mut Random) -> Vec<u64> {
    let mut child = TestChild::start("kill::the_writer", &[(LOG, log.as_ref()), (KEY, DIGITS.as_ref())]);
    for _ in 0..random.below(4) {
        child.read_until("acknowledged");
    }
    std::thread::sleep(Duration::from_micros(random.below(6000)));
    acknowledged(&child.kill())
}

/// Numbers in complete lines of a writer.
fn acknowledged(text: &str) -> Vec<u64> {
    text.lines().filter_map(|line| line.split_once("acknowledged ")?.1.parse().ok()).collect()
}

/// Variable with the log of a child process with many writers.
const MANY: &str = "OMEN_GATE_TEST_KILL_MANY";
const WRITERS: usize = 32;

/// Opens a log of small files and appends to it from many threads, `each` times or without end.
fn many_write(log: &Path, key: Key, each: u64) {
    let options = Options { rotate_bytes: std::num::NonZeroU64::new(8192), ..Options::default() };
    let audit = Audit::open(log, key, clock(), options).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(|| {
                use std::io::Write as _;

                for n in 0..each {
                    let sequence = record(&audit, n).unwrap();
                    // Under the lock of the stream, so that a line is complete or missing.
                    std::io::stdout().lock().write_all(format!("acknowledged {sequence}\n").as_bytes()).unwrap();
                }
            });
        }
    });
}

/// Role of the process with many writers. Run as a test, each writer writes a few entries.
#[test]
fn many_writers() {
    if let Some(log) = std::env::var_os(MANY) {
        many_write(Path::new(&log), Key::from_env(KEY).unwrap(), u64::MAX);
    }
    let folder = TempDir::new().unwrap();
    let log = folder.path().join("audit.jsonl");
    many_write(&log, key(), 8);
    let found = omen_audit::verify_log(&log, &key(), None).unwrap();
    assert!(found.is_sound() && found.files.len() > 2, "{found:#?}");
    let own: u64 = found.files.len() as u64 * 2 - 1;
    assert_eq!(found.entries(), WRITERS as u64 * 8 + own, "and the entries of the log itself");
}

/// A constantly rotating log, with many writers that are killed: every acknowledged entry is in one of the files, and
/// the folder is sound after the log was opened.
#[test]
fn rotation_under_many_writers_loses_nothing() {
    let mut random = Random(16);
    let folder = TempDir::new().unwrap();
    let log = folder.path().join("audit.jsonl");
    let mut acknowledged = std::collections::BTreeSet::new();
    for kill in 0..Proofs::wanted().choose(8, 30) {
        let mut child = TestChild::start("kill::many_writers", &[(MANY, log.as_ref()), (KEY, DIGITS.as_ref())]);
        for _ in 0..random.below(300) {
            child.read_until("");
        }
        std::thread::sleep(Duration::from_micros(random.below(3000)));
        acknowledged.extend(self::acknowledged(&child.kill()));
        if !log.exists() {
            assert!(acknowledged.is_empty());
            continue;
        }
        // Before the repair: nothing is missing, and nothing counts as changed.
        let found = omen_audit::verify_log(&log, &key(), None).unwrap();
        assert!(found.misfits.is_empty(), "kill {kill}: {found:#?}");
        for file in &found.files {
            let verdict = &file.found.verdict;
            assert!(matches!(verdict, LogVerdict::Sound | LogVerdict::Incomplete { .. }), "kill {kill}: {found:#?}");
        }
        assert!(
            acknowledged.last().is_none_or(|last| *last <= found.last().unwrap().entries),
            "kill {kill}: {found:#?}"
        );
    }
    drop(Audit::open(&log, key(), clock(), Options::default()).unwrap());
    let found = omen_audit::verify_folder(folder.path(), &key(), None).unwrap();
    assert!(found.is_sound() && found.files.len() > 20, "{found:#?}");
    let all: Vec<Value> = found.files.iter().flat_map(|file| entries(&fs::read(&file.path).unwrap())).collect();
    for sequence in acknowledged {
        let entry = &all[sequence as usize - 1];
        assert_eq!((&entry["sequence"], &entry["kind"]), (&json!(sequence), &json!("decision")));
    }
}
