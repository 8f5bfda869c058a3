//! Log files: locks, permissions, missing files, and many writers.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use omen_audit::store::head_path;
use omen_audit::{LogVerdict, verify_file};
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
    assert_eq!((found.verdict, found.entries), (LogVerdict::Sound, 6));
    let kinds: Vec<Value> = entries(&fs::read(&path).unwrap()).into_iter().map(|entry| entry["kind"].clone()).collect();
    assert_eq!(kinds, ["opened", "decision", "opened", "decision", "opened", "decision"]);
    let names: BTreeSet<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["audit.jsonl", "audit.jsonl.head"].map(Into::into).into());
}

#[test]
fn a_log_that_is_closed_can_be_opened_although_clones_of_it_live() {
    let folder = folder();
    let path = folder.path().join("audit.jsonl");
    let audit = open_at(&path).unwrap();
    let clone = audit.clone();
    assert_eq!(record(&audit, 0).unwrap(), 2);
    assert!(matches!(open_at(&path), Err(AuditError::InUse(_))));
    audit.close();
    assert_eq!(record(&open_at(&path).unwrap(), 1).unwrap(), 4);
    assert!(matches!(record(&clone, 2), Err(AuditError::Broken)));
    assert_eq!(verify_file(&path, &key(), None).unwrap().entries, 4);
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
    // Longer than the entry that replaces it, so that the file must shrink.
    let torn = format!("{{\"data\":{{\"x\":\"{}", "x".repeat(1000));
    let mut file = fs::File::options().append(true).open(&path).unwrap();
    std::io::Write::write_all(&mut file, torn.as_bytes()).unwrap();
    drop(file);
    let found = verify_file(&path, &key(), None).unwrap();
    assert_eq!(found.verdict, LogVerdict::Incomplete { entries: 0, bytes: torn.len() as u64 });
    drop(open_at(&path).unwrap());
    assert_eq!(verify_file(&path, &key(), None).unwrap().verdict, LogVerdict::Sound);
    let entries = entries(&fs::read(&path).unwrap());
    assert_eq!((entries.len(), &entries[1]["kind"]), (2, &json!("repaired")));
    let kept = format!("audit.jsonl.torn-{}", found.bytes);
    assert_eq!(entries[1]["data"], json!({ "entries": 0, "bytes": torn.len(), "kept": [kept] }));
    assert_eq!(fs::read_to_string(folder.path().join(kept)).unwrap(), torn);
}

/// D57: nothing is deleted, and nothing that was kept is overwritten.
#[test]
fn what_is_cut_off_is_kept_beside_the_log() {
    let folder = folder();
    let path = folder.path().join("audit.jsonl");
    drop(open_at(&path).unwrap());
    let offset = fs::read(&path).unwrap().len();
    // A file of that name exists already; and a dangling link is not followed.
    let [first, second, third] =
        ["", ".2", ".3"].map(|again| folder.path().join(format!("audit.jsonl.torn-{offset}{again}")));
    fs::write(&first, "mine").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder.path().join("elsewhere"), &second).unwrap();
    #[cfg(not(unix))]
    fs::write(&second, "mine, too").unwrap();
    let torn = b"{\"data\":{\"n\":";
    let log = [&fs::read(&path).unwrap()[..], torn].concat();
    fs::write(&path, log).unwrap();
    drop(open_at(&path).unwrap());
    assert_eq!((fs::read(&first).unwrap(), fs::read(&third).unwrap()), (b"mine".to_vec(), torn.to_vec()));
    assert!(!folder.path().join("elsewhere").exists());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(&third).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let last = entries(&fs::read(&path).unwrap()).pop().unwrap();
    let names = [&first, &second, &third].map(|path| path.file_name().unwrap().to_str().unwrap().to_owned());
    assert_eq!(last["data"], json!({ "entries": 0, "bytes": torn.len(), "kept": names }));
    assert_eq!(verify_file(&path, &key(), None).unwrap().verdict, LogVerdict::Sound);
}

