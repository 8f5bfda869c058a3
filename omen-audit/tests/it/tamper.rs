//! Every change of an entry is detected and located.

use omen_audit::{Flaw, LogVerdict, Tampering, Verifier};

use omen_testkit::proofs::Proofs;

use super::*;

const ENTRIES: u64 = 200;

#[track_caller]
fn tampered(verdict: &LogVerdict) -> (u64, u64, &Flaw) {
    match verdict {
        LogVerdict::Tampered(Tampering::Line { line, offset, flaw }) => (*line, *offset, flaw),
        other => panic!("{other:?}"),
    }
}

/// Changes every byte to every other value. By default only a sample: in each tenth line and the first two, values that
/// have a meaning in JSON and flipped bits, and all values in the second line.
///
/// The lines before the change are the same each time, so the verifier that has read them is cloned; it then reads the
/// changed log from there until the verdict is certain. Some changed logs are read from their start, to confirm that
/// this is equivalent.
#[test]
fn every_single_byte_change_is_found_in_its_line() {
    let (written, key) = (written(ENTRIES), key());
    let proofs = Proofs::wanted();
    let mut verifier = Verifier::new(Some(&written.head), &key, None);
    let mut log = written.log.clone();
    let (mut offset, mut changes, mut read_whole) = (0, 0_u64, 0);
    for (line, number) in written.lines().into_iter().zip(1..) {
        let start = verifier.clone();
        let is_tried = proofs.choose(number <= 2 || number % 10 == 0, true);
        for at in (offset..offset + line.len()).filter(|_| is_tried) {
            let byte = written.log[at];
            let is_likely = |value: &u8| (value ^ byte).is_power_of_two() || b"\0\n \"}0f\xff".contains(value);
            let is_wanted = |value: &u8| *value != byte && (number == 2 || proofs.choose(is_likely(value), true));
            for value in (0..=u8::MAX).filter(is_wanted) {
                log[at] = value;
                let mut verifier = start.clone();
                for rest in log[offset..].chunks(line.len()) {
                    verifier.feed(rest);
                    if verifier.is_decided() {
                        break;
                    }
                }
                let found = verifier.finish();
                assert_eq!(tampered(&found.verdict).0, number, "byte {at}, {byte} -> {value}: {found:?}");
                assert_eq!((found.entries, found.bytes), (number - 1, offset as u64));
                assert_eq!(tampered(&found.verdict).1, offset as u64);
                changes += 1;
                if changes.is_multiple_of(40_009) {
                    assert_eq!(judge(&log, Some(&written.head)), found);
                    read_whole += 1;
                }
            }
            log[at] = byte;
        }
        verifier.feed(line);
        offset += line.len();
    }
    let all = 255 * written.log.len() as u64;
    assert!(changes == proofs.choose(changes, all) && changes > all / 200 && read_whole > 0, "{changes} of {all}");
    assert_eq!(verifier.finish().verdict, LogVerdict::Sound);
}

/// Changes that keep the meaning of an entry: other spellings of the same JSON.
#[test]
fn other_spellings_of_the_same_entry_are_found() {
    let written = written(5);
    let lines: Vec<&str> = written.lines().iter().map(|line| std::str::from_utf8(line).unwrap()).collect();
    let mac_at = lines[2].find("\"mac\":\"").unwrap() + 7;
    let upper = lines[2][mac_at..mac_at + 64].to_uppercase();
    for changed in [
        lines[2].replace("\"data\":", "\"data\": "),
        lines[2].replace("\n", "\r\n"),
        lines[2].replace("\n", " \n"),
        format!(" {}", lines[2]),
        format!("\n{}", lines[2]),
        format!("\u{feff}{}", lines[2]),
        lines[2].replace("\"n\":3", "\"n\":3.0"),
        lines[2].replace("\"n\":3", "\"n\":3e0"),
        lines[2].replace("\"n\":3", "\"n\":4,\"n\":3"),
        lines[2].replace("\"n\":3", "\"\\u006e\":3"),
        lines[2].replace("decision", "\\u0064ecision"),
        lines[2].replace("\"v\":1", "\"v\":1,\"w\":1"),
        lines[2].replace("\"v\":1", "\"packet_id\":null,\"v\":1"),
        lines[2].replace("\"v\":1", "\"v\":2"),
        lines[2].replacen(&lines[2][mac_at..mac_at + 64], &upper, 1),
    ] {
        assert_ne!(changed, lines[2]);
        let log = [&lines[..2].concat(), &changed, &lines[3..].concat()].map(String::as_str).concat();
        let found = judge(log.as_bytes(), Some(&written.head));
        assert_eq!(tampered(&found.verdict).0, 3, "{changed}");
    }
}

