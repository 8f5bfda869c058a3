//! All combinations of states of log and head record: the verdict, and the effect of opening (D57).

use std::fs;
use std::path::Path;

use omen_audit::store::head_path;
use omen_audit::{Flaw, LogVerdict, Tampering, verify_file};
use tempfile::TempDir;

use super::crash::Mortal;
use super::*;

const CHANGED: LogVerdict = LogVerdict::Tampered(Tampering::HeadChanged);

/// Head record that is created before the log.
fn first_head() -> Vec<u8> {
    let memory = Memory::default();
    assert!(matches!(open(Mortal { memory: memory.clone(), steps: 1 }), Err(AuditError::Store(_))));
    assert!(memory.bytes().is_empty());
    memory.head_bytes().unwrap()
}

fn incomplete(entries: u64, bytes: usize) -> LogVerdict {
    LogVerdict::Incomplete { entries, bytes: bytes as u64 }
}

fn truncated(have: u64, want: u64) -> LogVerdict {
    LogVerdict::Truncated { have, want }
}

fn old(named: u64) -> LogVerdict {
    LogVerdict::Tampered(Tampering::HeadOld { named })
}

/// Effect of opening.
enum Opening {
    /// Writes an entry of this kind, and the log is sound.
    Opens(&'static str, Value),
    /// Refuses, and leaves everything unchanged.
    Refuses,
    /// Refuses, because the log is missing.
    Gone,
}

use Opening::{Gone, Opens, Refuses};

/// Log, head record, verdict (`None` if there is nothing to verify), and effect of opening.
type Row<'r> = (Option<&'r [u8]>, Option<&'r [u8]>, Option<LogVerdict>, Opening);

#[test]
fn every_state_has_its_verdict_and_opening() {
    let whole = written(3).log;
    let lines = written(3);
    let lines = lines.lines();
    let two = lines[..2].concat();
    let half = &lines[2][..100];
    let torn = [&two[..], half].concat();
    let torn_first = &lines[0][..50];
    let heads = [first_head(), written(1).head, written(2).head, written(3).head];
    let [none, one, second, third] = heads.each_ref().map(|head| Some(&head[..]));
    // Partial write of the third record over the second.
    let torn_head = [&heads[3][..60], &heads[2][60..]].concat();
    assert!(torn_head != heads[2] && torn_head != heads[3]);
    let torn_head = Some(&torn_head[..]);
    let empty = Some(&b""[..]);
    let (whole, torn, torn_first) = (Some(&whole[..]), Some(&torn[..]), Some(torn_first));
    let opened = || Opens("opened", json!({}));
    let adopted = || Opens("repaired", json!({ "entries": 1, "bytes": 0 }));
    let cut = |entries: u64, offset: usize, bytes: usize| {
        let kept = [format!("audit.jsonl.torn-{offset}")];
        Opens("repaired", json!({ "entries": entries, "bytes": bytes, "kept": kept }))
    };
    let (missing, emptied) = (LogVerdict::Tampered(Tampering::HeadMissing), LogVerdict::Tampered(Tampering::Empty));

    let rows: Vec<Row<'_>> = vec![
        // The log is missing.
        (None, None, None, opened()),
        (None, empty, Some(CHANGED), Refuses),
        (None, torn_head, Some(CHANGED), Refuses),
        (None, none, Some(incomplete(0, 0)), opened()),
        (None, second, Some(truncated(0, 2)), Gone),
        (None, third, Some(truncated(0, 3)), Gone),
        // The log is empty. If the head record was removed, too, it is not taken for a new log.
        (empty, None, Some(emptied), Refuses),
        (empty, empty, Some(CHANGED), Refuses),
        (empty, torn_head, Some(CHANGED), Refuses),
        (empty, none, Some(incomplete(0, 0)), opened()),
        (empty, second, Some(truncated(0, 2)), Refuses),
        (empty, third, Some(truncated(0, 3)), Refuses),
        // The first line is partial.
        (torn_first, None, Some(missing.clone()), Refuses),
        (torn_first, empty, Some(CHANGED), Refuses),
        (torn_first, none, Some(incomplete(0, 50)), cut(0, 0, 50)),
        (torn_first, one, Some(truncated(0, 1)), Refuses),
        // The third line is partial: the current head record is the one of two entries.
        (torn, None, Some(missing.clone()), Refuses),
        (torn, empty, Some(CHANGED), Refuses),
        (torn, torn_head, Some(CHANGED), Refuses),
        (torn, none, Some(old(0)), Refuses),
        (torn, one, Some(incomplete(1, 100)), cut(1, two.len(), 100)),
        (torn, second, Some(incomplete(0, 100)), cut(0, two.len(), 100)),
        (torn, third, Some(truncated(2, 3)), Refuses),
        // The log is whole.
        (whole, None, Some(missing), Refuses),
        (whole, empty, Some(CHANGED), Refuses),
        (whole, torn_head, Some(incomplete(1, 0)), adopted()),
        (whole, none, Some(old(0)), Refuses),
        (whole, one, Some(old(1)), Refuses),
        (whole, second, Some(incomplete(1, 0)), adopted()),
        (whole, third, Some(LogVerdict::Sound), opened()),
    ];
    for (number, (log, head, verdict, opening)) in rows.into_iter().enumerate() {
        check(number, log, head, verdict, opening);
    }
}

