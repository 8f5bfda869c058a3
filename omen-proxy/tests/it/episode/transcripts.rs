//! Every transcript, in both modes: what the model reads, and whether what is written is judged clean.

use std::fs;

use omen_proxy::episode::Mode;
use serde_json::{Value, json};

use super::play::{Played, folder, play, play_recording, transcripts};

/// What a validator finds, in words.
fn findings(played: &Played) -> Vec<String> {
    let of = |finding: &omen::Finding| {
        format!("{:?} {} {}", finding.line, finding.diagnostic.code, finding.diagnostic.message)
    };
    // A transcript breaks off anywhere, and then its episode does not close (D81).
    let breaks_off = |finding: &&omen::Finding| {
        finding.diagnostic.code == omen::Code::Fsm
            && finding.diagnostic.severity == omen::Severity::Warning
            && finding.line.is_none()
    };
    played.log.findings().iter().filter(|finding| !breaks_off(finding)).map(of).collect()
}

#[tokio::test]
async fn what_a_model_reads_is_what_was_read_by_a_human() {
    let bless = std::env::var_os("OMEN_BLESS").is_some();
    let mut differ = Vec::new();
    let all = transcripts();
    assert!(all.len() >= 12, "{}", all.len());
    for (name, lines) in all {
        let played = play(Mode::Enforce, &lines).await;
        let path = folder().join(format!("{name}.read.txt"));
        if bless {
            fs::write(&path, &played.read).unwrap();
        } else if fs::read_to_string(&path).unwrap_or_default() != played.read {
            differ.push(format!("{name}:\n{}", played.read));
        }
        assert_eq!(findings(&played), Vec::<String>::new(), "{name}");
        for result in &played.results {
            decision(&name, result);
        }
    }
    assert!(differ.is_empty(), "run with OMEN_BLESS=1 and read what has changed:\n{}", differ.join("\n"));
}

/// The structured content says the same as the text.
fn decision(name: &str, result: &Value) {
    let text = result["content"][0]["text"].as_str().unwrap();
    let Some(decision) = result.get("structuredContent").filter(|decision| decision.get("accepted").is_some()) else {
        return;
    };
    assert_eq!(decision["accepted"], !result["isError"].as_bool().unwrap(), "{name}: {result}");
    assert!(text.contains(&format!("State: {}.", decision["state"].as_str().unwrap())), "{name}: {text}");
    for next in decision["next"].as_array().unwrap() {
        assert!(text.contains(next["call"].as_str().unwrap()), "{name}: {text}");
    }
    if decision["accepted"] == false {
        assert!(text.contains(&format!("({})", decision["code"].as_str().unwrap())), "{name}: {text}");
        assert!(!decision["findings"].as_array().unwrap().is_empty(), "{name}: {decision}");
    }
}

#[tokio::test]
async fn what_is_observed_of_the_same_transcripts_is_judged_clean() {
    for (name, lines) in transcripts() {
        let played = play(Mode::Observe, &lines).await;
        assert_eq!(findings(&played), Vec::<String>::new(), "{name}");
        assert!(!played.log.all().is_empty(), "{name}");
    }
}

/// The codes of what was refused, one after the other.
fn refused(played: &Played) -> Vec<String> {
    let code = |result: &Value| {
        let gate = &result["_meta"]["omen/decision"]["code"];
        let code = if gate.is_null() { &result["structuredContent"]["code"] } else { gate };
        code.as_str().map(str::to_owned)
    };
    played.results.iter().filter(|result| result["isError"] == true).filter_map(code).collect()
}

/// The tools and operations of each token are those of the decision that rests.
#[tokio::test]
async fn a_token_covers_what_the_decision_names() {
    let (_, lines) = transcripts().into_iter().find(|(name, _)| name == "another-tool").unwrap();
    let played = play(Mode::Enforce, &lines).await;
    let scopes: Vec<_> = played
        .log
        .all()
        .iter()
        .filter(|packet| packet["header"]["packet_type"] == "ToolAuthorizationToken")
        .map(|packet| packet["payload"]["authorized_scope"].clone())
        .collect();
    let scope = |tool: &str, operation: &str| json!({"tool_ids": [tool], "operation_types": [operation]});
    assert_eq!(scopes, [scope("s/write", "write"), scope("s/ask", "modify")]);
}

