//! Logs in several files: the link is sealed, a crash at any point is repaired, and no missing file is overlooked (A1,
//! A3).

use std::fs;
use std::io::{self, Read};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use omen_audit::store::{head_path, numbered};
use omen_audit::{
    LogVerdict, LogVerification, Misfit, Tampering, verify_file, verify_files, verify_folder, verify_log,
};
use omen_testkit::proofs::Proofs;
use tempfile::TempDir;

use super::crash::Mortal;
use super::*;

fn options(rotate_bytes: u64) -> Options {
    Options { rotate_bytes: NonZeroU64::new(rotate_bytes), ..Options::default() }
}

/// Writes a log in a folder until it has `files` files.
fn in_files(folder: &Path, files: u32) -> PathBuf {
    in_files_with(folder, files, key())
}

fn in_files_with(folder: &Path, files: u32, key: Key) -> PathBuf {
    let log = folder.join("audit.jsonl");
    let audit = Audit::open(&log, key, clock(), options(1000)).unwrap();
    for n in 0.. {
        if numbered(&log, files).exists() && n % 3 == 0 {
            break;
        }
        let _ = record(&audit, n).unwrap();
    }
    log
}

fn verified(log: &Path) -> LogVerification {
    verify_log(log, &key(), None).unwrap()
}

#[track_caller]
fn sound(log: &Path) -> LogVerification {
    let found = verified(log);
    assert!(found.is_sound(), "{found:#?}");
    found
}

#[test]
fn a_log_goes_on_in_another_file() {
    let folder = TempDir::new().unwrap();
    let log = in_files(folder.path(), 3);
    let found = sound(&log);
    assert_eq!(found.files.len(), 3);
    let mut count = 0;
    for (number, file) in (1..).zip(&found.files) {
        assert_eq!(file.path, numbered(&log, number));
        assert_eq!((file.found.before, verify_file(&file.path, &key(), None).unwrap()), (count, file.found.clone()));
        let entries = entries(&fs::read(&file.path).unwrap());
        let before = count;
        for entry in &entries {
            count += 1;
            assert_eq!(entry["sequence"], count, "numbers go on");
        }
        assert_eq!(file.found.entries, count);
        if number > 1 {
            let last = &super::entries(&fs::read(numbered(&log, number - 1)).unwrap()).pop().unwrap();
            assert_eq!((&last["kind"], &last["data"]), (&json!("rotated"), &json!({ "file": number })));
            let seam = json!({ "file": number, "count": before, "last": last["mac"] });
            assert_eq!((&entries[0]["kind"], &entries[0]["data"]), (&json!("continued"), &seam));
        }
    }
    assert_eq!(found.entries(), count);
    // A gate that starts continues the last one.
    let audit = Audit::open(&log, key(), clock(), options(1_000_000)).unwrap();
    assert_eq!(record(&audit, 0).unwrap(), count + 2);
    drop(audit);
    assert_eq!(sound(&log).entries(), count + 2);
    assert_eq!(sound(&log).files.len(), 3);
}

#[test]
fn a_file_that_is_old_is_continued() {
    let clock = Arc::new(ManualClock::new(SystemTime::UNIX_EPOCH + START));
    let memory = Memory::default();
    let day = Duration::from_secs(86_400);
    let options = Options { rotate_after: Some(day), ..Options::default() };
    let audit = Audit::over(memory.clone(), key(), clock.clone(), options.clone()).unwrap();
    let _ = record(&audit, 1).unwrap();
    clock.advance(day - Duration::from_millis(1));
    let _ = record(&audit, 2).unwrap();
    assert!(memory.following().is_none());
    clock.advance(Duration::from_millis(1));
    let _ = record(&audit, 3).unwrap();
    let second = memory.following().unwrap();
    assert_eq!(entries(&second.bytes()).len(), 2);
    drop(audit);
    // The age of the file survives a restart.
    clock.advance(day);
    let audit = Audit::over(memory, key(), clock, options).unwrap();
    let _ = record(&audit, 4).unwrap();
    assert!(second.following().is_some());
}

/// A log on a medium with one file cannot rotate; then nothing more is recorded.
#[test]
fn a_store_of_one_file_does_not_rotate() {
    let memory = Memory::default();
    let store = Mortal { memory, steps: u64::MAX };
    let audit = Audit::over(store, key(), clock(), options(1)).unwrap();
    let _ = record(&audit, 1).unwrap();
    let error = record(&audit, 2).unwrap_err();
    assert!(matches!(&error, AuditError::Store(error) if error.kind() == io::ErrorKind::Unsupported), "{error}");
    assert!(matches!(record(&audit, 3), Err(AuditError::Broken)));
}