/// The process dies between keeping and cutting, or between cutting and recording.
#[test]
fn a_repair_that_stopped_midway_is_recorded_by_the_next() {
    for is_cut in [false, true] {
        let folder = folder();
        let path = folder.path().join("audit.jsonl");
        drop(open_at(&path).unwrap());
        let log = fs::read(&path).unwrap();
        let torn = b"{\"data\":{}";
        let first = format!("audit.jsonl.torn-{}", log.len());
        fs::write(folder.path().join(&first), torn).unwrap();
        if !is_cut {
            fs::write(&path, [&log[..], torn].concat()).unwrap();
        }
        drop(open_at(&path).unwrap());
        let last = entries(&fs::read(&path).unwrap()).pop().unwrap();
        let kept = if is_cut { vec![first.clone()] } else { vec![first.clone(), format!("{first}.2")] };
        let bytes = if is_cut { 0 } else { torn.len() };
        assert_eq!(
            (&last["kind"], &last["data"]),
            (&json!("repaired"), &json!({ "entries": 0, "bytes": bytes, "kept": kept }))
        );
        // It is recorded once.
        drop(open_at(&path).unwrap());
        assert_eq!(entries(&fs::read(&path).unwrap()).pop().unwrap()["kind"], "opened");
    }
}

/// Bytes that cannot be kept are not cut off.
#[test]
#[cfg(unix)]
fn a_log_whose_torn_line_cannot_be_kept_stays_as_it_is() {
    // The folder has room for the log's name and for its temporary head record, but for no longer name.
    let folder = folder();
    let path = folder.path().join("l".repeat(255 - ".head.new".len()));
    let tear = || {
        let log = [&fs::read(&path).unwrap()[..], b"{\"data\":{}"].concat();
        fs::write(&path, &log).unwrap();
        log
    };
    drop(open_at(&path).unwrap());
    // An offset of three digits just fits.
    assert!((100..1000).contains(&fs::metadata(&path).unwrap().len()));
    tear();
    let audit = open_at(&path).unwrap();
    (0..10).for_each(|n| assert!(record(&audit, n).is_ok()));
    drop(audit);
    assert!(fs::metadata(&path).unwrap().len() >= 1000);
    let log = tear();
    assert!(matches!(open_at(&path), Err(AuditError::Store(_))));
    assert_eq!(fs::read(&path).unwrap(), log);
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
    assert_eq!((found.verdict, found.entries), (LogVerdict::Sound, 1 + writers * each));
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
    assert!(matches!(verify_file(&path, &key(), None).unwrap().verdict, LogVerdict::Tampered(_)));
    assert!(matches!(open_at(&path), Err(AuditError::NotSound(_))));
    assert!(!head_path(&path).exists());

    fs::write(head_path(&path), head).unwrap();
    fs::remove_file(&path).unwrap();
    let verdict = verify_file(&path, &key(), Some(&anchor)).unwrap().verdict;
    assert_eq!(verdict, LogVerdict::Truncated { have: 0, want: 2 });
    assert!(matches!(open_at(&path), Err(AuditError::Gone(_))));
    assert!(!path.exists(), "no empty log takes its place");

    fs::write(&path, log).unwrap();
    assert_eq!(verify_file(&path, &key(), Some(&anchor)).unwrap().verdict, LogVerdict::Sound);
    let missing = folder.path().join("missing.jsonl");
    assert!(matches!(verify_file(missing, &key(), None), Err(AuditError::Io { .. })));
}

/// Recorded entries must be found under the log's name, and nothing may be recorded for a gate whose log now belongs to
/// another gate.
#[test]
fn a_log_that_was_removed_or_replaced_while_in_use_records_nothing_more() {
    type Attack = fn(&Path);
    let attacks: [(&str, Attack); 6] = [
        ("removed with its head", |log| {
            fs::remove_file(log).unwrap();
            fs::remove_file(head_path(log)).unwrap();
        }),
        ("removed", |log| fs::remove_file(log).unwrap()),
        ("its head removed", |log| fs::remove_file(head_path(log)).unwrap()),
        ("moved", |log| fs::rename(log, log.with_extension("old")).unwrap()),
        ("replaced by a copy", |log| {
            let copy = log.with_extension("copy");
            fs::copy(log, &copy).unwrap();
            fs::rename(copy, log).unwrap();
        }),
        ("its head replaced by a copy", |log| {
            let copy = log.with_extension("copy");
            fs::copy(head_path(log), &copy).unwrap();
            fs::rename(copy, head_path(log)).unwrap();
        }),
    ];
    for (name, attack) in attacks {
        let folder = folder();
        let path = folder.path().join("audit.jsonl");
        let audit = open_at(&path).unwrap();
        record(&audit, 1).unwrap();
        let written = fs::read(&path).unwrap();
        attack(&path);
        let error = record(&audit, 2).expect_err(name);
        assert!(matches!(error, AuditError::Misplaced(_)), "{name}: {error}");
        assert!(error.to_string().contains("was removed, moved or replaced"), "{name}: {error}");
        assert!(matches!(record(&audit, 3), Err(AuditError::Broken)), "{name}");
        // Nothing was written to the current file, nor to the previous one.
        for entry in fs::read_dir(&folder).unwrap() {
            let file = entry.unwrap().path();
            if file.extension().is_none_or(|extension| extension != "head" && extension != "copy") {
                assert_eq!(fs::read(&file).unwrap(), written, "{name}: {}", file.display());
            }
        }
    }
}

