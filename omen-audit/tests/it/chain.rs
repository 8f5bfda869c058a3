//! The log format, recomputed from its description alone.

use hmac::{Hmac, KeyInit as _, Mac as _};
use omen_audit::{Flaw, LogVerdict, Tampering, Verifier};
use omen_base::canonical;
use sha2::Sha256;

use super::*;

/// Created by another program, in another language, from the description.
const FIRST: &str = r#"{"data":{},"kind":"opened","mac":"0ee05b9e67dd2ab835bb64c6ea79dc1f484496ae39e62f8c42c5c84ed4c54547","sequence":1,"time":"2026-03-01T10:00:00.000Z","v":1}"#;
const SECOND: &str = r#"{"data":{"n":2},"kind":"decision","mac":"abcdab3e75da6386cb17c75ddf92e25a5cd4ca9dfefdcb0714fa3923876a140b","sequence":2,"time":"2026-03-01T10:00:00.000Z","turn":"turn_1","v":1}"#;
const HEAD: &str = r#"{"count":2,"last":"abcdab3e75da6386cb17c75ddf92e25a5cd4ca9dfefdcb0714fa3923876a140b","seal":"fe294172a7a0f7ee5e19274419cea193fad4a7b36ec86c6449a6aee15c284d27","v":1}"#;

#[test]
fn the_bytes_are_those_of_another_implementation() {
    let Written { log, head, .. } = written(2);
    assert_eq!(String::from_utf8(log).unwrap(), format!("{FIRST}\n{SECOND}\n"));
    assert_eq!(String::from_utf8(head).unwrap(), format!("{HEAD:<511}\n"));
}

/// HMAC-SHA-256 over the previous seal and the entry without its own (D49).
#[test]
fn every_seal_is_over_the_seal_before_and_the_entry() {
    let written = written(20);
    let entries = entries(&written.log);
    for pair in entries.windows(2) {
        let [before, entry] = pair else { panic!("two") };
        let mut unsealed = entry.clone();
        let mac = unsealed.as_object_mut().unwrap().remove("mac").unwrap();
        let mut hmac = Hmac::<Sha256>::new_from_slice(&std::array::from_fn::<u8, 32, _>(|i| i as u8)).unwrap();
        hmac.update(&base16ct::lower::decode_vec(before["mac"].as_str().unwrap()).unwrap());
        hmac.update(&canonical(&unsealed).unwrap());
        assert_eq!(base16ct::lower::encode_string(&hmac.finalize().into_bytes()), mac.as_str().unwrap());
    }
}

/// A4: each line is the canonical text of its entry.
#[test]
fn lines_are_canonical() {
    let written = written(20);
    for (line, entry) in written.lines().iter().zip(entries(&written.log)) {
        let mut text = canonical(&entry).unwrap();
        text.push(b'\n');
        assert_eq!(*line, text);
    }
}

#[test]
fn an_untouched_log_is_sound() {
    for count in [1, 2, 3, 200] {
        let written = written(count);
        let found = judge(&written.log, Some(&written.head));
        assert_eq!((found.verdict.clone(), found.entries), (LogVerdict::Sound, count));
        assert_eq!(found.bytes, written.log.len() as u64);
        assert_eq!(found.anchor(&key()).unwrap(), written.anchor);
    }
}

/// The verdict does not depend on how the log is cut into pieces.
#[test]
fn pieces_do_not_matter() {
    let (written, key) = (written(20), key());
    let whole = judge(&written.log, Some(&written.head));
    for size in [1, 2, 7, 100, 1000] {
        let mut verifier = Verifier::new(Some(&written.head), &key, None);
        written.log.chunks(size).for_each(|piece| verifier.feed(piece));
        assert_eq!(verifier.finish(), whole);
    }
}

#[test]
fn another_key_fits_nothing() {
    let (written, other) = (written(3), Key::from_bytes(b"another key, of 32 bytes or more").unwrap());
    let found = verify(&*written.log, Some(&written.head), &other, None).unwrap();
    assert!(matches!(found.verdict, LogVerdict::Tampered(Tampering::Line { line: 1, flaw: Flaw::Mac, .. })));
    assert!(Anchor::parse(&written.anchor.to_string(), &other).is_err());
    let opened = Audit::over(Memory::new(written.log, Some(written.head)), other, clock(), Options::default());
    assert!(matches!(opened, Err(AuditError::NotSound(_))));
}