/// Medium with several files that fails after some steps.
#[derive(Debug)]
struct Fragile {
    memory: Memory,
    steps: Arc<AtomicU64>,
}

impl Fragile {
    fn with<T>(&self, act: impl FnOnce(&mut Mortal) -> io::Result<T>) -> io::Result<T> {
        let mut mortal = Mortal { memory: self.memory.clone(), steps: self.steps.load(Ordering::SeqCst) };
        let result = act(&mut mortal);
        self.steps.store(mortal.steps, Ordering::SeqCst);
        result
    }
}

impl Store for Fragile {
    fn log(&mut self) -> io::Result<Option<Box<dyn Read + '_>>> {
        self.memory.log()
    }

    fn head(&mut self) -> io::Result<Option<Vec<u8>>> {
        self.memory.head()
    }

    fn append(&mut self, offset: u64, lines: &[u8]) -> io::Result<()> {
        self.with(|mortal| mortal.append(offset, lines))
    }

    fn set_aside(&mut self, offset: u64) -> io::Result<()> {
        self.with(|mortal| mortal.set_aside(offset))
    }

    fn kept(&mut self, offset: u64) -> io::Result<Vec<String>> {
        self.memory.kept(offset)
    }

    fn set_head(&mut self, head: &[u8]) -> io::Result<()> {
        self.with(|mortal| mortal.set_head(head))
    }

    fn replace_head(&mut self, head: &[u8]) -> io::Result<()> {
        self.with(|mortal| mortal.replace_head(head))
    }

    fn has_next(&mut self) -> io::Result<bool> {
        self.memory.has_next()
    }

    fn next(&mut self) -> io::Result<Box<dyn Store>> {
        let _ = self.memory.next()?;
        Ok(Box::new(Self { memory: self.memory.following().unwrap(), steps: Arc::clone(&self.steps) }))
    }
}

/// Opens the log and writes until the store dies or `entries` are written; returns the acknowledged numbers.
fn live(memory: &Memory, steps: u64, entries: u64) -> (Vec<u64>, bool) {
    let steps = Arc::new(AtomicU64::new(steps));
    let store = Fragile { memory: memory.clone(), steps };
    let mut acknowledged = Vec::new();
    let audit = match Audit::over(store, key(), clock(), options(500)) {
        Ok(audit) => audit,
        Err(AuditError::Store(_)) => return (acknowledged, false),
        Err(error) => panic!("{error}"),
    };
    for n in 0..entries {
        match record(&audit, n) {
            Ok(sequence) => acknowledged.push(sequence),
            Err(error) => {
                assert!(matches!(error, AuditError::Store(_)), "{error}");
                return (acknowledged, false);
            }
        }
    }
    (acknowledged, true)
}

/// Entries of a log in memory; each file is verified from the link in its first entry.
fn all(memory: &Memory) -> Vec<Value> {
    let (mut files, mut file) = (Vec::new(), Some(memory.clone()));
    while let Some(memory) = file {
        let found = judge(&memory.bytes(), memory.head_bytes().as_deref());
        assert_eq!(found.verdict, LogVerdict::Sound, "file {}", files.len() + 1);
        files.extend(entries(&memory.bytes()));
        file = memory.following().filter(|next| next.head_bytes().is_some());
    }
    for (entry, sequence) in files.iter().zip(1..) {
        assert_eq!(entry["sequence"], sequence);
    }
    files
}

/// Copies a log with all its files.
fn copy(memory: &Memory) -> Memory {
    let mut source = memory.clone();
    let copy = match source.log().unwrap() {
        Some(_) => Memory::new(memory.bytes(), memory.head_bytes()),
        None => {
            let mut copy = Memory::default();
            memory.head_bytes().into_iter().for_each(|head| copy.replace_head(&head).unwrap());
            copy
        }
    };
    if let Some(next) = memory.following() {
        let _ = copy.clone().next().unwrap();
        overwrite(&copy.following().unwrap(), &next);
    }
    copy
}

