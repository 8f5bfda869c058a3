//! Depths of the check: schema alone, single packets, or packets in their episodes.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use omen::finding::{Code, Finding, Severity, Stage};
use omen::validator::{Depth, ParallelValidator, Summary, Validator, ValidatorOptions};

fn logs() -> impl Iterator<Item = (&'static str, &'static str)> {
    omen_schema::EXAMPLES.iter().copied().filter(|(path, _)| path.ends_with(".jsonl"))
}

fn check(log: &str, depth: Depth) -> (Vec<Finding>, Summary) {
    let mut findings = Vec::new();
    let mut validator = Validator::new(ValidatorOptions { depth, ..ValidatorOptions::default() });
    let Ok(()) = validator.feed(log.as_bytes(), &mut findings);
    let Ok(summary) = validator.finish(&mut findings);
    (findings, summary)
}

/// Returns line, code and pointer of a finding, without its text.
fn key(finding: &Finding) -> (u64, Code, Option<String>) {
    (finding.line.unwrap_or_default(), finding.diagnostic.code, finding.diagnostic.pointer.clone())
}

#[test]
fn lines_by_themselves_have_the_errors_of_json_and_schema() {
    for (path, log) in logs() {
        let (whole, _) = check(log, Depth::InEpisode);
        let (lines, summary) = check(log, Depth::Schema);
        let is_line = |finding: &&Finding| matches!(finding.diagnostic.code, Code::Json | Code::Schema);
        // Only the episode determines the time.
        let text = |finding: &Finding| {
            let mut diagnostic = finding.diagnostic.clone();
            let help = diagnostic.help.as_deref().unwrap_or_default();
            let is_time =
                diagnostic.pointer.as_deref() == Some("/header/created_at") || help.contains("\"created_at\": ");
            diagnostic.help = diagnostic.help.filter(|_| !is_time);
            diagnostic.to_string()
        };
        let expected: Vec<String> = whole.iter().filter(is_line).map(text).collect();
        let found: Vec<String> = lines.iter().map(text).collect();
        assert_eq!(found, expected, "{path}");
        assert!(lines.iter().all(|finding| finding.state.is_none() && finding.follows_from.is_none()), "{path}");
        assert_eq!((summary.episodes, summary.errors), (0, expected.len() as u64), "{path}");
    }
}

/// Findings on a packet by itself are also reported in its episode, unless an earlier stage rejects it there.
#[test]
fn packets_by_themselves_have_findings_that_their_episodes_have() {
    let rank = |severity| u8::from(severity == Severity::Error);
    let (mut codes, mut taken_back) = (BTreeSet::new(), 0);
    for (path, log) in logs() {
        let (whole, _) = check(log, Depth::InEpisode);
        let severities: BTreeMap<_, _> =
            whole.iter().map(|finding| (key(finding), finding.diagnostic.severity)).collect();
        // Lines that do not reach this stage, and lines whose warnings are not reported.
        let ended = |line: Option<u64>, stages: &[Stage]| {
            let is_error = |finding: &&Finding| finding.diagnostic.severity == Severity::Error;
            whole.iter().filter(is_error).any(|finding| finding.line == line && stages.contains(&finding.stage))
        };
        for finding in check(log, Depth::Packet).0 {
            let diagnostic = &finding.diagnostic;
            codes.insert(diagnostic.code);
            let in_episode = severities.get(&key(&finding)).map(|severity| rank(*severity));
            let is_earlier = ended(finding.line, &[Stage::Schema, Stage::Fsm]) && finding.stage == Stage::Invariant;
            let is_unreported = diagnostic.severity == Severity::Warning && ended(finding.line, &[Stage::Invariant]);
            let is_there = in_episode.is_some_and(|severity| severity >= rank(diagnostic.severity));
            assert!(is_there || is_earlier || is_unreported, "{path}: {finding:?}");
            // A warning is withdrawn only where the packet is rejected, as the page on stages says.
            taken_back += usize::from(!is_there && diagnostic.severity == Severity::Warning);
        }
    }
    assert!(taken_back > 0);
    let page: Vec<_> = include_str!("../../../docs/configuration.md").split_whitespace().collect();
    assert!(page.join(" ").contains("A later stage withdraws a warning if it rejects the packet"));
    use Code::{Claim, Inv002, Inv003, Inv004, Inv006, Inv007, Inv010, Inv012, Json, Layer, Schema};
    let expected = [Json, Schema, Inv002, Inv003, Inv004, Inv006, Inv007, Inv010, Inv012, Layer, Claim];
    assert_eq!(codes, BTreeSet::from(expected));
}

#[test]
fn a_legal_log_has_no_errors_at_any_depth() {
    for (path, log) in logs().filter(|(path, _)| path.starts_with("valid/")) {
        for depth in [Depth::Schema, Depth::Packet] {
            assert_eq!(check(log, depth).1.errors, 0, "{path}: {depth:?}");
        }
        assert!(check(log, Depth::Schema).0.is_empty(), "{path}");
    }
}

/// A READ directive in a verification loop requires certainty; only the episode shows whether it is in a loop.
#[test]
fn the_milder_finding_counts_where_the_episode_decides() {
    let log = omen_schema::example("valid/verify-then-write.jsonl").unwrap_or_default();
    let read = log.lines().find(|line| line.contains("\"tool_safety_class\":\"READ\"")).expect("a READ directive");
    let mut packet: serde_json::Value = serde_json::from_str(read).expect("JSON");
    packet["mcp"]["epistemics"]["status"] = "INFERRED".into();
    packet["mcp"]["epistemics"]["freshness_class"] = "REALTIME".into();
    packet["mcp"]["evidence"] = serde_json::json!({"evidence_refs": [], "evidence_absent_reason": "not read yet"});
    let (found, _) = check(&packet.to_string(), Depth::Packet);
    let found: Vec<_> = found.iter().map(|finding| (finding.diagnostic.code, finding.diagnostic.severity)).collect();
    assert_eq!(found, [(Code::Inv004, Severity::Warning)]);
}

#[test]
fn neither_the_order_nor_the_number_of_threads_matters() {
    for depth in [Depth::Schema, Depth::Packet] {
        let all: String = logs().filter(|(path, _)| !path.contains("json-")).map(|(_, log)| log).collect();
        let said = |findings: Vec<Finding>| {
            let mut said: Vec<String> = findings.iter().map(|found| found.diagnostic.to_string()).collect();
            said.sort_unstable();
            said
        };
        let (findings, summary) = check(&all, depth);
        let expected = said(findings);
        let reversed: Vec<&str> = all.lines().rev().collect();
        assert_eq!(said(check(&reversed.join("\n"), depth).0), expected, "{depth:?}");

        let mut findings = Vec::new();
        let options = ValidatorOptions { depth, ..ValidatorOptions::default() };
        let mut parallel = ParallelValidator::new(options, NonZeroUsize::new(3).expect("three"));
        let Ok(()) = parallel.feed(all.as_bytes(), &mut findings);
        let Ok(total) = parallel.finish(&mut findings);
        assert_eq!((said(findings), total), (expected, summary), "{depth:?}");
    }
}
