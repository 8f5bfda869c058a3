//! Logs for the tests of the report.

use std::num::NonZeroU64;
use std::sync::Arc;

use omen_gate::audit::{Audit, Key, Kind, Options, Record};
use omen_gate::{SystemClock, TurnId};
use omen_types::{CorrelationId, PacketId};
use serde_json::json;

use super::*;

/// Correlation id of the example with an expired token.
pub(super) const TRIM: &str = "corr_archive_trim_3";

/// Returns a log with another correlation id.
pub(super) fn renamed(log: &str, id: &str) -> String {
    let first: Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
    log.replace(first["header"]["correlation_id"].as_str().unwrap(), id)
}

/// Returns packets whose texts try to be code: in values, names and ids, and in a line that is not JSON.
pub(super) fn hostile() -> String {
    let attacks = [
        "</script><script>hit=1</script>",
        "<img src=x onerror=hit=1>",
        "<!-- <script>",
        "\u{202e}desrever\u{202c} \u{2066}a\u{2069}\u{200b}",
        "</style><style>body{display:none}</style>",
        "javascript:hit=1",
        "\"><svg onload=hit=1>",
        "{{constructor.constructor('hit=1')()}}",
        "a\u{0}b\n\u{1b}[31m",
    ];
    let mut text = String::new();
    let mut push = |packet: &Value| {
        text.push_str(&serde_json::to_string(packet).unwrap());
        text.push('\n');
    };
    for (number, attack) in attacks.into_iter().enumerate() {
        let lines = renamed(log(GOOD), &format!("corr_{number}"));
        for line in lines.lines() {
            let mut packet: Value = serde_json::from_str(line).unwrap();
            packet["mcp"]["intent"]["summary"] = attack.into();
            if packet["header"]["packet_type"] == "ObservationPacket" {
                packet["payload"]["source_tool"] = attack.into();
                packet["payload"]["data"] = json!({ attack: attack });
            }
            if packet["header"]["packet_type"] == "DecisionPacket" {
                packet["payload"]["decision_summary"] = attack.into();
            }
            push(&packet);
        }
        let mut broken: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
        broken["header"]["packet_id"] = format!("pkt_{attack}").into();
        broken["payload"][attack] = attack.into();
        push(&broken);
    }
    text.push_str("<script>hit=1</script> is not JSON\n");
    text
}

/// Returns a log with one mistake that causes others: the belief update is invalid, so the decision comes before any belief.
pub(super) fn cascade() -> String {
    log(GOOD).replacen("\"BeliefUpdatePacket\"", "\"BeliefUpdatePaket\"", 1)
}

/// Returns an episode whose first packet has a text of a million characters.
pub(super) fn long_text() -> String {
    let mut lines = renamed(log(GOOD), "corr_long_text").lines().map(str::to_owned).collect::<Vec<_>>();
    let mut packet: Value = serde_json::from_str(&lines[0]).unwrap();
    packet["payload"]["data"] = json!({ "page": format!("{} <b>", "long text ".repeat(100_000)) });
    packet["header"]["packet_id"] = "pkt_obs_1".into();
    lines[0] = serde_json::to_string(&packet).unwrap();
    lines.join("\n")
}

/// Returns ten thousand episodes of two packets, some of which have errors.
pub(super) fn many() -> String {
    let lines: Vec<_> = log(GOOD).lines().take(2).collect();
    let mut text = String::new();
    for number in 0..10_000 {
        let id = format!("corr_{number:05}");
        text.push_str(&renamed(lines[0], &id));
        text.push('\n');
        if number % 100 != 0 {
            text.push_str(&renamed(lines[1], &id));
            text.push('\n');
        }
        if number % 500 == 0 {
            // A repeated id is an error, so the belief is sent only once.
            text.push_str(&renamed(lines[0], &id));
            text.push('\n');
        }
    }
    text
}

/// Returns one episode of two thousand observations.
pub(super) fn long_episode() -> String {
    let line = renamed(log(GOOD).lines().next().unwrap(), "corr_long");
    let first: Value = serde_json::from_str(&line).unwrap();
    let id = first["header"]["packet_id"].as_str().unwrap();
    (0..2000).map(|number| line.replace(&format!("\"{id}\""), &format!("\"pkt_{number}\"")) + "\n").collect()
}

/// Returns a folder with `episode.jsonl`, and with `audit.key` and `audit.jsonl` about its first writing directive.
pub(super) fn audited() -> TempDir {
    audited_with(None)
}

/// Returns the same with a log that is rotated at a size in bytes.
pub(super) fn audited_with(rotate_bytes: Option<NonZeroU64>) -> TempDir {
    let outcome = json!({ "answer": "ab", "call": "c0ffee", "class": null, "ran": "yes", "why": null });
    audited_by(rotate_bytes, &[(Kind::Outcome, outcome)])
}

/// Returns a folder whose audit log has a confirmed call in doubt and a refused one.
pub(super) fn audited_in_doubt() -> TempDir {
    let tool = json!({ "server": "db", "tool": "drop_table" });
    let refused = json!({ "code": "G1", "outcome": "denied", "tool": tool, "why": "no grant" });
    audited_by(None, &[(Kind::Decision, refused)])
}

/// Returns the entries of a confirmed call up to its intent, and further ones.
fn audited_by(rotate_bytes: Option<NonZeroU64>, more: &[(Kind, Value)]) -> TempDir {
    let text = log("valid/verify-then-write.jsonl");
    let folder = folder(&[("episode.jsonl", text.as_bytes())]);
    drop(Key::create(folder.path().join("audit.key")).unwrap());
    let packets: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let is_write = |packet: &&Value| packet["payload"]["tool_safety_class"] == "WRITE";
    let header = &packets.iter().find(is_write).expect("a directive that writes")["header"];
    let packet_id = PacketId::new(header["packet_id"].as_str().unwrap()).unwrap();
    let correlation_id = CorrelationId::new(header["correlation_id"].as_str().unwrap()).unwrap();

    let key = Key::from_file(folder.path().join("audit.key")).unwrap();
    let path = folder.path().join("audit.jsonl");
    let audit =
        Audit::open(path, key, Arc::new(SystemClock::default()), Options { rotate_bytes, ..Options::default() })
            .unwrap();
    let turn = TurnId::new("turn_1").unwrap();
    let decided = |stage: &str| json!({ "call": "c0ffee", "outcome": "allowed", "stage": stage, "tool": { "server": "db", "tool": "retention.set" } });
    let mut confirmed = decided("confirmation");
    confirmed["by"] = json!({ "via": "socket", "uid": 1000, "user": "ops" });
    let entries = [
        (Kind::Decision, decided("authorization")),
        (Kind::Confirmation, confirmed),
        (Kind::Intent, decided("dispatch")),
    ];
    for (kind, data) in entries.iter().chain(more).cloned() {
        let record =
            Record::new(kind, &turn, data.as_object().unwrap().clone()).with_packet(&packet_id, &correlation_id);
        let _ = audit.append(record).unwrap();
    }
    folder
}