fn overwrite(to: &Memory, from: &Memory) {
    let (mut to, mut from) = (to.clone(), from.clone());
    if from.log().unwrap().is_some() {
        to.append(0, &from.bytes()).unwrap();
    }
    from.head_bytes().into_iter().for_each(|head| to.replace_head(&head).unwrap());
    if let Some(next) = from.following() {
        let _ = to.next().unwrap();
        overwrite(&to.following().unwrap(), &next);
    }
}

/// Opens the log after the crash: no acknowledged entry is missing in any file.
#[track_caller]
fn check(memory: &Memory, acknowledged: &[u64]) {
    let (more, lived) = live(memory, u64::MAX, 3);
    assert!(lived);
    let all = all(memory);
    for sequence in acknowledged.iter().chain(&more) {
        assert_eq!(all[*sequence as usize - 1]["kind"], "decision");
    }
}

/// Six entries in files of 500 bytes take several rotations. By default, every ninth byte is tried.
#[test]
fn a_crash_at_any_byte_of_a_rotation_is_repaired() {
    let mut rotated = 0;
    for steps in (0..).step_by(Proofs::wanted().choose(9, 1)) {
        let memory = Memory::default();
        let (acknowledged, lived) = live(&memory, steps, 6);
        rotated = std::iter::successors(Some(memory.clone()), Memory::following).count();
        check(&memory, &acknowledged);
        if lived {
            break;
        }
    }
    assert!(rotated > 2, "{rotated}");
}

/// The second run crashes, too, while it repairs the remains of the first.
#[test]
fn a_crash_while_a_rotation_is_finished_is_repaired() {
    let mut interrupted = 0;
    for first in (0..5000).step_by(Proofs::wanted().choose(101, 23)) {
        let left = Memory::default();
        let (acknowledged, lived) = live(&left, first, 6);
        for second in [0, 1, 2, 3, 4, 5, 6, 50, 200, 300, 500, 800, 1000, 1300] {
            let memory = copy(&left);
            let (more, _) = live(&memory, second, 1);
            interrupted += 1;
            check(&memory, &[acknowledged.clone(), more].concat());
        }
        if lived {
            break;
        }
    }
    assert!(interrupted > Proofs::wanted().choose(100, 500), "{interrupted}");
}

/// Paths of the misfits, by variant.
fn misfits(found: &LogVerification) -> Vec<String> {
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    let sort = |misfit: &Misfit| match misfit {
        Misfit::Missing { path } => format!("missing {}", name(path)),
        Misfit::Misplaced { path, belongs, is_repeated: false } => format!("swapped {} {}", name(path), name(belongs)),
        Misfit::Misplaced { path, belongs, is_repeated: true } => format!("repeated {} {}", name(path), name(belongs)),
        Misfit::Foreign { path } => format!("foreign {}", name(path)),
        Misfit::Seam { path, .. } => format!("seam {}", name(path)),
        other => format!("{other:?}"),
    };
    found.misfits.iter().map(sort).collect()
}

/// Modifies the folder of a log of five files, and returns the misfits.
#[track_caller]
fn after(act: impl FnOnce(&Path, &dyn Fn(u32) -> PathBuf)) -> Vec<String> {
    let folder = TempDir::new().unwrap();
    let log = in_files(folder.path(), 5);
    act(folder.path(), &|number| numbered(&log, number));
    let found = verify_folder(folder.path(), &key(), None).unwrap();
    assert!(!found.is_sound(), "{found:#?}");
    let names = misfits(&found);
    let mut by_log = misfits(&verified(&log));
    by_log.retain(|name| !name.starts_with("foreign"));
    let own: Vec<_> = names.iter().filter(|name| !name.starts_with("foreign")).cloned().collect();
    assert_eq!(by_log, own, "the same by the name of the log");
    // A gate does not start on it, either.
    if !own.is_empty() {
        let opened = Audit::open(&log, key(), clock(), options(1000));
        assert!(opened.is_err(), "{own:?}");
    }
    names
}

fn name(number: u32) -> String {
    numbered(Path::new("audit.jsonl"), number).to_string_lossy().into_owned()
}

fn with_heads(files: [PathBuf; 2], act: impl Fn(&Path, &Path)) {
    let [from, to] = files;
    act(&from, &to);
    act(&head_path(&from), &head_path(&to));
}

fn swap(a: &Path, b: &Path) {
    let of_a = fs::read(a).unwrap();
    fs::copy(b, a).unwrap();
    fs::write(b, of_a).unwrap();
}

