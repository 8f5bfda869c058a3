//! Logs that are opened after a checkpoint: as the whole log says, and changes in what follows are found.

use std::fs;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use omen_audit::Checkpoint;
use omen_audit::store::{head_path, numbered};
use tempfile::TempDir;

use super::*;

fn open_after(log: &Path, rotate: u64, checkpoint: &mut Option<Checkpoint>) -> Result<Audit, AuditError> {
    let options = Options { rotate_bytes: NonZeroU64::new(rotate), sync: false, ..Options::default() };
    Audit::open_after(log, key(), clock(), options, checkpoint)
}

/// Log in a folder, with a checkpoint, and some entries after it.
fn marked() -> (TempDir, PathBuf, Option<Checkpoint>) {
    let folder = TempDir::new().unwrap();
    let (log, mut checkpoint) = (folder.path().join("audit.jsonl"), None);
    for round in 0..3 {
        let audit = open_after(&log, 0, &mut checkpoint).unwrap();
        (0..3).for_each(|n| assert!(record(&audit, 3 * round + n).is_ok()));
    }
    (folder, log, checkpoint)
}

#[test]
fn the_state_is_that_of_the_whole_log() {
    for rotate in [0, 2000, 10_000] {
        let (folder, copy) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let (log, mut checkpoint, mut random) = (folder.path().join("audit.jsonl"), None, Random(rotate));
        let mut resumed = 0;
        for round in 0..60 {
            for file in fs::read_dir(&folder).unwrap().map(|file| file.unwrap()) {
                fs::copy(file.path(), copy.path().join(file.file_name())).unwrap();
            }
            let whole = open_after(&copy.path().join("audit.jsonl"), rotate, &mut None).unwrap();
            resumed += u32::from(checkpoint.is_some());
            let audit = open_after(&log, rotate, &mut checkpoint).unwrap();
            assert_eq!(format!("{:?}", audit.past()), format!("{:?}", whole.past()), "{rotate}, round {round}");
            assert_eq!(audit.anchor().unwrap(), whole.anchor().unwrap());
            for _ in 0..random.below(6) {
                let turn = TurnId::new(format!("t{}", random.below(4))).unwrap();
                let (kind, data) = match random.below(3) {
                    0 => (Kind::Intent, json!({ "call": "c", "tool": { "server": "s", "tool": "t" }, "grants": [1] })),
                    1 => (Kind::Outcome, json!({ "call": "c", "ran": "yes", "class": "tool" })),
                    _ => (Kind::Grant, json!({ "grants": [{ "id": 1, "source": "config", "uses": 3 }] })),
                };
                let _ = audit.append(Record::new(kind, &turn, object(data))).unwrap();
            }
            // Another process writes in between.
            if random.below(3) == 0 {
                audit.close();
                assert!(record(&open_after(&log, rotate, &mut None).unwrap(), round).is_ok());
            }
        }
        assert_eq!((resumed, numbered(&log, 2).exists()), (59, rotate > 0));
    }
}

#[test]
fn only_what_follows_is_verified() {
    let (_folder, log, mut checkpoint) = marked();
    let mut bytes = fs::read(&log).unwrap();
    bytes[100] ^= 1;
    fs::write(&log, &bytes).unwrap();
    assert!(matches!(open_after(&log, 0, &mut None), Err(AuditError::NotSound(_))));
    assert!(open_after(&log, 0, &mut checkpoint).is_ok());
}

#[test]
fn changes_in_what_follows_are_found() {
    let (folder, log, checkpoint) = marked();
    let (whole, head) = (fs::read(&log).unwrap(), fs::read(head_path(&log)).unwrap());
    let last = whole.len() - 100;
    let refused = |what: &str| {
        let mut checkpoint = checkpoint.clone();
        let found = open_after(&log, 0, &mut checkpoint).unwrap_err();
        assert_eq!(found.to_string(), open_after(&log, 0, &mut None).unwrap_err().to_string(), "{what}");
        fs::write(&log, &whole).unwrap();
        fs::write(head_path(&log), &head).unwrap();
    };
    let mut changed = whole.clone();
    changed[last] ^= 1;
    fs::write(&log, &changed).unwrap();
    refused("a byte");
    for length in [whole.len() / 3, whole.len() - 400, 10] {
        let end = whole[..length].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        fs::write(&log, &whole[..end]).unwrap();
        refused("cut");
    }
    fs::write(&log, written(5).log).unwrap();
    refused("another log");
    fs::write(head_path(&log), written(5).head).unwrap();
    refused("another head record");
    fs::remove_file(head_path(&log)).unwrap();
    refused("no head record");
    fs::remove_file(&log).unwrap();
    refused("no log");
    drop(folder);
}

#[test]
fn a_log_in_use_is_refused_as_such_and_the_checkpoint_stays() {
    for rotate in [0, 1000] {
        let folder = TempDir::new().unwrap();
        let (log, mut checkpoint) = (folder.path().join("audit.jsonl"), None);
        drop(open_after(&log, rotate, &mut checkpoint).unwrap());
        let audit = open_after(&log, rotate, &mut checkpoint).unwrap();
        (0..9).for_each(|n| assert!(record(&audit, n).is_ok()));
        assert_eq!(numbered(&log, 2).exists(), rotate > 0);
        // In whichever of its files.
        assert!(matches!(open_after(&log, rotate, &mut None), Err(AuditError::InUse(_))));
        if rotate == 0 {
            assert!(matches!(open_after(&log, rotate, &mut checkpoint), Err(AuditError::InUse(_))));
            assert!(checkpoint.is_some());
        }
    }
}

#[test]
fn a_crash_after_a_checkpoint_is_repaired() {
    let (_folder, log, mut checkpoint) = marked();
    let mut bytes = fs::read(&log).unwrap();
    bytes.extend(b"{\"data\":{\"n\":");
    fs::write(&log, &bytes).unwrap();
    drop(open_after(&log, 0, &mut checkpoint).unwrap());
    assert!(checkpoint.is_none());
    let kinds = entries(&fs::read(&log).unwrap()).pop().unwrap();
    assert_eq!((&kinds["kind"], &kinds["data"]["bytes"]), (&json!("repaired"), &json!(13)));
}
