//! Simultaneous entries are written together: in order, acknowledged together, and whole after a crash (A1).

use std::io::{self, Read};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use omen_audit::{Flaw, LogVerdict, Receipt, Tampering};

use super::*;

/// One write: the head record, if it was replaced, and the bytes.
type Write = (Option<Vec<u8>>, Vec<u8>);

/// Store that waits before it writes, counts its writes, and may fail.
#[derive(Clone, Debug, Default)]
struct Slow {
    memory: Memory,
    waits: Arc<AtomicBool>,
    begun: Arc<AtomicU64>,
    fails: Arc<AtomicBool>,
    /// Writes to the log, with the head record before each.
    written: Arc<Mutex<Vec<Write>>>,
}

impl Store for Slow {
    fn log(&mut self) -> io::Result<Option<Box<dyn Read + '_>>> {
        self.memory.log()
    }

    fn head(&mut self) -> io::Result<Option<Vec<u8>>> {
        self.memory.head()
    }

    fn append(&mut self, offset: u64, lines: &[u8]) -> io::Result<()> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        while self.waits.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        if self.fails.load(Ordering::SeqCst) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.written.lock().unwrap().push((self.memory.head_bytes(), lines.to_vec()));
        self.memory.append(offset, lines)
    }

    fn set_aside(&mut self, offset: u64) -> io::Result<()> {
        self.memory.set_aside(offset)
    }

    fn kept(&mut self, offset: u64) -> io::Result<Vec<String>> {
        self.memory.kept(offset)
    }

    fn set_head(&mut self, head: &[u8]) -> io::Result<()> {
        self.memory.set_head(head)
    }

    fn replace_head(&mut self, head: &[u8]) -> io::Result<()> {
        self.memory.replace_head(head)
    }
}

/// One thread writes and waits for the disk, while others append. Returns the result of each.
fn at_once(log: &Slow, audit: &Audit, others: u64) -> Vec<Result<Receipt, AuditError>> {
    let (turn, come) = (turn(), AtomicU64::new(0));
    let append = |n: u64| audit.append(Record::new(Kind::Decision, &turn, object(json!({ "n": n }))));
    log.waits.store(true, Ordering::SeqCst);
    let begun = log.begun.load(Ordering::SeqCst);
    std::thread::scope(|scope| {
        let first = scope.spawn(|| append(0));
        while log.begun.load(Ordering::SeqCst) == begun {
            std::thread::yield_now();
        }
        let others: Vec<_> = (1..=others)
            .map(|n| {
                let (append, come) = (&append, &come);
                scope.spawn(move || {
                    come.fetch_add(1, Ordering::SeqCst);
                    append(n)
                })
            })
            .collect();
        while come.load(Ordering::SeqCst) < others.len() as u64 {
            std::thread::yield_now();
        }
        // These are about to wait; later entries are in the next group.
        std::thread::sleep(Duration::from_millis(20));
        log.waits.store(false, Ordering::SeqCst);
        [first].into_iter().chain(others).map(|thread| thread.join().unwrap()).collect()
    })
}

/// Log whose last group has `entries` entries: the head record and the bytes before the group, and the group.
fn grouped(entries: u64) -> (Slow, Vec<u8>, Vec<u8>, Vec<u8>) {
    for _ in 0..100 {
        let log = Slow::default();
        let audit = open(log.clone()).unwrap();
        let recorded = at_once(&log, &audit, entries);
        assert!(recorded.iter().all(Result::is_ok));
        let written = log.written.lock().unwrap().clone();
        let (head, group) = written.last().cloned().unwrap();
        if group.iter().filter(|byte| **byte == b'\n').count() as u64 == entries {
            let all = log.memory.bytes();
            let before = all[..all.len() - group.len()].to_vec();
            return (log, head.unwrap(), before, group);
        }
    }
    panic!("the others have never come at once");
}

#[test]
fn those_that_wait_are_written_together() {
    let (log, _, before, group) = grouped(8);
    let lines = entries(&group);
    let first = entries(&before).len() as u64 + 1;
    for (line, sequence) in lines.iter().zip(first..) {
        assert_eq!(line["sequence"], sequence);
        let group = line.get("group").and_then(Value::as_u64);
        assert_eq!(group, (sequence != first).then_some(first), "{line}");
    }
    let found = judge(&log.memory.bytes(), log.memory.head_bytes().as_deref());
    assert_eq!((found.verdict, found.entries), (LogVerdict::Sound, 10));
}

