//! Files: locks, rights, what is missing, and many writers.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use omen_gate::audit::store::head_path;
use omen_gate::audit::{Verdict, verify_file};
use tempfile::TempDir;

use super::*;

fn folder() -> TempDir {
    TempDir::new().unwrap()
}

fn open_at(path: &Path) -> Result<Audit, AuditError> {
    Audit::open(path, key(), clock(), Options::default())
}

#[test]
fn a_log_is_written_opened_again_and_sound() {
    let folder = folder();
    let path = folder.path().join("audit.jsonl");
    for round in 0..3 {
        let audit = open_at(&path).unwrap();
        assert_eq!(record(&audit, round).unwrap(), 2 * round + 2);
    }
    let found = verify_file(&path, &key(), None).unwrap();
    assert_eq!((found.verdict, found.entries), (Verdict::Sound, 6));
    let kinds: Vec<Value> = entries(&fs::read(&path).unwrap()).into_iter().map(|entry| entry["kind"].clone()).collect();
    assert_eq!(kinds, ["opened", "decision", "opened", "decision", "opened", "decision"]);
    let names: BTreeSet<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["audit.jsonl", "audit.jsonl.head"].map(Into::into).into());
}

#[test]
fn files_and_memory_hold_the_same() {
    let folder = folder();
    let path = folder.path().join("audit.jsonl");
    let audit = open_at(&path).unwrap();
    (2..=9).for_each(|n| assert_eq!(record(&audit, n).unwrap(), n));
    drop(audit);
    let written = written(9);
    assert_eq!(fs::read(&path).unwrap(), written.log);
    assert_eq!(fs::read(head_path(&path)).unwrap(), written.head);
}

#[test]
fn a_torn_line_is_cut_off_and_recorded() {
    let folder = folder();
    let path = folder.path().join("audit.jsonl");
    drop(open_at(&path).unwrap());
    // Longer than the entry that takes its place, so that the file must become shorter.
    let torn = format!("{{\"data\":{{\"x\":\"{}", "x".repeat(1000));
    let mut file = fs::File::options().append(true).open(&path).unwrap();
    std::io::Write::write_all(&mut file, torn.as_bytes()).unwrap();
    drop(file);
    let found = verify_file(&path, &key(), None).unwrap();
    assert_eq!(found.verdict, Verdict::Incomplete { entries: 0, bytes: torn.len() as u64 });
    drop(open_at(&path).unwrap());
    assert_eq!(verify_file(&path, &key(), None).unwrap().verdict, Verdict::Sound);
    let entries = entries(&fs::read(&path).unwrap());
    assert_eq!((entries.len(), &entries[1]["kind"]), (2, &json!("mended")));
    assert_eq!(entries[1]["data"], json!({ "entries": 0, "bytes": torn.len() }));
}

#[test]
fn an_open_log_is_not_opened_again() {
    let folder = folder();
    let path = folder.path().join("audit.jsonl");
    let audit = open_at(&path).unwrap();
    let before = fs::read(&path).unwrap();
    assert!(matches!(open_at(&path), Err(AuditError::InUse(_))));
    assert!(matches!(verify_file(&path, &key(), None), Err(AuditError::InUse(_))));
    assert_eq!(fs::read(&path).unwrap(), before);
    // A clone keeps it open.
    let clone = audit.clone();
    drop(audit);
    assert!(matches!(open_at(&path), Err(AuditError::InUse(_))));
    assert_eq!(record(&clone, 0).unwrap(), 2);
    drop(clone);
    assert_eq!(verify_file(&path, &key(), None).unwrap().entries, 2);
    drop(open_at(&path).unwrap());
}

/// A log in use names its help, and what a caller blocks with.
#[test]
fn an_error_is_a_refusal_by_a1() {
    let blocked = omen_gate::Blocked::from(AuditError::Broken);
    assert_eq!(blocked.code, omen_gate::Code::A1);
    assert!(blocked.message.contains("could not be written") && blocked.help.contains("open the log again"));
}

