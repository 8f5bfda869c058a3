//! Records, and those that are refused.

use omen_audit::{LogVerdict, MAX_LINE_BYTES};
use omen_base::NotExact;

use super::*;

/// Appends data that must be refused, and checks that the log is unchanged and open.
fn refused(data: Value) -> AuditError {
    let memory = Memory::default();
    let audit = open(memory.clone()).unwrap();
    let turn = turn();
    let before = (memory.bytes(), memory.head_bytes());
    let error = audit.append(Record::new(Kind::Intent, &turn, object(data))).unwrap_err();
    assert_eq!((memory.bytes(), memory.head_bytes()), before);
    assert_eq!(record(&audit, 0).unwrap(), 2, "the log is still open");
    assert_eq!(judge(&memory.bytes(), memory.head_bytes().as_deref()).verdict, LogVerdict::Sound);
    error
}

#[test]
fn an_entry_says_all_there_is() {
    let memory = Memory::default();
    let audit = open(memory.clone()).unwrap();
    let (turn, packet, episode) = (turn(), "pkt_1".parse().unwrap(), "corr_1".parse().unwrap());
    let data = object(json!({ "tool": "fs/write", "args": { "path": "/a\"b\n", "é": [1.5, null] } }));
    let receipt = audit.append(Record::new(Kind::Intent, &turn, data.clone()).with_packet(&packet, &episode)).unwrap();
    let expect = json!({
        "v": 1, "sequence": 2, "time": "2026-03-01T10:00:00.000Z", "kind": "intent", "turn": "turn_1",
        "packet_id": "pkt_1", "correlation_id": "corr_1", "data": data, "mac": receipt.mac.to_string(),
    });
    assert_eq!(entries(&memory.bytes())[1], expect);
    assert_eq!(entries(&memory.bytes())[0].as_object().unwrap().get("turn"), None, "the log's own entry");
}

#[test]
fn numbers_that_are_not_exact_are_refused() {
    for number in [json!(9007199254740992_u64), json!(-9007199254740992_i64), json!(1e300)] {
        let error = refused(json!({ "args": [{ "deep": number }] }));
        let expect = NotExact::Number { at: "/args/0/deep".to_owned(), number: number.to_string() };
        assert!(matches!(&error, AuditError::NotCanonical(found) if *found == expect), "{error}");
        assert!(error.help().contains("strings"));
    }
}

#[test]
fn deep_nesting_is_refused() {
    for levels in [127, 128, 500] {
        let nested = (0..levels).fold(json!({}), |value, _| json!({ "a": value }));
        assert!(matches!(refused(nested), AuditError::NotCanonical(NotExact::Deep)), "{levels}");
    }
}

/// A key that `serde_json` reserves: an agent that can choose arguments must not be able to make the log look tampered
/// with.
#[test]
fn what_would_not_be_read_back_is_refused() {
    let error = refused(json!({ "args": { "$serde_json::private::RawValue": "[1, 2]" } }));
    assert!(matches!(error, AuditError::NotReadBack(_)), "{error}");
}

#[test]
fn long_entries_are_refused() {
    let error = refused(json!({ "text": "x".repeat(2 * 1024 * 1024) }));
    assert!(matches!(error, AuditError::Long { limit, .. } if limit == Options::default().max_entry_bytes), "{error}");

    // No option allows an entry that a verifier would not read.
    let options = Options { max_entry_bytes: usize::MAX, ..Options::default() };
    let memory = Memory::default();
    let audit = Audit::over(memory.clone(), key(), clock(), options).unwrap();
    let turn = turn();
    let text = |length| Record::new(Kind::Outcome, &turn, object(json!({ "text": "x".repeat(length) })));
    assert!(matches!(audit.append(text(MAX_LINE_BYTES)), Err(AuditError::Long { limit: MAX_LINE_BYTES, .. })));
    let rest = entries(&memory.bytes())[0].to_string().len() + 32;
    assert_eq!(audit.append(text(MAX_LINE_BYTES - rest)).unwrap().sequence, 2);
    assert_eq!(judge(&memory.bytes(), memory.head_bytes().as_deref()).verdict, LogVerdict::Sound);
}

#[test]
fn a_time_that_cannot_be_written_is_refused() {
    for at in
        [SystemTime::UNIX_EPOCH - Duration::from_secs(1), SystemTime::UNIX_EPOCH + Duration::from_secs(253_402_300_800)]
    {
        let opened = Audit::over(Memory::default(), key(), Arc::new(ManualClock::new(at)), Options::default());
        assert!(matches!(opened, Err(AuditError::Clock)));
    }
    let last = SystemTime::UNIX_EPOCH + Duration::from_secs(253_402_300_799);
    let memory = Memory::default();
    drop(Audit::over(memory.clone(), key(), Arc::new(ManualClock::new(last)), Options::default()).unwrap());
    assert_eq!(entries(&memory.bytes())[0]["time"], "9999-12-31T23:59:59.000Z");
}

/// The label of every kind is stable: logs are kept for years.
#[test]
fn kinds_have_their_names() {
    let memory = Memory::default();
    let audit = open(memory.clone()).unwrap();
    let turn = turn();
    let kinds = [
        (Kind::Turn, "turn"),
        (Kind::Decision, "decision"),
        (Kind::Grant, "grant"),
        (Kind::Revocation, "revocation"),
        (Kind::Confirmation, "confirmation"),
        (Kind::Intent, "intent"),
        (Kind::Outcome, "outcome"),
    ];
    for (kind, _) in kinds {
        let _ = audit.append(Record::new(kind, &turn, Map::new())).unwrap();
    }
    let written: Vec<Value> = entries(&memory.bytes()).into_iter().skip(1).map(|entry| entry["kind"].clone()).collect();
    assert_eq!(written, kinds.map(|(_, name)| name));
}