/// Each receipt has the number of its own entry.
#[test]
fn everyone_gets_its_own_number() {
    let log = Slow::default();
    let audit = open(log.clone()).unwrap();
    for round in 0..20 {
        let recorded = at_once(&log, &audit, 1 + round % 7);
        let all = entries(&log.memory.bytes());
        for (n, receipt) in recorded.into_iter().enumerate() {
            let receipt = receipt.unwrap();
            let entry = &all[receipt.sequence as usize - 1];
            assert_eq!(
                (&entry["data"]["n"], &entry["mac"]),
                (&json!(n), &json!(receipt.mac.to_string())),
                "round {round}"
            );
        }
    }
    assert_eq!(judge(&log.memory.bytes(), log.memory.head_bytes().as_deref()).verdict, LogVerdict::Sound);
}

/// No entry of an unwritten group is acknowledged, and nothing is recorded afterwards.
#[test]
fn a_group_that_cannot_be_written_is_acknowledged_to_nobody() {
    let log = Slow::default();
    let audit = open(log.clone()).unwrap();
    log.fails.store(true, Ordering::SeqCst);
    for recorded in at_once(&log, &audit, 8) {
        assert!(matches!(recorded, Err(AuditError::Store(_) | AuditError::Broken)), "{recorded:?}");
    }
    log.fails.store(false, Ordering::SeqCst);
    assert!(matches!(record(&audit, 9), Err(AuditError::Broken)));
    assert_eq!(entries(&log.memory.bytes()).len(), 1);
}

/// An entry that cannot be recorded does not affect the others of its group.
#[test]
fn one_that_is_refused_is_refused_alone() {
    let log = Slow::default();
    let audit = open(log.clone()).unwrap();
    let turn = turn();
    log.waits.store(true, Ordering::SeqCst);
    std::thread::scope(|scope| {
        let (audit, turn) = (&audit, &turn);
        let threads: Vec<_> = (0..9_u64)
            .map(|n| {
                let number = if n % 3 == 1 { json!(u64::MAX) } else { json!(n) };
                let data = object(json!({ "n": number }));
                scope.spawn(move || (n, audit.append(Record::new(Kind::Decision, turn, data))))
            })
            .collect();
        std::thread::sleep(Duration::from_millis(20));
        log.waits.store(false, Ordering::SeqCst);
        for thread in threads {
            let (n, recorded) = thread.join().unwrap();
            assert_eq!(recorded.is_err(), n % 3 == 1, "{n}: {recorded:?}");
        }
    });
    let found = judge(&log.memory.bytes(), log.memory.head_bytes().as_deref());
    assert_eq!((found.verdict, found.entries), (LogVerdict::Sound, 7));
}

/// A crash during a group leaves part of it, perhaps with a partial line. Whole entries stay, and the repair is
/// recorded.
#[test]
fn a_crash_within_a_group_is_repaired() {
    let (_, head, before, group) = grouped(4);
    for cut in 0..group.len() {
        let log = [&before[..], &group[..cut]].concat();
        let whole = group[..cut].iter().filter(|byte| **byte == b'\n').count() as u64;
        let torn = cut - group[..cut].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let found = judge(&log, Some(&head));
        let expect =
            if cut == 0 { LogVerdict::Sound } else { LogVerdict::Incomplete { entries: whole, bytes: torn as u64 } };
        assert_eq!(found.verdict, expect, "{cut}");

        let memory = Memory::new(log.clone(), Some(head.clone()));
        // The process may crash again, at any of the first steps of the repair.
        for steps in 0..4 {
            drop(open(super::crash::Mortal { memory: memory.clone(), steps }));
        }
        drop(open(memory.clone()).unwrap());
        let fixed = judge(&memory.bytes(), memory.head_bytes().as_deref());
        assert_eq!(fixed.verdict, LogVerdict::Sound, "{cut}");
        let all = entries(&memory.bytes());
        let repaired = all.iter().find(|entry| entry["kind"] == "repaired");
        match repaired {
            Some(repaired) => assert_eq!(repaired["data"]["entries"], whole, "{cut}"),
            None => assert_eq!(cut, 0),
        }
    }
}

/// A head record within a group, or before the last one, was set back: no crash leaves that.
#[test]
fn a_head_record_that_no_crash_leaves_is_found() {
    let (log, head, before, group) = grouped(4);
    let whole = log.memory.bytes();
    assert_eq!(judge(&whole, Some(&head)).verdict, LogVerdict::Incomplete { entries: 4, bytes: 0 });
    let older = written(1).head;
    let found = judge(&whole, Some(&older)).verdict;
    assert_eq!(found, LogVerdict::Tampered(Tampering::HeadOld { named: 1 }));
    // A group without its first entry is not a group.
    let second = group.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let cut = [&before[..], &group[second..]].concat();
    let found = judge(&cut, Some(&head)).verdict;
    assert!(
        matches!(&found, LogVerdict::Tampered(Tampering::Line { line: 3, flaw: Flaw::Sequence { .. }, .. })),
        "{found}"
    );
}

