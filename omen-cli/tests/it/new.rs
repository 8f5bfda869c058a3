//! `omen new`: packets to start from.

use omen_types::PacketType;

use super::*;

fn printed<'a>(args: impl IntoIterator<Item = &'a str>) -> String {
    let run = run(&mut omen(["new"].into_iter().chain(args)));
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    run.stdout
}

#[track_caller]
fn check(log: &str) {
    let run = run(omen(["check", "-"]).write_stdin(log));
    assert_eq!(run.code, 0, "{log}\n{}", run.stdout);
    // Each packet has placeholders, and no other warning (D89).
    let warnings = run.stdout.matches("warning[").count();
    assert_eq!(warnings, run.stdout.matches("warning[CLAIM]").count(), "{}", run.stdout);
    assert_eq!(warnings, log.lines().count(), "{}", run.stdout);
}

/// No template claims more than it can know (D89).
#[test]
fn templates_claim_nothing_without_evidence() {
    for event in omen_fsm::Event::ALL.iter().filter(|event| event.packet_type().is_some()) {
        let packet: Value = serde_json::from_str(&printed([event.as_str()])).unwrap();
        let (epistemics, refs) = (&packet["mcp"]["epistemics"], &packet["mcp"]["evidence"]["evidence_refs"]);
        let is_observed = epistemics["status"] == "OBSERVED";
        assert_eq!(is_observed, refs.as_array().is_some_and(|refs| !refs.is_empty()), "{event}: {packet}");
        assert_eq!(is_observed, event.as_str().starts_with("observe"), "{event}: {packet}");
        assert_eq!((&epistemics["confidence"], &epistemics["freshness_class"]), (&0.into(), &"STRATEGIC".into()));
    }
}

#[test]
fn every_packet_type_has_a_valid_skeleton() {
    for packet_type in PacketType::ALL {
        let line = printed([packet_type.as_str()]);
        let packet: omen_types::Packet = line.trim_end().parse().unwrap();
        assert_eq!((packet.packet_type(), line.lines().count()), (*packet_type, 1));
    }
}

#[test]
fn packets_that_follow_one_another_are_a_legal_episode() {
    check(&printed(["observe", "believe", "decide_act", "authorize", "direct_write", "settle", "believe"]));
    let looped = ["decide_verify_first", "plan", "direct_read", "settle", "observe", "believe"];
    check(&printed(["observe_user", "believe"].into_iter().chain(looped).chain(["decide_stop", "believe"])));
    let escalated = ["observe", "halt", "believe", "release", "observe", "believe", "decide_escalate", "escalate"];
    check(&printed(escalated.into_iter().chain(["observe_user", "decide_stop", "believe"])));
    // An episode that awaits a human's answer is legal, and is not closed (D81).
    let open = run(omen(["check", "--format", "concise", "-A", "CLAIM", "-"]).write_stdin(printed(escalated)));
    let warned = "<stdin>: warning[FSM] the episode ends in S8_ESCALATED: a human is awaited\n";
    assert_eq!((open.code, open.stdout.as_str()), (0, warned));
}

#[test]
fn a_log_goes_on_with_its_own_ids() {
    let log = log("valid/interleaved.jsonl");
    let folder = folder(&[("log.jsonl", log.as_bytes())]);
    let lines: Vec<&str> = log.lines().collect();
    let open = lines.iter().position(|line| line.contains("\"TaskDirectivePacket\"")).unwrap() + 1;
    let directive: Value = serde_json::from_str(lines[open - 1]).unwrap();
    let episode = directive["header"]["correlation_id"].as_str().unwrap();
    let args = ["new", "settle", "--after", "log.jsonl", "--line", &open.to_string(), "--episode", episode];
    let run = run(omen(args).current_dir(&folder));
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let result: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(result["payload"]["directive_packet_id"], directive["header"]["packet_id"]);
    assert_eq!(result["payload"]["task_id"], directive["payload"]["task_id"]);
    assert_eq!(result["header"]["correlation_id"], directive["header"]["correlation_id"]);
    assert!(result["header"]["created_at"].as_str() > directive["header"]["created_at"].as_str());
    assert_eq!(result["mcp"]["budgets"], directive["mcp"]["budgets"]);
    assert!(!log.contains(result["header"]["packet_id"].as_str().unwrap()));
}

#[test]
fn what_is_not_legal_yet_is_printed_with_a_note() {
    let folder = folder(&[("log.jsonl", log(GOOD).as_bytes())]);
    let run = run(omen(["new", "escalate", "--after", "log.jsonl"]).current_dir(&folder));
    assert_eq!((run.code, run.stdout.lines().count()), (0, 1));
    assert!(run.stderr.starts_with("omen: note: escalate is not legal here yet: FSM: "), "{}", run.stderr);
}

#[test]
fn mistakes_are_reported() {
    #[track_caller]
    fn fails(args: &[&str], code: i32, expect: &str) {
        let folder = folder(&[("log.jsonl", log(GOOD).as_bytes()), ("empty.jsonl", b"")]);
        let run = run(omen(["new"].iter().chain(args).copied()).current_dir(&folder));
        assert_eq!((run.code, run.stdout.as_str()), (code, ""), "{}", run.stderr);
        assert!(run.stderr.contains(expect), "{}", run.stderr);
    }
    fails(&["DecisionPaket"], 2, "did you mean `DecisionPacket`?");
    fails(&["decide_akt"], 2, "did you mean `decide_act`?");
    fails(&["close"], 2, "unknown packet `close`; expected an event (observe, ");
    fails(&["close"], 2, " or a packet type (ObservationPacket, ");
    fails(&["decide"], 2, "unknown packet `decide`; did you mean `decide_");
    fails(&["Direct"], 2, "`direct_read`, `direct_write`");
    fails(&["beleive"], 2, "unknown packet `beleive`; did you mean `believe`?");
    fails(&[], 2, "NAME");
    fails(&["settle", "--line", "3"], 2, "--after");
    fails(&["settle", "--after", "missing.jsonl"], 3, "cannot read missing.jsonl");
    fails(&["settle", "--after", "empty.jsonl"], 2, "no valid packet to continue");
    fails(
        &["settle", "--after", "log.jsonl", "--episode", "corr_support_invoice_4472"],
        2,
        "did you mean `corr_support_invoice_4471`?",
    );
}