fn copy_file(from: &Path, to: &Path) {
    fs::copy(from, to).unwrap();
}

#[test]
fn every_missing_file_is_named() {
    for number in 1..=5 {
        let found = after(|_, path| {
            fs::remove_file(path(number)).unwrap();
            fs::remove_file(head_path(path(number))).unwrap();
        });
        assert_eq!(found, [format!("missing {}", name(number))]);
        let found = after(|_, path| fs::remove_file(path(number)).unwrap());
        assert_eq!(found, [format!("missing {}", name(number))], "its head record exists");
    }
    let found = after(|_, path| {
        for number in [2, 3] {
            fs::remove_file(path(number)).unwrap();
            fs::remove_file(head_path(path(number))).unwrap();
        }
    });
    assert_eq!(found, [format!("missing {}", name(2)), format!("missing {}", name(3))]);
}

#[test]
fn every_swapped_file_is_named() {
    for (a, b) in [(1, 2), (1, 5), (2, 3), (2, 4), (4, 5)] {
        let found = after(|_, path| with_heads([path(a), path(b)], swap));
        assert_eq!(
            found,
            [format!("swapped {} {}", name(a), name(b)), format!("swapped {} {}", name(b), name(a))],
            "{a} {b}"
        );
        let found = after(|_, path| swap(&path(a), &path(b)));
        assert_eq!(found.len(), 2, "without their head records: {found:?}");
    }
}

#[test]
fn every_repeated_file_is_named() {
    for (from, to) in [(1, 2), (2, 1), (2, 3), (3, 2), (1, 5), (5, 1), (5, 4)] {
        let found = after(|_, path| with_heads([path(from), path(to)], copy_file));
        assert_eq!(found, [format!("repeated {} {}", name(to), name(from))]);
    }
    // As an additional file.
    for (from, to) in [(1, 6), (3, 6), (5, 6)] {
        let found = after(|_, path| with_heads([path(from), path(to)], copy_file));
        assert!(found.contains(&format!("repeated {} {}", name(to), name(from))), "{found:?}");
    }
    let found = after(|folder, path| copy_file(&path(3), &folder.join("copy.jsonl")));
    assert_eq!(found, ["foreign copy.jsonl"]);
}

#[test]
fn every_foreign_file_is_named() {
    let other = || Key::from_bytes(b"another key, of 32 bytes or more").unwrap();
    for number in 1..=5 {
        // From another log with another key.
        let elsewhere = TempDir::new().unwrap();
        let foreign = in_files_with(elsewhere.path(), 5, other());
        let found = after(|_, path| with_heads([numbered(&foreign, number), path(number)], copy_file));
        assert_eq!(found, [format!("foreign {}", name(number))]);
    }
    // From a separate log.
    let elsewhere = TempDir::new().unwrap();
    let foreign = in_files_with(elsewhere.path(), 1, other());
    let found = after(|folder, _| with_heads([foreign.clone(), folder.join("other.jsonl")], copy_file));
    assert_eq!(found, ["foreign other.jsonl"]);
}

/// A log with the same key: its file matches neither its predecessor nor its successor.
#[test]
fn a_file_of_another_log_with_the_same_key_is_named() {
    for number in 2..=5 {
        let elsewhere = TempDir::new().unwrap();
        let foreign = elsewhere.path().join("audit.jsonl");
        let audit = Audit::open(&foreign, key(), clock(), options(1000)).unwrap();
        let turn = turn();
        while !numbered(&foreign, number).exists() {
            let data = object(json!({ "other": "x".repeat(300) }));
            let _ = audit.append(Record::new(Kind::Decision, &turn, data)).unwrap();
        }
        drop(audit);
        let found = after(|_, path| with_heads([numbered(&foreign, number), path(number)], copy_file));
        assert!(found.contains(&format!("seam {}", name(number))), "{number}: {found:?}");
    }
}

