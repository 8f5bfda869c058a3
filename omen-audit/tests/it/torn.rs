//! Bytes after the last line break: the start of an entry, or tampering (D57).

use omen_audit::{Flaw, LogVerdict, Tampering};

use super::*;

/// Entries with every construct that has a canonical form (RFC 8785), and the head record before each.
fn rich() -> Vec<(Vec<u8>, Vec<u8>, Vec<u8>)> {
    let memory = Memory::default();
    let audit = open(memory.clone()).unwrap();
    let (turn, packet, episode) = (turn(), "pkt_1".parse().unwrap(), "corr_1".parse().unwrap());
    let data = [
        json!({}),
        json!({ "": null, "a": {}, "ab": [], "abc": [[], {}], "b": [true, false, null, [[{ "x": { "y": [] } }]]] }),
        json!({ "text": "\u{0}\u{1}\u{8}\t\n\u{b}\u{c}\r\u{1f} \"\\/\u{7f}é日😀", "é": 1, "\u{1f600}": 2, "\u{fffd}": 3 }),
        json!({ "n": [0, -1, 10, 1.5, -0.25, 1e-7, -1.25e-10, 5e-324, 0.000001, 123456789012345.6, 9007199254740991_u64] }),
        json!({ "\"quoted\\": "\"", "\n": "\\n" }),
    ];
    let mut lines = Vec::new();
    for (number, data) in data.into_iter().enumerate() {
        let (log, head) = (memory.bytes(), memory.head_bytes().unwrap());
        let record = Record::new(Kind::Intent, &turn, object(data));
        let record = match number % 4 {
            0 => record,
            1 => record.with_packet(&packet, &episode),
            2 => Record { packet_id: Some(&packet), ..record },
            _ => Record { correlation_id: Some(&episode), ..record },
        };
        let _ = audit.append(record).unwrap();
        let line = memory.bytes().split_off(log.len());
        lines.push((log, head, line));
    }
    lines
}

#[test]
fn every_start_of_an_entry_is_one() {
    let mut cuts = 0;
    for (log, head, line) in rich() {
        for cut in 1..line.len() {
            let torn = [&log[..], &line[..cut]].concat();
            let verdict = judge(&torn, Some(&head)).verdict;
            assert_eq!(
                verdict,
                LogVerdict::Incomplete { entries: 0, bytes: cut as u64 },
                "{:?}",
                &line[..cut].utf8_chunks()
            );
            cuts += 1;
        }
    }
    // Entries of the log itself: the first, and one of a repair.
    let first = written(1);
    let none = {
        let memory = Memory::default();
        drop(open(super::crash::Mortal { memory: memory.clone(), steps: 1 }));
        memory.head_bytes().unwrap()
    };
    let repaired = Memory::new([&first.log[..], b"{"].concat(), Some(first.head.clone()));
    drop(open(repaired.clone()).unwrap());
    let repair = repaired.bytes().split_off(first.log.len());
    for (log, head, line) in [(Vec::new(), none, first.log.clone()), (first.log, first.head, repair)] {
        for cut in 1..line.len() {
            let verdict = judge(&[&log[..], &line[..cut]].concat(), Some(&head)).verdict;
            assert_eq!(verdict, LogVerdict::Incomplete { entries: 0, bytes: cut as u64 });
            cuts += 1;
        }
    }
    assert!(cuts > 1500, "{cuts}");
}

#[track_caller]
fn refused(log: &[u8], head: &[u8], tail: &[u8]) -> Flaw {
    let torn = [log, tail].concat();
    let found = judge(&torn, Some(head));
    let LogVerdict::Tampered(Tampering::Line { line: 3, offset, flaw }) = found.verdict else {
        panic!("{:?}: {found:?}", String::from_utf8_lossy(tail));
    };
    assert_eq!((offset, found.entries), (log.len() as u64, 2));
    // Bytes that a crash may not have left are not cut off.
    let memory = Memory::new(torn.clone(), Some(head.to_vec()));
    assert!(matches!(open(memory.clone()), Err(AuditError::NotSound(_))));
    assert_eq!((memory.bytes(), memory.head_bytes().unwrap()), (torn, head.to_vec()));
    assert!(memory.kept_bytes().is_empty());
    flaw
}