#[test]
fn every_deletion_is_found() {
    let written = written(ENTRIES);
    for gone in 0..ENTRIES as usize {
        let mut lines = written.lines();
        lines.remove(gone);
        let found = judge(&lines.concat(), Some(&written.head));
        let number = gone as u64 + 1;
        if number == ENTRIES {
            assert_eq!(found.verdict, LogVerdict::Truncated { have: ENTRIES - 1, want: ENTRIES });
        } else {
            let flaw = Flaw::Sequence { expected: number, found: number + 1 };
            assert_eq!(tampered(&found.verdict), (number, found.bytes, &flaw));
        }
    }
}

/// Swaps each entry, or by default each eighth, with each entry before it.
#[test]
fn every_swap_is_found() {
    let (written, key) = (written(ENTRIES), key());
    let before = Prefixes::new(&written, &key);
    for b in (0..ENTRIES as usize).step_by(Proofs::wanted().choose(8, 1)) {
        for a in 0..b {
            let mut lines = written.lines();
            lines.swap(a, b);
            let found = before.judge(a, &lines);
            assert_eq!(tampered(&found.verdict).0, a as u64 + 1, "{a} {b}");
        }
    }
}

/// Duplicates each entry, or by default each eighth, at each position.
#[test]
fn every_duplication_is_found() {
    let (written, key) = (written(ENTRIES), key());
    let before = Prefixes::new(&written, &key);
    for n in (0..ENTRIES as usize).step_by(Proofs::wanted().choose(8, 1)) {
        for to in 0..=ENTRIES as usize {
            let mut lines = written.lines();
            lines.insert(to, lines[n]);
            let found = before.judge(to, &lines);
            // Of two adjacent copies, the second is out of place.
            let line = if to < n { to } else { to.max(n + 1) } as u64 + 1;
            assert_eq!(tampered(&found.verdict).0, line, "{n} to {to}");
        }
    }
}

/// Verifiers that have read a log up to each of its lines, so that lines before a change are read once.
struct Prefixes<'w>(Vec<Verifier<'w>>);

impl<'w> Prefixes<'w> {
    fn new(written: &'w Written, key: &'w Key) -> Self {
        let mut verifier = Verifier::new(Some(&written.head), key, None);
        let mut before = vec![verifier.clone()];
        for line in written.lines() {
            verifier.feed(line);
            before.push(verifier.clone());
        }
        Self(before)
    }

    /// Verifies lines, with unchanged ones before the given index. Some are read from their start, to confirm that this
    /// is equivalent.
    fn judge(&self, first: usize, lines: &[&[u8]]) -> Verification {
        let mut verifier = self.0[first].clone();
        for line in &lines[first..] {
            verifier.feed(line);
            if verifier.is_decided() {
                break;
            }
        }
        let found = verifier.finish();
        if (first + lines.len()).is_multiple_of(50) {
            let mut whole = self.0[0].clone();
            whole.feed(&lines.concat());
            assert_eq!(whole.finish(), found);
        }
        found
    }
}

/// An entry of another log with the same key and number does not match.
#[test]
fn an_entry_of_another_log_is_found() {
    let memory = Memory::default();
    let audit = open(memory.clone()).unwrap();
    for n in 2..=5 {
        record(&audit, n + 100).unwrap();
    }
    let (one, other) = (written(5), memory.bytes());
    let other: Vec<&[u8]> = other.split_inclusive(|byte| *byte == b'\n').collect();
    for n in 1..5 {
        let mut lines = one.lines();
        lines[n] = other[n];
        assert_eq!(tampered(&judge(&lines.concat(), Some(&one.head)).verdict).0, n as u64 + if n == 1 { 2 } else { 1 });
    }
}

#[test]
fn a_line_without_end_is_found_in_bounded_memory() {
    let written = written(2);
    let endless = std::io::Read::chain(&*written.log, std::io::repeat(b'x'));
    let found = verify(endless, Some(&written.head), &key(), None).unwrap();
    assert_eq!(tampered(&found.verdict), (3, written.log.len() as u64, &Flaw::Long));
}