/// With every head record.
#[test]
fn what_is_not_the_start_of_an_entry_is_never_taken_for_one() {
    let (two, three) = (written(2), written(3));
    let garbage = [&two.log[..], b"\0\0\0\0"].concat();
    let heads = [None, Some(b"".to_vec()), Some(first_head()), Some(written(1).head), Some(two.head), Some(three.head)];
    for head in heads {
        let found = judge(&garbage, head.as_deref());
        let LogVerdict::Tampered(Tampering::Line { line: 3, offset, flaw: Flaw::NotStart { at: 0, .. } }) =
            &found.verdict
        else {
            panic!("{head:?}: {found:?}");
        };
        assert_eq!(*offset, two.log.len() as u64);
        assert!(found.verdict.to_string().starts_with("tampered or damaged: line 3, at byte "), "{}", found.verdict);
        assert_eq!(found.verdict.name(), "tampered");
        check(0, Some(&garbage), head.as_deref(), Some(found.verdict), Refuses);
    }
}

fn put(path: &Path, content: Option<&[u8]>) {
    if let Some(content) = content {
        fs::write(path, content).unwrap();
    }
}

fn check(number: usize, log: Option<&[u8]>, head: Option<&[u8]>, verdict: Option<LogVerdict>, opening: Opening) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("audit.jsonl");
    put(&path, log);
    put(&head_path(&path), head);
    let names = || {
        let names = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect::<std::collections::BTreeSet<_>>()
    };
    let (before, found) = (names(), verify_file(&path, &key(), None));
    assert_eq!(names(), before, "row {number}: verifying writes nothing");
    match verdict {
        Some(verdict) => assert_eq!(found.unwrap().verdict, verdict, "row {number}"),
        None => assert!(matches!(found, Err(AuditError::Io { .. })), "row {number}: {found:?}"),
    }

    let opened = Audit::open(&path, key(), clock(), Options::default());
    match opening {
        Opens(kind, data) => {
            drop(opened.unwrap_or_else(|error| panic!("row {number}: {error}")));
            let last = entries(&fs::read(&path).unwrap()).pop().unwrap();
            assert_eq!((&last["kind"], &last["data"]), (&json!(kind), &data), "row {number}");
            assert_eq!(verify_file(&path, &key(), None).unwrap().verdict, LogVerdict::Sound, "row {number}");
            let kept: Vec<u8> = data["kept"]
                .as_array()
                .into_iter()
                .flatten()
                .flat_map(|name| fs::read(folder.path().join(name.as_str().unwrap())).unwrap())
                .collect();
            let end = data["bytes"].as_u64().unwrap_or(0) as usize;
            assert_eq!(kept, log.map_or(&[][..], |log| &log[log.len() - end..]), "row {number}");
        }
        Refuses | Gone => {
            let is_gone = matches!(opening, Gone);
            match opened.unwrap_err() {
                AuditError::Gone(_) => assert!(is_gone, "row {number}"),
                AuditError::NotSound(_) => assert!(!is_gone, "row {number}"),
                other => panic!("row {number}: {other}"),
            }
            assert_eq!(names(), before, "row {number}");
            assert_eq!(fs::read(&path).ok().as_deref(), log, "row {number}");
            assert_eq!(fs::read(head_path(&path)).ok().as_deref(), head, "row {number}");
        }
    }
}