#[test]
fn what_no_entry_starts_with_is_no_crash() {
    let Written { log, head, .. } = written(2);
    let third = String::from_utf8(written(3).lines()[2].to_vec()).unwrap();
    let third = third.trim_end();
    let mac = {
        let at = third.find("\"mac\":\"").unwrap() + 7;
        third[at..at + 64].to_owned()
    };
    let start = |data: &str| format!("{{\"data\":{data}");
    let with = |from: &str, to: &str| {
        let changed = third.replacen(from, to, 1);
        assert_ne!(changed, third);
        changed
    };
    for tail in [
        // Invalid JSON, other JSON, and JSON in another spelling.
        "x",
        " ",
        "\0",
        "\0\0\0\0\0\0\0\0",
        "{}",
        "[",
        "\"",
        "{ ",
        "{\"\"",
        "{\"datas",
        "{\"data\": ",
        "{\"kind\":",
        "{\"data\":[",
        "\u{feff}{",
        "{\"data\":{}}",
        "{\"data\":{},\"mac\":",
        "{\"data\":{} ",
        "{\"data\":{},\"kind\":\"other",
        "{\"v\":1",
        // Members that an entry of this kind does not have.
        "{\"correlation_id\":\"x\",",
        "{\"correlation_id\":\"corr_1\",\"data\":{},\"kind\":\"op",
        "{\"correlation_id\":\"corr_1\",\"kind\"",
    ]
    .map(str::to_owned)
    .into_iter()
    .chain([
        // Data that is not canonical so far.
        start("{\"b\":1,\"a\""),
        start("{\"ab\":1,\"aa"),
        start("{\"a\":1,\"a\""),
        start("{\"a\" "),
        start("{\"a\":01"),
        start("{\"a\":1.0}"),
        start("{\"a\":1.50,"),
        start("{\"a\":-0}"),
        start("{\"a\":1e5"),
        start("{\"a\":1E"),
        start("{\"a\":+"),
        start("{\"a\":--"),
        start("{\"a\":.5"),
        start("{\"a\":1.e"),
        start("{\"a\":9007199254740993,"),
        start("{\"a\":12345678901234567"),
        start("{\"a\":tru "),
        start("{\"a\":nil"),
        start("{\"a\":\"\\/"),
        start("{\"a\":\"\\u000a"),
        start("{\"a\":\"\\u000B"),
        start("{\"a\":\"\\u0041"),
        start("{\"a\":\"\\x"),
        start("{\"a\":\"\t"),
        start("{\"a\":[1,]"),
        start("{\"a\":[,"),
        start("{,"),
        start("{\"\u{fffd}\":1,\"\u{1f600}\""),
        start(&format!("{{\"a\":{}", "[".repeat(127))),
        // The third entry, changed where the seal cannot be checked yet.
        with("\"sequence\":3", "\"sequence\":4").split_once("\"time\"").unwrap().0.to_owned(),
        with("\"sequence\":3", "\"sequence\":31").split_once("\"time\"").unwrap().0.to_owned(),
        with("2026-03-01T", "2026-03-01 ").split_once("\"turn\"").unwrap().0.to_owned(),
        with("2026-03-01T", "2026-13-01T").split_once("\"turn\"").unwrap().0.to_owned(),
        with("\"turn\":\"turn_1\"", "\"turn\":\"\""),
        with("\"turn\":\"turn_1\"", "\"turn\":\"turn 1\""),
        with("\"turn\":\"turn_1\",", ""),
        with(&mac, &mac.to_uppercase()).split_once("\"sequence\"").unwrap().0.to_owned(),
        with(&mac, &mac[1..]).split_once("\"time\"").unwrap().0.to_owned(),
        with("\"sequence\"", "\"packet_id\":\"x\",\"sequence\"").split_once("\"time\"").unwrap().0.to_owned(),
        // More than one entry.
        format!("{third} "),
        format!("{third}{third}"),
        format!("{third}\r"),
        format!("{third}{{"),
    ]) {
        let flaw = refused(&log, &head, tail.as_bytes());
        let Flaw::NotStart { at, expected } = &flaw else { panic!("{tail}: {flaw:?}") };
        assert!(*at <= tail.len() as u64 && !expected.is_empty(), "{tail}: {flaw}");
    }
    // Bytes that are not UTF-8.
    for tail in [&b"\xff"[..], b"{\"data\":{\"\xff", b"{\"data\":{\"a\":\"\xc3\x28", b"{\"data\":{\"a\":\"\xc3\""] {
        assert!(matches!(refused(&log, &head, tail), Flaw::NotStart { .. }));
    }
    let shown = refused(&log, &head, b"{\"data\":{},\"mac").to_string();
    assert_eq!(shown, "it has no line break, and is not the start of an entry: expected `,\"kind\":` after 10 bytes");
}