#[test]
fn many_writers_share_one_log() {
    let folder = folder();
    let path = folder.path().join("audit.jsonl");
    let (writers, each) = (32_u64, 20_u64);
    let audit = open_at(&path).unwrap();
    let mut receipts = Vec::new();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..writers)
            .map(|writer| {
                let audit = audit.clone();
                scope.spawn(move || {
                    let turn = TurnId::new(format!("turn_{writer}")).unwrap();
                    let append = |n| {
                        let data = object(json!({ "n": n }));
                        audit.append(Record::new(Kind::Outcome, &turn, data)).unwrap()
                    };
                    (0..each).map(append).collect::<Vec<_>>()
                })
            })
            .collect();
        for (writer, thread) in threads.into_iter().enumerate() {
            receipts.extend(thread.join().unwrap().into_iter().zip(0..each).map(|(receipt, n)| (receipt, writer, n)));
        }
    });
    drop(audit);

    let found = verify_file(&path, &key(), None).unwrap();
    assert_eq!((found.verdict, found.entries), (Verdict::Sound, 1 + writers * each));
    let entries = entries(&fs::read(&path).unwrap());
    let sequences: BTreeSet<u64> = receipts.iter().map(|(receipt, ..)| receipt.sequence).collect();
    assert_eq!(sequences, (2..=1 + writers * each).collect());
    for (receipt, writer, n) in receipts {
        let entry = &entries[receipt.sequence as usize - 1];
        assert_eq!((&entry["turn"], &entry["data"]["n"]), (&json!(format!("turn_{writer}")), &json!(n)));
        assert_eq!(entry["mac"], json!(receipt.mac.to_string()));
    }
}

#[test]
fn what_is_gone_is_missed() {
    let folder = folder();
    let path = folder.path().join("audit.jsonl");
    let audit = open_at(&path).unwrap();
    record(&audit, 0).unwrap();
    let anchor = audit.anchor().unwrap();
    drop(audit);
    let (log, head) = (fs::read(&path).unwrap(), fs::read(head_path(&path)).unwrap());

    fs::remove_file(head_path(&path)).unwrap();
    assert!(matches!(verify_file(&path, &key(), None).unwrap().verdict, Verdict::Tampered(_)));
    assert!(matches!(open_at(&path), Err(AuditError::NotSound(_))));
    assert!(!head_path(&path).exists());

    fs::write(head_path(&path), head).unwrap();
    fs::remove_file(&path).unwrap();
    let verdict = verify_file(&path, &key(), Some(&anchor)).unwrap().verdict;
    assert_eq!(verdict, Verdict::Truncated { have: 0, want: 2 });
    assert!(matches!(open_at(&path), Err(AuditError::Gone(_))));
    assert!(!path.exists(), "no empty log takes its place");

    fs::write(&path, log).unwrap();
    assert_eq!(verify_file(&path, &key(), Some(&anchor)).unwrap().verdict, Verdict::Sound);
    let missing = folder.path().join("missing.jsonl");
    assert!(matches!(verify_file(missing, &key(), None), Err(AuditError::Io { .. })));
}

#[test]
fn a_folder_is_no_log() {
    let folder = folder();
    assert!(matches!(open_at(folder.path()), Err(AuditError::Io { .. })));
    assert!(matches!(verify_file(folder.path(), &key(), None), Err(AuditError::Io { .. })));
}

#[test]
#[cfg(unix)]
fn only_the_owner_has_rights() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = folder();
    let path = folder.path().join("audit.jsonl");
    drop(open_at(&path).unwrap());
    for path in [head_path(&path), path] {
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

/// What a crash while the first head record is made leaves does not stand in the way.
#[test]
fn a_log_is_begun_after_a_crash_at_its_beginning() {
    let folder = folder();
    let path = folder.path().join("audit.jsonl");
    fs::write(&path, "").unwrap();
    fs::write(folder.path().join("audit.jsonl.head.new"), "half").unwrap();
    let verdict = verify_file(&path, &key(), None).unwrap().verdict;
    assert_eq!(verdict, Verdict::Incomplete { entries: 0, bytes: 0 });
    drop(open_at(&path).unwrap());
    assert_eq!(verify_file(&path, &key(), None).unwrap().entries, 1);
}
