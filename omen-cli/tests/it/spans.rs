//! `omen audit spans`: calls as spans, printed or sent to a collector, which is a stand-in here.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;

use omen_gate::audit::{Audit, Key, Kind, Options, Record};
use omen_gate::{ManualClock, TurnId};
use serde_json::json;

use super::*;

/// Returns a log with a successful call, a failed one, a refused one, a denied one, and a confirmed one. Entries are 2 ms apart.
fn logged() -> TempDir {
    let folder = folder(&[]);
    drop(Key::create(folder.path().join("audit.key")).unwrap());
    let start = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_772_359_200);
    let clock = Arc::new(ManualClock::new(start));
    let key = Key::from_file(folder.path().join("audit.key")).unwrap();
    let log = folder.path().join("audit.jsonl");
    let audit = Audit::open(log, key, clock.clone(), Options::default()).unwrap();
    let record = |kind, turn: &str, data: Value| {
        clock.advance(std::time::Duration::from_millis(2));
        let turn = TurnId::new(turn).unwrap();
        let Value::Object(data) = data else { panic!("{data}") };
        let _ = audit.append(Record::new(kind, &turn, data)).unwrap();
    };
    let tool = |name: &str| json!({"server": "files", "tool": name});
    record(
        Kind::Intent,
        "s.1",
        json!({"call": "c1", "outcome": "allowed", "tool": tool("read"), "policy": "p", "pin": "v1:0"}),
    );
    record(Kind::Outcome, "s.1", json!({"answer": "00", "call": "c1", "class": null, "ran": "yes", "why": null}));
    record(Kind::Intent, "s.2", json!({"call": "c2", "outcome": "allowed", "tool": tool("write")}));
    record(
        Kind::Outcome,
        "s.2",
        json!({"call": "c2", "class": "timeout", "ran": "unknown", "why": "no answer in 60 s"}),
    );
    record(
        Kind::Decision,
        "s.3",
        json!({"call": "c3", "code": "G1", "outcome": "denied", "tool": tool("rm"), "why": "no grant"}),
    );
    for (turn, call, tool_name) in [("s.5", "c5", "move"), ("s.6", "c6", "copy")] {
        record(
            Kind::Decision,
            turn,
            json!({"call": call, "needs_confirmation": true, "outcome": "allowed", "stage": "authorization", "tool": tool(tool_name)}),
        );
    }
    record(
        Kind::Confirmation,
        "s.5",
        json!({"by": {"via": "socket"}, "call": "c5", "code": "G3", "outcome": "denied", "stage": "confirmation", "tool": tool("move"), "why": "wrong folder"}),
    );
    record(
        Kind::Confirmation,
        "s.6",
        json!({"call": "c6", "outcome": "allowed", "stage": "confirmation", "tool": tool("copy")}),
    );
    // Still open.
    record(Kind::Intent, "s.4", json!({"call": "c4", "outcome": "allowed", "tool": tool("write")}));
    folder
}

fn attributes(span: &Value) -> BTreeMap<String, String> {
    let attributes = span["attributes"].as_array().unwrap().iter();
    let value = |value: &Value| value["stringValue"].as_str().or(value["intValue"].as_str()).unwrap().to_owned();
    attributes.map(|one| (one["key"].as_str().unwrap().to_owned(), value(&one["value"]))).collect()
}

fn export(folder: &TempDir, more: &[&str]) -> Run {
    run(omen([&["audit", "spans", "--key-file", "audit.key"], more, &["audit.jsonl"]].concat()).current_dir(folder))
}