/// If only a known rest is missing, the seal is checked, and cannot be forged without the key.
#[test]
fn a_start_that_tells_its_seal_is_checked_with_it() {
    let Written { log, head, .. } = written(2);
    let third = written(3).lines()[2].to_vec();
    let whole = third.len() - 1;
    for cut in [whole, whole - 1, whole - 4] {
        let start = &third[..cut];
        for at in 0..cut {
            for value in [b'0', b'1', b'a', b'f', b'"', b'{', b'}', b',', b' ', b'\\', start[at] ^ 1, start[at] ^ 0x80]
            {
                let mut changed = start.to_vec();
                changed[at] = value;
                if changed == start || value == b'\n' {
                    continue;
                }
                let verdict = judge(&[&log[..], &changed].concat(), Some(&head)).verdict;
                let is_found = matches!(verdict, LogVerdict::Tampered(Tampering::Line { line: 3, .. }));
                assert!(is_found, "{cut} {at}: {:?}: {verdict:?}", String::from_utf8_lossy(&changed));
            }
        }
    }
    // An entry that another log has at that position, and a repetition of the last entry.
    let memory = Memory::default();
    let audit = open(memory.clone()).unwrap();
    (2..=3).for_each(|n| assert_eq!(record(&audit, n + 100).unwrap(), n));
    let other = memory.bytes();
    let other = other.split_inclusive(|byte| *byte == b'\n').nth(2).unwrap();
    assert_eq!(refused(&log, &head, &other[..other.len() - 1]), Flaw::Mac);
    assert_eq!(refused(&log, &head, &other[..other.len() - 3]), Flaw::Mac);
    let second = &written(2).lines()[1].to_vec();
    assert!(matches!(refused(&log, &head, &second[..second.len() - 1]), Flaw::NotStart { .. }));
}

/// Hostile bytes take neither stack nor time: nesting is bounded, and each byte is read once.
#[test]
fn a_long_tail_is_read_in_linear_time() {
    let Written { log, head, .. } = written(1);
    for (tail, is_start) in [
        ("{\"data\":{\"a\":\"".to_owned() + &"x".repeat(8 << 20), true),
        ("{\"data\":{\"a\":".to_owned() + &"[".repeat(1 << 20), false),
        ("{\"data\":{\"a\":\"".to_owned() + &"\\\"".repeat(1 << 18), true),
        ("{\"data\":{\"a\":".to_owned() + &"9".repeat(1 << 20), false),
    ] {
        let verdict = judge(&[&log[..], tail.as_bytes()].concat(), Some(&head)).verdict;
        assert_eq!(matches!(verdict, LogVerdict::Incomplete { .. }), is_start, "{}", tail.len());
    }
}