/// A partial write of the head record after a group leaves a part of it, followed by the old record.
#[test]
fn a_torn_head_record_after_a_group_is_repaired() {
    let (log, head, ..) = grouped(4);
    let (whole, new) = (log.memory.bytes(), log.memory.head_bytes().unwrap());
    for cut in 0..new.len() {
        let torn = [&new[..cut], &head[cut..]].concat();
        let verdict = judge(&whole, Some(&torn)).verdict;
        let expect = if torn == new { LogVerdict::Sound } else { LogVerdict::Incomplete { entries: 4, bytes: 0 } };
        assert_eq!(verdict, expect, "{cut}");
    }
}

/// A panic of the store leaves the log in an unknown state, and no caller waits forever.
#[test]
fn nobody_waits_for_a_writer_that_panics() {
    #[derive(Debug)]
    struct Panics(Slow);

    impl Store for Panics {
        fn log(&mut self) -> io::Result<Option<Box<dyn Read + '_>>> {
            self.0.memory.log()
        }

        fn head(&mut self) -> io::Result<Option<Vec<u8>>> {
            self.0.memory.head()
        }

        fn append(&mut self, offset: u64, lines: &[u8]) -> io::Result<()> {
            let result = self.0.append(offset, lines);
            assert!(!self.0.fails.load(Ordering::SeqCst), "as configured");
            result
        }

        fn set_aside(&mut self, offset: u64) -> io::Result<()> {
            self.0.set_aside(offset)
        }

        fn kept(&mut self, offset: u64) -> io::Result<Vec<String>> {
            self.0.kept(offset)
        }

        fn set_head(&mut self, head: &[u8]) -> io::Result<()> {
            self.0.set_head(head)
        }

        fn replace_head(&mut self, head: &[u8]) -> io::Result<()> {
            self.0.replace_head(head)
        }
    }

    let log = Slow::default();
    let audit = open(Panics(log.clone())).unwrap();
    log.waits.store(true, Ordering::SeqCst);
    log.fails.store(true, Ordering::SeqCst);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|n| {
                scope.spawn({
                    let audit = &audit;
                    move || std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| record(audit, n)))
                })
            })
            .collect();
        std::thread::sleep(Duration::from_millis(20));
        log.waits.store(false, Ordering::SeqCst);
        let outcomes: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_err()).count(), 1, "one has panicked");
        assert!(outcomes.iter().flatten().all(|recorded| matches!(recorded, Err(AuditError::Broken))), "{outcomes:?}");
    });
}

/// A record that another one follows at once waits for the disk together with it, and is never left behind.
#[test]
fn a_deferred_record_is_written_with_the_next_one_or_when_it_is_dropped() {
    let log = Slow::default();
    let audit = open(log.clone()).unwrap();
    let turn = turn();
    let data = |n: u64| Record::new(Kind::Decision, &turn, object(json!({ "n": n })));
    let written = || {
        let written = log.written.lock().unwrap();
        written.iter().skip(1).map(|(_, lines)| entries(lines).len()).collect::<Vec<_>>()
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();

    let deferred = audit.record_with_next(data(1)).unwrap();
    assert_eq!(written(), [0; 0], "it waits for the next one");
    let next = runtime.block_on(audit.record(data(2))).unwrap();
    assert_eq!(runtime.block_on(deferred.recorded()).unwrap().sequence + 1, next.sequence);
    assert_eq!(written(), [2]);

    let deferred = audit.record_with_next(data(3)).unwrap();
    assert_eq!(runtime.block_on(deferred.recorded()).unwrap().sequence, next.sequence + 1, "there is no next one");
    drop(audit.record_with_next(data(4)).unwrap());
    // The thread that wrote the previous entry may still be the leader, which then writes this one as well.
    while written().len() < 3 {
        std::thread::yield_now();
    }
    assert_eq!(written(), [2, 1, 1]);

    let deferred = audit.record_with_next(data(5)).unwrap();
    let _ = audit.append(data(6)).unwrap();
    drop(deferred);
    assert_eq!(written(), [2, 1, 1, 2], "a thread writes it with its own");

    let (fails, closed) = (audit.record_with_next(data(7)).unwrap(), audit.clone());
    log.fails.store(true, Ordering::SeqCst);
    assert!(runtime.block_on(audit.record(data(8))).is_err());
    assert!(runtime.block_on(fails.recorded()).is_err(), "neither is in the log");
    closed.close();
    let found = judge(&log.memory.bytes(), log.memory.head_bytes().as_deref());
    assert_eq!((found.verdict, found.entries), (LogVerdict::Sound, 7));

    let log = Slow::default();
    let audit = open(log.clone()).unwrap();
    let deferred = audit.record_with_next(data(1)).unwrap();
    audit.close();
    assert!(runtime.block_on(deferred.recorded()).is_ok(), "closing writes it");
    assert!(runtime.block_on(audit.record(data(2))).is_err());
}
