//! Crashes at every written byte (by default, every fifth), and a second crash during the repair.

use std::io::{self, Read};

use omen_audit::LogVerdict;
use omen_audit::store::Store;
use omen_testkit::proofs::Proofs;

use super::*;

/// Store that writes byte by byte until its budget of steps is spent. Keeping cut bytes, truncating the log, and
/// replacing the head record take one step each.
#[derive(Debug)]
pub(super) struct Mortal {
    pub(super) memory: Memory,
    pub(super) steps: u64,
}

impl Mortal {
    /// Spends up to `steps`, and returns the number that was available.
    fn take(&mut self, steps: usize) -> usize {
        let taken = self.steps.min(steps as u64);
        self.steps -= taken;
        taken as usize
    }

    fn one(&mut self) -> io::Result<()> {
        if self.take(1) == 1 { Ok(()) } else { Err(io::ErrorKind::StorageFull.into()) }
    }
}

/// Overwrites bytes from an offset.
fn over(old: &[u8], start: usize, new: &[u8]) -> Vec<u8> {
    let rest = old.get(start + new.len()..).unwrap_or_default();
    [&old[..start], new, rest].concat()
}

impl Store for Mortal {
    fn log(&mut self) -> io::Result<Option<Box<dyn Read + '_>>> {
        self.memory.log()
    }

    fn head(&mut self) -> io::Result<Option<Vec<u8>>> {
        self.memory.head()
    }

    fn append(&mut self, offset: u64, line: &[u8]) -> io::Result<()> {
        let written = self.take(line.len());
        self.memory.append(0, &over(&self.memory.bytes(), offset as usize, &line[..written]))?;
        self.one()?;
        self.memory.append(offset, line)
    }

    fn set_aside(&mut self, offset: u64) -> io::Result<()> {
        self.one()?;
        let log = self.memory.bytes();
        self.memory.set_aside(offset)?;
        self.one().inspect_err(|_| self.memory.append(0, &log).unwrap())
    }

    fn kept(&mut self, offset: u64) -> io::Result<Vec<String>> {
        self.memory.kept(offset)
    }

    fn set_head(&mut self, head: &[u8]) -> io::Result<()> {
        let written = self.take(head.len());
        self.memory.set_head(&over(&self.memory.head_bytes().unwrap(), 0, &head[..written]))?;
        self.one()
    }

    fn replace_head(&mut self, head: &[u8]) -> io::Result<()> {
        self.one()?;
        self.memory.replace_head(head)
    }
}

/// Opens the log and writes until the store dies or three entries are written; returns the acknowledged numbers.
fn live(memory: &Memory, steps: u64) -> (Vec<u64>, bool) {
    let mut acknowledged = Vec::new();
    let Ok(audit) = open(Mortal { memory: memory.clone(), steps }) else { return (acknowledged, false) };
    for n in 0..3 {
        match record(&audit, n) {
            Ok(sequence) => acknowledged.push(sequence),
            Err(error) => {
                assert!(matches!(error, AuditError::Store(_)), "{error}");
                // After a failed write, nothing more is recorded.
                assert!(matches!(record(&audit, n), Err(AuditError::Broken)));
                assert!(matches!(audit.anchor(), Err(AuditError::Broken)));
                return (acknowledged, false);
            }
        }
    }
    (acknowledged, true)
}

/// Whether both the log and the head record are missing.
fn is_nothing(memory: &Memory) -> bool {
    memory.clone().log().unwrap().is_none() && memory.head_bytes().is_none()
}

/// Copies a log with its content.
fn copy(memory: &Memory) -> Memory {
    if is_nothing(memory) { Memory::default() } else { Memory::new(memory.bytes(), memory.head_bytes()) }
}