/// A file that was set back to its state before it was continued.
#[test]
fn a_file_that_was_set_back_is_found() {
    let folder = TempDir::new().unwrap();
    let log = folder.path().join("audit.jsonl");
    let audit = Audit::open(&log, key(), clock(), options(1000)).unwrap();
    let _ = record(&audit, 1).unwrap();
    let old = [fs::read(&log).unwrap(), fs::read(head_path(&log)).unwrap()];
    while !numbered(&log, 2).exists() {
        let _ = record(&audit, 2).unwrap();
    }
    let closed = fs::read(&log).unwrap();
    drop(audit);
    fs::write(&log, &old[0]).unwrap();
    fs::write(head_path(&log), &old[1]).unwrap();
    assert_eq!(misfits(&verified(&log)), [format!("seam {}", name(2))]);
    let error = Audit::open(&log, key(), clock(), options(1000)).unwrap_err();
    assert!(
        matches!(&error, AuditError::NotSound(LogVerdict::Tampered(Tampering::NotClosed(2)))),
        "no second continuation: {error}"
    );
    // The head record alone does not make it look like a crash: the second file has entries.
    fs::write(&log, &closed).unwrap();
    let found = verified(&log);
    assert!(!found.is_sound(), "{found:?}");
    assert!(Audit::open(&log, key(), clock(), options(1000)).is_err());
}

/// The listed files must be complete: a file that was left out is reported.
#[test]
fn files_that_are_named_one_by_one() {
    let folder = TempDir::new().unwrap();
    let log = in_files(folder.path(), 4);
    let all: Vec<_> = [3, 1, 4, 2].map(|number| numbered(&log, number)).to_vec();
    let found = verify_files(&all, &key(), None).unwrap();
    assert!(found.is_sound(), "{found:#?}");
    for number in 1..=4 {
        let left: Vec<_> = all.iter().filter(|path| **path != numbered(&log, number)).cloned().collect();
        assert_eq!(misfits(&verify_files(&left, &key(), None).unwrap()), [format!("missing {}", name(number))]);
    }
    let twice = [all.clone(), vec![numbered(&log, 2)]].concat();
    assert_eq!(misfits(&verify_files(&twice, &key(), None).unwrap()), [format!("foreign {}", name(2))]);
}

/// An anchor reveals that the whole folder was set back, whichever file has its entry.
#[test]
fn an_anchor_holds_over_files() {
    let folder = TempDir::new().unwrap();
    let log = folder.path().join("audit.jsonl");
    let audit = Audit::open(&log, key(), clock(), options(1000)).unwrap();
    let mut anchors = Vec::new();
    while !numbered(&log, 4).exists() {
        let _ = record(&audit, 1).unwrap();
        anchors.push(audit.anchor().unwrap());
    }
    drop(audit);
    for anchor in &anchors {
        let found = verify_log(&log, &key(), Some(anchor)).unwrap();
        assert!(found.is_sound(), "{found:#?}");
    }
    assert_eq!(Some(&sound(&log).anchor(&key()).unwrap()), anchors.last());
    // Without the last two files, as a crash within the rotation would leave it.
    let elsewhere = TempDir::new().unwrap();
    let set_back = in_files(elsewhere.path(), 2);
    let found = verify_log(&set_back, &key(), anchors.last()).unwrap();
    let count = anchors.last().unwrap().count();
    assert!(
        matches!(found.misfits.as_slice(), [Misfit::Cut { want, .. }] if *want == count)
            || found.files.iter().any(|file| file.found.verdict != LogVerdict::Sound),
        "{found:#?}"
    );
    assert!(!found.is_sound());
}

/// While a gate writes, its log is sound up to the acknowledged entries at any moment, also during a rotation.
#[test]
fn a_log_in_use_is_verified_as_far_as_it_goes() {
    let folder = TempDir::new().unwrap();
    let log = folder.path().join("audit.jsonl");
    let options = Options { sync: false, ..options(20_000) };
    let audit = Audit::open(&log, key(), clock(), options).unwrap();
    let written = AtomicU64::new(1);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while written.load(Ordering::SeqCst) < 1500 {
                    let sequence = record(&audit, 1).unwrap();
                    written.fetch_max(sequence, Ordering::SeqCst);
                }
            });
        }
        let mut rounds = 0;
        while written.load(Ordering::SeqCst) < 1500 {
            let acknowledged = written.load(Ordering::SeqCst);
            let found = verified(&log);
            assert!(found.is_sound() && found.is_in_use, "{found:#?}");
            assert!(found.entries() >= acknowledged, "{} of {acknowledged}", found.entries());
            rounds += 1;
        }
        assert!(rounds > 3, "{rounds}");
    });
    let found = verify_folder(folder.path(), &key(), None).unwrap();
    assert!(found.is_sound() && found.is_in_use && found.files.len() > 5, "{found:#?}");
    drop(audit);
    assert!(!sound(&log).is_in_use);
}