#[test]
fn a_call_is_a_span_and_so_are_a_refusal_and_a_denial() {
    let folder = logged();
    let printed = export(&folder, &[]);
    assert_eq!((printed.code, printed.stderr.as_str(), printed.stdout.lines().count()), (0, "", 1));
    let request: Value = serde_json::from_str(&printed.stdout).unwrap();
    let scope = &request["resourceSpans"][0]["scopeSpans"][0];
    assert_eq!(scope["schemaUrl"], "https://opentelemetry.io/schemas/1.41.0");
    let spans = scope["spans"].as_array().unwrap();
    let names: Vec<_> = spans.iter().map(|span| span["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["execute_tool read", "execute_tool write", "execute_tool rm", "execute_tool move"]);
    let [read, write, rm, denied] = [0, 1, 2, 3].map(|at| attributes(&spans[at]));
    for (key, value) in [
        ("gen_ai.operation.name", "execute_tool"),
        ("gen_ai.tool.name", "read"),
        ("gen_ai.tool.call.id", "c1"),
        ("omen.server", "files"),
        ("omen.turn", "s.1"),
        ("omen.ran", "yes"),
        ("omen.policy", "p"),
        ("omen.pin", "v1:0"),
        ("omen.entry", "2"),
    ] {
        assert_eq!(read[key], value, "{key}");
    }
    assert!(!read.contains_key("error.type"));
    assert_eq!((write["error.type"].as_str(), write["omen.ran"].as_str()), ("timeout", "unknown"));
    assert_eq!((rm["error.type"].as_str(), rm["omen.code"].as_str()), ("G1", "G1"));
    // The person who was asked denied it: the entry is the denial, and the span looks like that of another refusal.
    assert_eq!((denied["error.type"].as_str(), denied["omen.code"].as_str()), ("G3", "G3"));
    assert_eq!((denied["gen_ai.tool.call.id"].as_str(), denied["omen.turn"].as_str()), ("c5", "s.5"));
    assert_eq!((denied["omen.entry"].as_str(), denied.get("omen.ran")), ("9", None));
    assert_eq!(spans[3]["status"], json!({"code": 2, "message": "wrong folder"}));
    assert_eq!(spans[1]["status"], json!({"code": 2, "message": "no answer in 60 s"}));
    assert_eq!(spans[0]["status"], json!({}));
    let times = |span: &Value| {
        let at = |member: &str| span[member].as_str().unwrap().parse::<u64>().unwrap();
        at("endTimeUnixNano") - at("startTimeUnixNano")
    };
    assert_eq!([0, 2, 3].map(|at| times(&spans[at])), [2_000_000, 0, 0]);
    let ids: BTreeSet<_> = spans.iter().map(|span| span["spanId"].as_str().unwrap()).collect();
    assert!(ids.len() == 4 && ids.iter().all(|id| id.len() == 16));
    assert_eq!(spans[0]["traceId"].as_str().unwrap().len(), 32);
    assert_eq!(export(&folder, &[]).stdout, printed.stdout, "ids are the same each time");
}

/// Responds to one request, and returns its head and body.
fn collector(answer: &'static str) -> (String, std::thread::JoinHandle<(String, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let served = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut from = BufReader::new(stream.try_clone().unwrap());
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(from.read_line(&mut head).unwrap() > 0);
        }
        let length =
            head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
        let mut body = vec![0; length.unwrap()];
        from.read_exact(&mut body).unwrap();
        write!(stream, "HTTP/1.1 {answer}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{}}").unwrap();
        (head, serde_json::from_slice(&body).unwrap())
    });
    (url, served)
}

#[test]
fn a_collector_gets_the_spans() {
    let folder = logged();
    let printed: Value = serde_json::from_str(&export(&folder, &[]).stdout).unwrap();
    let (url, served) = collector("200 OK");
    let sent = export(&folder, &["--endpoint", &url]);
    assert_eq!((sent.code, sent.stdout.as_str(), sent.stderr.as_str()), (0, "", ""));
    let (head, body) = served.join().unwrap();
    assert!(head.starts_with("POST /v1/traces HTTP/1.1\r\n"), "{head}");
    assert!(head.to_ascii_lowercase().contains("content-type: application/json\r\n"), "{head}");
    assert_eq!(body, printed);
}

#[test]
fn a_collector_that_takes_nothing_is_reported() {
    let folder = logged();
    let (url, served) = collector("503 Service Unavailable");
    let refused = export(&folder, &["--endpoint", &url]);
    assert_eq!((refused.code, refused.stdout.as_str()), (3, ""));
    assert!(
        refused.stderr.contains("/v1/traces does not accept spans: ") && refused.stderr.contains("503"),
        "{}",
        refused.stderr
    );
    served.join().unwrap();
    // Nothing listens there.
    let refused = export(&folder, &["--endpoint", &url]);
    assert_eq!((refused.code, refused.stderr.lines().count()), (3, 1), "{}", refused.stderr);
    assert!(refused.stderr.contains("start one that listens for OTLP/HTTP there"), "{}", refused.stderr);
}