/// Checks the invariants after any number of crashes.
#[track_caller]
fn check(memory: &Memory, acknowledged: &[u64], context: impl std::fmt::Debug) {
    if is_nothing(memory) {
        assert!(acknowledged.is_empty(), "{context:?}");
        return;
    }
    let found = judge(&memory.bytes(), memory.head_bytes().as_deref());
    assert!(matches!(found.verdict, LogVerdict::Sound | LogVerdict::Incomplete { .. }), "{context:?}: {found:?}");
    assert!(acknowledged.iter().all(|sequence| *sequence <= found.entries), "{context:?}: {found:?}");

    let entries_before = found.entries;
    let memory = copy(memory);
    drop(open(memory.clone()).unwrap());
    let fixed = judge(&memory.bytes(), memory.head_bytes().as_deref());
    assert_eq!((fixed.verdict, fixed.entries), (LogVerdict::Sound, entries_before + 1), "{context:?}");
    let last = entries(&memory.bytes()).pop().unwrap();
    match found.verdict {
        LogVerdict::Incomplete { entries, bytes } if entries + bytes > 0 => {
            let mut data = json!({ "entries": entries, "bytes": bytes });
            if bytes > 0 {
                data["kept"] = json!(["1"]);
            }
            assert_eq!((&last["kind"], &last["data"]), (&json!("repaired"), &data));
        }
        _ => assert_eq!(last["kind"], "opened"),
    }
}

#[test]
fn a_crash_at_any_byte_loses_nothing_acknowledged() {
    let (mut incomplete, every) = (0, Proofs::wanted().choose(5, 1));
    for steps in (0..).step_by(every) {
        let memory = Memory::default();
        let (acknowledged, lived) = live(&memory, steps);
        check(&memory, &acknowledged, steps);
        incomplete += u64::from(judge(&memory.bytes(), memory.head_bytes().as_deref()).verdict != LogVerdict::Sound);
        if lived {
            assert!(incomplete > 1000 / every as u64, "{incomplete} of {steps}");
            return;
        }
    }
}

/// Bytes that the first crash left after the last entry are kept, and every kept piece is recorded.
#[track_caller]
fn all_is_kept(left: &Memory, now: &Memory) {
    let torn = left.bytes().rsplit(|byte| *byte == b'\n').next().unwrap().to_vec();
    let kept = now.kept_bytes();
    assert!(torn.is_empty() || kept.contains(&torn), "{torn:?} {kept:?}");
    let recorded: Vec<String> = entries(&now.bytes())
        .iter()
        .flat_map(|entry| entry["data"]["kept"].as_array().cloned().unwrap_or_default())
        .map(|name| name.as_str().unwrap().to_owned())
        .collect();
    let numbers: Vec<String> = (1..=kept.len()).map(|number| number.to_string()).collect();
    assert!(numbers.iter().all(|number| recorded.contains(number)), "{numbers:?} {recorded:?}");
}

/// The second run may crash while it repairs the remains of the first, and the third repairs both.
#[test]
fn a_crash_while_repairing_loses_nothing_either() {
    let mut random = Random(3);
    let mut repaired_in_between = 0;
    for first in (0..1800).step_by(Proofs::wanted().choose(83, 17)) {
        let memory = Memory::default();
        let (acknowledged, _) = live(&memory, first);
        let left = memory;
        for second in (0..4).chain((4..900).step_by(1 + random.below(120) as usize)) {
            let memory = copy(&left);
            let (more, _) = live(&memory, second);
            check(&memory, &[acknowledged.clone(), more].concat(), (first, second));
            // The remains of the first run are recorded, even if the second crashed during their repair.
            drop(open(memory.clone()).unwrap());
            let was = judge(&left.bytes(), left.head_bytes().as_deref()).verdict;
            all_is_kept(&left, &memory);
            if let LogVerdict::Incomplete { entries: 1, .. } = was {
                let kinds: Vec<Value> =
                    entries(&memory.bytes()).into_iter().map(|entry| entry["kind"].clone()).collect();
                assert!(kinds.contains(&json!("repaired")), "{first} {second}: {kinds:?}");
                repaired_in_between += 1;
            }
        }
    }
    assert!(repaired_in_between > Proofs::wanted().choose(20, 100), "{repaired_in_between}");
}
