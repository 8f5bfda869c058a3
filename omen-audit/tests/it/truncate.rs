//! Missing entries at the end are detected, by the head record or by an anchor.

use omen_audit::{LogVerdict, Tampering, Verifier};

use super::*;

/// Cut at every byte: within an entry, between two, and before the last line break.
#[test]
fn every_truncation_is_found() {
    let (written, key) = (written(200), key());
    let mut verifier = Verifier::new(Some(&written.head), &key, None);
    for (line, whole) in written.lines().into_iter().zip(0..) {
        for cut in 0..line.len() {
            let mut verifier = verifier.clone();
            verifier.feed(&line[..cut]);
            assert_eq!(verifier.finish().verdict, LogVerdict::Truncated { have: whole, want: 200 }, "{whole} + {cut}");
        }
        verifier.feed(line);
    }
    assert_eq!(verifier.finish().verdict, LogVerdict::Sound);
}

/// Removing bytes after the last acknowledged entry is not a loss. If they end in a line break, they are tampering.
#[test]
fn what_was_never_acknowledged_is_no_loss() {
    let (shorter, longer) = (written(9), written(10));
    let last = longer.lines()[9];
    for cut in 1..last.len() {
        let log = [&shorter.log, &last[..cut]].concat();
        let expect = LogVerdict::Incomplete { entries: 0, bytes: cut as u64 };
        assert_eq!(judge(&log, Some(&shorter.head)).verdict, expect);
    }
    let expect = LogVerdict::Incomplete { entries: 1, bytes: 0 };
    assert_eq!(judge(&longer.log, Some(&shorter.head)).verdict, expect);
    let forged = [&shorter.log[..], b"{}\n"].concat();
    let verdict = judge(&forged, Some(&shorter.head)).verdict;
    assert!(matches!(verdict, LogVerdict::Tampered(Tampering::Line { line: 10, .. })), "{verdict:?}");
}

/// A3: log and head record that were set back together match each other, but not an anchor kept elsewhere.
#[test]
fn an_anchor_shows_that_both_were_set_back() {
    let (earlier, later) = (written(150), written(200));
    assert_eq!(judge(&earlier.log, Some(&earlier.head)).verdict, LogVerdict::Sound);
    let anchored = |log: &[u8], head: Option<&[u8]>, anchor| verify(log, head, &key(), Some(anchor)).unwrap().verdict;
    let expect = LogVerdict::Truncated { have: 150, want: 200 };
    assert_eq!(anchored(&earlier.log, Some(&earlier.head), &later.anchor), expect);
    assert_eq!(anchored(&earlier.log, None, &later.anchor), expect);
    assert_eq!(anchored(b"", None, &later.anchor), LogVerdict::Truncated { have: 0, want: 200 });
    assert_eq!(anchored(&later.log, Some(&later.head), &later.anchor), LogVerdict::Sound);
    assert_eq!(anchored(&later.log, Some(&later.head), &earlier.anchor), LogVerdict::Sound);
}

/// A3: with the key, the log can be rewritten. An anchor kept elsewhere reveals that.
#[test]
fn an_anchor_shows_that_the_log_was_written_anew() {
    let written = written(10);
    let memory = Memory::default();
    let audit = open(memory.clone()).unwrap();
    (2..=12).for_each(|n| assert_eq!(record(&audit, n * 1000).unwrap(), n));
    let (log, head) = (memory.bytes(), memory.head_bytes());
    assert_eq!(judge(&log, head.as_deref()).verdict, LogVerdict::Sound);
    let found = verify(&*log, head.as_deref(), &key(), Some(&written.anchor)).unwrap();
    assert_eq!(found.verdict, LogVerdict::Tampered(Tampering::AnchorOther(10)));
}

#[test]
fn an_anchor_cannot_be_made_up() {
    let written = written(3);
    let text = written.anchor.to_string();
    assert_eq!(Anchor::parse(&format!("\n {text}\r\n"), &key()).unwrap(), written.anchor);
    assert_eq!((written.anchor.count(), text.lines().count()), (3, 1));
    for at in 0..text.len() {
        for value in *b"0123456789abcdef\"} " {
            let mut bytes = text.clone().into_bytes();
            if bytes[at] == value {
                continue;
            }
            bytes[at] = value;
            let changed = String::from_utf8(bytes).unwrap();
            assert!(Anchor::parse(&changed, &key()).is_err(), "{changed}");
        }
    }
    // A head record is sealed with the same key, for another purpose.
    let head = std::str::from_utf8(&written.head).unwrap();
    assert!(Anchor::parse(head, &key()).is_err());
}

#[test]
fn only_a_sound_log_gives_an_anchor() {
    let (written, shorter) = (written(10), written(9));
    for (log, head) in [(&written.log, &shorter.head), (&shorter.log, &written.head)] {
        let found = judge(log, Some(head));
        assert_eq!(found.anchor(&key()), Err(found.verdict));
    }
}
