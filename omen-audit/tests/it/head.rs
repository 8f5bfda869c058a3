//! The head record is protected like the log.

use omen_audit::{LogVerdict, Tampering};

use super::*;

const CHANGED: LogVerdict = LogVerdict::Tampered(Tampering::HeadChanged);

/// Every byte, with each bit flipped, with values that have a meaning in JSON, and with its previous value. A record
/// that equals a partial write over the previous one counts as such: its entry is in the log.
#[test]
fn every_single_byte_change_is_found() {
    let written = written(3);
    let before = [super::written(2).head, adopted()];
    let mut head = written.head.clone();
    let mut as_if_torn = 0;
    for at in 0..head.len() {
        let byte = head[at];
        let values =
            (0..8).map(|bit| byte ^ (1 << bit)).chain(*b"\0\n \"}0f\xff").chain(before.iter().map(|before| before[at]));
        for value in values.collect::<std::collections::BTreeSet<u8>>().into_iter().filter(|value| *value != byte) {
            head[at] = value;
            let verdict = judge(&written.log, Some(&head)).verdict;
            if before.iter().any(|before| head[at..] == before[at..]) {
                assert_eq!(verdict, LogVerdict::Incomplete { entries: 1, bytes: 0 });
                as_if_torn += 1;
            } else {
                assert_eq!(verdict, CHANGED, "byte {at}, {byte} -> {value}");
            }
        }
        head[at] = byte;
    }
    assert!((1..=before.len()).contains(&as_if_torn), "{as_if_torn}");
}

/// Head record of two entries, of which the last was adopted after a crash, and a second crash before that was
/// recorded.
fn adopted() -> Vec<u8> {
    let memory = Memory::new(written(2).log, Some(written(1).head));
    assert!(matches!(open(super::crash::Mortal { memory: memory.clone(), steps: 1 }), Err(AuditError::Store(_))));
    let head = memory.head_bytes().unwrap();
    let expect = LogVerdict::Incomplete { entries: 1, bytes: 0 };
    assert_eq!(judge(&memory.bytes(), Some(&head)).verdict, expect);
    assert_ne!(head, written(2).head);
    head
}

#[test]
fn another_length_is_found() {
    let written = written(3);
    for length in 0..written.head.len() {
        assert_eq!(judge(&written.log, Some(&written.head[..length])).verdict, CHANGED, "{length}");
    }
    for more in [" ", "\n", "x"] {
        assert_eq!(judge(&written.log, Some(&[&written.head, more.as_bytes()].concat())).verdict, CHANGED);
    }
}

/// It is created before the first entry is written, so it cannot be missing.
#[test]
fn a_missing_head_is_found() {
    assert_eq!(judge(&written(3).log, None).verdict, LogVerdict::Tampered(Tampering::HeadMissing));
    assert_eq!(judge(b"{", None).verdict, LogVerdict::Tampered(Tampering::HeadMissing));
    // It is unknown whether it had entries.
    assert_eq!(judge(b"", None).verdict, LogVerdict::Tampered(Tampering::Empty));
}

#[test]
fn an_older_head_is_found() {
    let written = written(10);
    for named in 1..9 {
        let older = super::written(named);
        let expect = LogVerdict::Tampered(Tampering::HeadOld { named });
        assert_eq!(judge(&written.log, Some(&older.head)).verdict, expect);
    }
    // As after a crash. Nothing is lost.
    let expect = LogVerdict::Incomplete { entries: 1, bytes: 0 };
    assert_eq!(judge(&written.log, Some(&super::written(9).head)).verdict, expect);
}

#[test]
fn the_head_of_another_log_is_found() {
    let memory = Memory::default();
    let audit = open(memory.clone()).unwrap();
    (2..=5).for_each(|n| assert_eq!(record(&audit, n * 1000).unwrap(), n));
    let verdict = judge(&written(5).log, memory.head_bytes().as_deref()).verdict;
    assert_eq!(verdict, LogVerdict::Tampered(Tampering::HeadOther(5)));
}

/// Damaging the head record does not allow an entry to be cut off unnoticed.
#[test]
fn a_torn_head_does_not_hide_a_missing_entry() {
    let (two, three) = (written(2), written(3));
    for cut in 0..three.head.len() {
        let torn = [&three.head[..cut], &two.head[cut..]].concat();
        let verdict = judge(&two.log, Some(&torn)).verdict;
        if torn == two.head {
            assert_eq!(verdict, LogVerdict::Sound);
        } else if torn == three.head {
            assert_eq!(verdict, LogVerdict::Truncated { have: 2, want: 3 });
        } else {
            assert_eq!(verdict, CHANGED, "{cut}");
        }
        // The same head record, with the entry that it was written for.
        let verdict = judge(&three.log, Some(&torn)).verdict;
        let whole = torn == three.head;
        let expect = if whole { LogVerdict::Sound } else { LogVerdict::Incomplete { entries: 1, bytes: 0 } };
        assert_eq!(verdict, expect, "{cut}");
    }
}

/// An unsound log is not written to, and stays unchanged.
#[test]
fn a_log_that_is_not_sound_is_not_opened() {
    let (nine, ten) = (written(9), written(10));
    let mut changed = ten.log.clone();
    changed[20] ^= 1;
    let missing: Option<Vec<u8>> = None;
    for (log, head) in [
        (changed, Some(ten.head.clone())),
        (nine.log, Some(ten.head.clone())),
        (ten.log.clone(), missing),
        (ten.log, Some(written(5).head)),
    ] {
        let memory = Memory::new(log.clone(), head.clone());
        let error = open(memory.clone()).unwrap_err();
        assert!(matches!(error, AuditError::NotSound(_)), "{error}");
        assert_eq!((memory.bytes(), memory.head_bytes()), (log, head));
    }
}