/// The operation of a call is judged where the log has nothing of its arguments, too.
#[tokio::test]
async fn an_operation_that_was_not_decided_is_refused_whatever_is_recorded_of_arguments() {
    let (_, lines) = transcripts().into_iter().find(|(name, _)| name == "another-tool").unwrap();
    for recorded in ["full", "redacted", "hash"] {
        let played = play_recording(Mode::Enforce, &lines, recorded).await;
        assert_eq!(played.made, ["write", "read", "ask", "read"], "{recorded}");
        assert_eq!(findings(&played), Vec::<String>::new(), "{recorded}");
        let quoted = played.log.all().iter().any(|packet| packet.to_string().contains(r#""operation":"Write""#));
        assert_eq!(quoted, recorded == "full", "{recorded}");
    }
}

/// What is refused, by which rule, which calls the server gets, and what the episode's log ends with.
#[tokio::test]
async fn each_transcript_is_stopped_by_the_rule_that_it_breaks() {
    let expected: [(&str, &[&str], &[&str], &str); 20] = [
        (
            "another-tool",
            &[
                "E1", "INV-007", "SCHEMA", "SCHEMA", "SCHEMA", "INV-007", "INV-007", "INV-007", "INV-007", "INV-007",
                "INV-007", "INV-007", "INV-007", "INV-007",
            ],
            &["write", "read", "ask", "read"],
            "S6_EXECUTE",
        ),
        ("answer-in-doubt", &["R3", "E4"], &["write", "read"], "S2_MODEL"),
        ("budget-exhausted", &["INV-005"], &["read", "write"], "S7_REVIEW"),
        ("confirmation-declined", &["G3"], &["ask"], "S7_REVIEW"),
        ("decision-before-belief", &["E1"], &[], "S3_DECIDE"),
        ("escalation", &["E2", "SCHEMA", "E2"], &["write"], "S6_EXECUTE"),
        ("escalation-declined", &[], &[], "S7_REVIEW"),
        ("first-calls", &[], &["write", "read"], "S3_DECIDE"),
        (
            "forged-evidence",
            &["INV-004", "FSM", "INV-004", "INV-004", "INV-004", "INV-004", "INV-004", "INV-003", "E2"],
            &[],
            "S2_MODEL",
        ),
        ("good", &[], &["read", "write"], "S7_REVIEW"),
        ("high-stakes", &["INV-012", "INV-003", "E2"], &[], "S7_REVIEW"),
        (
            "malformed",
            &["INV-001", "INV-001", "SCHEMA", "SCHEMA", "SCHEMA", "SCHEMA", "SCHEMA", "INV-001", "SCHEMA"],
            &[],
            "S1_SENSE",
        ),
        ("safe-mode", &["INV-005", "E7", "E7", "E7"], &["read"], "S9_SAFEMODE"),
        ("skipped-verification", &["E3", "E3", "E3", "E3"], &["read", "write"], "S6_EXECUTE"),
        ("tier-and-checks", &["INV-002", "INV-006", "E7", "E7"], &[], "S9_SAFEMODE"),
        ("token-named-by-model", &["E4", "E4", "SCHEMA", "SCHEMA", "PG-2"], &["write"], "S6_EXECUTE"),
        ("tool-fails", &[], &["write"], "S7_REVIEW"),
        ("two-at-once", &["E4"], &["write"], "S7_REVIEW"),
        ("unknown-tool", &["PG-2", "PG-2", "PG-3"], &["write"], "S6_EXECUTE"),
        ("write-before-decision", &["E2", "E2", "E2"], &["write"], "S6_EXECUTE"),
    ];
    let all = transcripts();
    assert_eq!(all.len(), expected.len());
    for ((name, lines), (of, codes, made, state)) in all.into_iter().zip(expected) {
        let played = play(Mode::Enforce, &lines).await;
        assert_eq!(name, of);
        assert_eq!(refused(&played), codes, "{name}");
        assert_eq!(played.made, made, "{name}");
        assert!(
            played.last_note.contains("`corr_session` ended in") && played.last_note.contains(state),
            "{}",
            played.last_note
        );
        // A directive has its result, and one that writes has a token of its own.
        let types = played.log.types();
        let count = |packet: &str| types.iter().filter(|own| *own == packet).count();
        assert_eq!(count("TaskDirectivePacket"), count("TaskResultPacket"), "{name}");
        let writes = made.iter().filter(|tool| **tool != "read").count();
        assert_eq!(count("ToolAuthorizationToken"), writes, "{name}");
    }
}
