//! The JSON output is a contract: its fields, their order, and nothing else on stdout.

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};

use super::*;

/// Keys of an object, in order.
struct Keys(Vec<String>);

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Keys;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Keys, A::Error> {
                let mut keys = Vec::new();
                while let Some((key, IgnoredAny)) = map.next_entry()? {
                    keys.push(key);
                }
                Ok(Keys(keys))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

#[track_caller]
pub(super) fn check_keys(text: &str, expect: &[&str]) {
    assert_eq!(serde_json::from_str::<Keys>(text).unwrap().0, expect);
}

pub(super) const FIELDS: [&str; 19] = [
    "file",
    "line",
    "column",
    "packet_index",
    "packet_id",
    "correlation_id",
    "packet_type",
    "state",
    "stage",
    "code",
    "also",
    "severity",
    "pointer",
    "message",
    "help",
    "follows_from",
    "labels",
    "notes",
    "directive_line",
];

#[test]
fn fields_are_in_their_order() {
    let input = format!("{}{}\u{feff}?\n", log(BAD), log("invalid/e6-end-with-directive-open.jsonl"));
    let run = run(omen(["check", "--format", "json"]).write_stdin(input));
    let lines: Vec<&str> = run.stdout.lines().collect();
    let (last, findings) = lines.split_last().unwrap();
    assert_eq!(findings.len(), 3);
    for finding in findings {
        check_keys(finding, &FIELDS);
    }
    check_keys(last, &["summary"]);
    let summary = last.strip_prefix("{\"summary\":").unwrap().strip_suffix('}').unwrap();
    check_keys(
        summary,
        &["files", "bytes", "packets", "accepted", "rejected", "episodes", "errors", "warnings", "consequences"],
    );
    assert!(run.stdout.ends_with("}}\n"));
    assert_eq!(run.stderr, "");
}

#[test]
fn a_finding_in_a_packet_says_all_there_is() {
    let (findings, _) = json(&run(omen(["check", "--format", "json"]).write_stdin(log(BAD))));
    let finding = &findings[0];
    assert_eq!(finding["file"], "-");
    assert_eq!(finding["line"], 6);
    assert_eq!(finding["packet_index"], 5);
    assert_eq!(finding["packet_id"], "pkt_directive_1_try");
    assert_eq!(finding["packet_type"], "TaskDirectivePacket");
    assert_eq!(finding["state"], serde_json::json!(["S5_AUTHORIZE"]));
    assert_eq!(finding["stage"], "fsm");
    assert_eq!(finding["code"], "E4");
    assert_eq!(finding["also"], serde_json::json!(["INV-007"]));
    assert_eq!(finding["severity"], "error");
    assert_eq!(finding["pointer"], "/payload/authorization_token_id");
    let label = "expired at 2026-03-16T05:00:00Z, 3 s before this packet";
    assert_eq!(finding["labels"], serde_json::json!([label]));
    assert_eq!(finding["notes"], serde_json::json!(["`token_trim_early` was issued in `pkt_token_1`"]));
    let line = log(BAD).lines().nth(5).unwrap();
    let column = usize::try_from(finding["column"].as_u64().unwrap()).unwrap();
    assert!(line.chars().skip(column - 1).collect::<String>().starts_with("\"token_trim_early\""));
}

#[test]
fn what_is_unknown_is_null() {
    let run = run(omen(["check", "--format", "json"]).write_stdin("?\n"));
    let (findings, summary) = json(&run);
    for field in ["packet_id", "correlation_id", "packet_type", "state", "pointer"] {
        assert_eq!(findings[0][field], Value::Null, "{field}");
    }
    assert_eq!((&findings[0]["stage"], &findings[0]["code"]), (&"json".into(), &"JSON".into()));
    assert_eq!(summary["rejected"], 1);
}

#[test]
fn the_end_of_the_stream_has_no_line() {
    let log = log("invalid/e6-end-with-directive-open.jsonl");
    let (findings, _) = json(&run(omen(["check", "--format", "json"]).write_stdin(log)));
    let finding = &findings[0];
    assert_eq!((&finding["stage"], &finding["code"]), (&"end".into(), &"E6".into()));
    for field in ["line", "column", "packet_index"] {
        assert_eq!(finding[field], Value::Null, "{field}");
    }
    assert_eq!(finding["packet_id"], "pkt_directive_1");
}

#[test]
fn bytes_that_are_not_utf_8_are_a_finding() {
    let run = run(omen(["check", "--format", "json"]).write_stdin(&b"{\"\xc3\xa9\":\"\xff\"}\n"[..]));
    let (findings, _) = json(&run);
    assert_eq!(run.code, 1);
    assert_eq!((findings.len(), &findings[0]["code"]), (1, &"JSON".into()));
}

/// A file name can break neither the JSON nor the line.
#[test]
#[cfg(unix)]
fn strange_file_names_are_escaped() {
    let folder = folder(&[("new\nline\u{1b}[31m.jsonl", b"?\n")]);
    let name = "new\nline\u{1b}[31m.jsonl";
    let as_json = run(omen(["check", "--format", "json", name]).current_dir(&folder));
    assert_eq!(json(&as_json).0[0]["file"], name);
    let human = run(omen(["check", name]).current_dir(&folder));
    assert!(human.stdout.contains("new␊line␛[31m.jsonl:1:1"), "{}", human.stdout);
}
