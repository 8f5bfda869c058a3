//! `kill -9` at random points (A1): no acknowledged entry is lost.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Command, Stdio};

use omen_gate::audit::{LogVerdict, verify_file};
use tempfile::TempDir;

use super::*;

const KILLS: u64 = 500;

/// Kills on one log, one after the other: what a kill has left is repaired by the next process, which is killed, too.
const KILLS_A_LOG: u64 = 25;

/// Where a child process finds the log that it is to write to.
const LOG: &str = "OMEN_GATE_TEST_KILL_LOG";
const KEY: &str = "OMEN_GATE_TEST_KILL_KEY";

const DIGITS: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

/// Opens a log, appends to it, and says what was acknowledged, a line each.
fn write_entries(log: &Path, key: Key, count: u64, mut out: impl std::io::Write) {
    let audit = Audit::open(log, key, clock(), Options::default()).unwrap();
    for n in 0..count {
        let sequence = record(&audit, n).unwrap();
        // One write, so that a line is whole or not there.
        out.write_all(format!("acknowledged {sequence}\n").as_bytes()).unwrap();
        out.flush().unwrap();
    }
}

/// What the process that is killed does: without end. For itself, it writes a few entries.
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
    for log in 0..KILLS / KILLS_A_LOG {
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
    // If no kill had ever hit a write, this would show nothing.
    assert!(incomplete > 0 && killed_early < KILLS / 2, "{incomplete} incomplete, {killed_early} early");
}

/// Starts a writer, kills it after some acknowledgements and some moments more, and gives the acknowledged numbers.
fn write_until_killed(log: &Path, random: &mut Random) -> Vec<u64> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "audit::kill::the_writer", "--nocapture", "--test-threads=1"])
        .env(LOG, log)
        .env(KEY, DIGITS)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    for _ in 0..random.below(4) {
        // The harness has lines of its own before the first one.
        let before = text.len();
        while out.read_line(&mut text).unwrap() > 0 && !text[before..].contains("acknowledged") {}
    }
    std::thread::sleep(Duration::from_micros(random.below(6000)));
    child.kill().unwrap();
    assert!(!child.wait().unwrap().success());
    out.read_to_string(&mut text).unwrap();
    text.lines().filter_map(|line| line.split_once("acknowledged ")?.1.parse().ok()).collect()
}
