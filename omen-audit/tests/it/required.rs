//! A log is opened only if it contains the required anchor: a log that was set back, truncated, removed or rewritten is
//! not continued (A3).

use std::fs;
use std::num::NonZeroU64;
use std::path::Path;

use omen_audit::store::{head_path, numbered};
use omen_audit::{LogVerdict, Tampering};
use tempfile::TempDir;

use super::*;

fn opened(log: &Path, require: Option<Anchor>) -> Result<Audit, AuditError> {
    Audit::open(log, key(), clock(), Options { rotate_bytes: NonZeroU64::new(1000), require, ..Options::default() })
}

/// Writes a log of several files, and takes an anchor after each entry, including those of the log itself.
fn anchored(log: &Path) -> Vec<Anchor> {
    let audit = opened(log, None).unwrap();
    let mut anchors = vec![audit.anchor().unwrap()];
    for n in 0..20 {
        let _ = record(&audit, n).unwrap();
        anchors.push(audit.anchor().unwrap());
    }
    assert!(numbered(log, 3).exists());
    anchors
}

#[track_caller]
fn refused(log: &Path, anchor: &Anchor, verdict: &LogVerdict) {
    match opened(log, Some(anchor.clone())) {
        Err(AuditError::NotSound(found)) => assert_eq!(&found, verdict),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_log_that_holds_its_anchor_goes_on() {
    let folder = TempDir::new().unwrap();
    let log = folder.path().join("audit.jsonl");
    let anchors = anchored(&log);
    // Anchors of each file, and the last one.
    for anchor in anchors {
        drop(opened(&log, Some(anchor)).unwrap());
    }
}

#[test]
fn a_log_that_was_set_back_is_not_continued() {
    let folder = TempDir::new().unwrap();
    let log = folder.path().join("audit.jsonl");
    let audit = opened(&log, None).unwrap();
    let _ = record(&audit, 1).unwrap();
    drop(audit);
    let (old, old_head) = (fs::read(&log).unwrap(), fs::read(head_path(&log)).unwrap());
    let audit = opened(&log, None).unwrap();
    let _ = record(&audit, 2).unwrap();
    let anchor = audit.anchor().unwrap();
    drop(audit);
    fs::write(&log, old).unwrap();
    fs::write(head_path(&log), old_head).unwrap();
    let before = fs::read(&log).unwrap();
    refused(&log, &anchor, &LogVerdict::Truncated { have: 2, want: 4 });
    assert_eq!(fs::read(&log).unwrap(), before, "nothing is written to it");
}

#[test]
fn files_that_were_removed_are_missed() {
    let folder = TempDir::new().unwrap();
    let log = folder.path().join("audit.jsonl");
    let anchor = anchored(&log).pop().unwrap();
    let want = anchor.count();
    for file in fs::read_dir(folder.path()).unwrap() {
        fs::remove_file(file.unwrap().path()).unwrap();
    }
    refused(&log, &anchor, &LogVerdict::Truncated { have: 0, want });
    assert!(!log.exists(), "no log is begun");
}

#[test]
fn a_log_that_was_written_anew_is_another_one() {
    let folder = TempDir::new().unwrap();
    let (log, other) = (folder.path().join("audit.jsonl"), folder.path().join("other.jsonl"));
    let anchors = anchored(&log);
    let audit = opened(&other, None).unwrap();
    for n in 100..120 {
        let _ = record(&audit, n).unwrap();
    }
    drop(audit);
    // Their first entries are equal: same time, same key.
    for anchor in &anchors[1..] {
        refused(&other, anchor, &LogVerdict::Tampered(Tampering::AnchorOther(anchor.count())));
    }
}