/// Two gates on one log: the second begins with a copy, so the first must not continue.
#[test]
fn two_writers_never_both_record_under_one_name() {
    let folder = folder();
    let path = folder.path().join("audit.jsonl");
    let first = open_at(&path).unwrap();
    record(&first, 1).unwrap();
    let copy = folder.path().join("copy");
    fs::copy(&path, &copy).unwrap();
    fs::rename(&copy, &path).unwrap();
    let second = open_at(&path).unwrap();
    assert!(record(&second, 2).is_ok());
    assert!(matches!(record(&first, 2), Err(AuditError::Misplaced(_))));
    drop(first);
    assert!(record(&second, 3).is_ok());
    drop(second);
    assert_eq!(verify_file(&path, &key(), None).unwrap().verdict, LogVerdict::Sound);
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

/// Remains of a crash during the creation of the first head record are no obstacle.
#[test]
fn a_log_is_begun_after_a_crash_at_its_beginning() {
    let folder = folder();
    let path = folder.path().join("audit.jsonl");
    fs::write(folder.path().join("audit.jsonl.new"), "").unwrap();
    fs::write(folder.path().join("audit.jsonl.head.new"), "half").unwrap();
    drop(open_at(&path).unwrap());
    assert_eq!(verify_file(&path, &key(), None).unwrap().entries, 1);
    let names: BTreeSet<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["audit.jsonl", "audit.jsonl.head"].map(Into::into).into());
}

/// The temporary file of a new log is empty. A file with content is neither made a log nor removed.
#[test]
fn a_log_is_not_begun_over_something_else() {
    let folder = folder();
    let path = folder.path().join("audit.jsonl");
    fs::write(folder.path().join("audit.jsonl.new"), "mine").unwrap();
    let error = open_at(&path).unwrap_err();
    assert!(error.to_string().contains("audit.jsonl.new` is not empty, so a new log cannot start there"), "{error}");
    assert_eq!(fs::read_to_string(folder.path().join("audit.jsonl.new")).unwrap(), "mine");
    assert!(!path.exists());
}

/// The first process begins the log; no log or head record is replaced by another process's.
#[test]
fn many_begin_one_log_and_one_succeeds() {
    for _ in 0..40 {
        let folder = folder();
        let path = folder.path().join("audit.jsonl");
        let opened: u64 = std::thread::scope(|scope| {
            let open = || match open_at(&path) {
                Ok(audit) => record(&audit, 0).map(|_| 1).unwrap(),
                Err(AuditError::InUse(_)) => 0,
                Err(error) => panic!("{error}"),
            };
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        let found = verify_file(&path, &key(), None).unwrap();
        assert_eq!((found.verdict, found.entries), (LogVerdict::Sound, 2 * opened));
        assert!(opened > 0 && !folder.path().join("audit.jsonl.new").exists());
    }
}

/// A pipe has no end, and opening it would block until its other end is opened.
#[test]
#[cfg(unix)]
fn a_log_is_a_regular_file() {
    let folder = folder();
    for name in ["audit.jsonl", "audit.jsonl.head", "audit.jsonl.new"] {
        let pipe = folder.path().join(name);
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let path = folder.path().join("audit.jsonl");
        let error = open_at(&path).unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("expected a regular file, found a pipe: write its content to a file, and pass that file"),
            "{error}"
        );
        assert!(name.ends_with(".new") || matches!(verify_file(&path, &key(), None), Err(AuditError::Io { .. })));
        fs::remove_file(pipe).unwrap();
        let _ = fs::remove_file(head_path(&path));
    }
    for path in ["/dev/zero", "/dev/null"] {
        assert!(matches!(verify_file(path, &key(), None), Err(AuditError::Io { .. })), "{path}");
        assert!(matches!(Key::from_file(path), Err(omen_audit::KeyError::NotFile(_))), "{path}");
    }
}
