//! The validator as a library: chunks, line ends, levels, clocks, limits.

use std::num::NonZeroUsize;

use omen::validator::{Level, Levels, ParallelValidator, Validator, ValidatorOptions};
use omen::{Code, Finding, Instant, Stage, Summary};

fn check(bytes: &[u8], options: ValidatorOptions) -> (Vec<Finding>, Summary) {
    let mut findings = Vec::new();
    let mut validator = Validator::new(options);
    validator.feed(bytes, &mut findings);
    let Ok(summary) = validator.finish(&mut findings);
    (findings, summary)
}

fn example(path: &str) -> &'static str {
    omen_schema::example(path).unwrap_or_else(|| panic!("no example {path}"))
}

fn codes(findings: &[Finding]) -> Vec<&'static str> {
    findings.iter().map(|finding| finding.diagnostic.code.as_str()).collect()
}

#[test]
fn chunks_do_not_matter() {
    let log = example("valid/interleaved.jsonl").as_bytes();
    let (_, whole) = check(log, ValidatorOptions::default());
    for size in [1, 7, 4096] {
        let mut findings: Vec<Finding> = Vec::new();
        let mut validator = Validator::new(ValidatorOptions::default());
        for chunk in log.chunks(size) {
            validator.feed(chunk, &mut findings);
        }
        assert_eq!(validator.finish(&mut findings), Ok(whole), "chunks of {size}");
        assert!(findings.is_empty());
    }
}

#[test]
fn blank_lines_count_as_lines_and_not_as_packets() {
    let (findings, summary) = check(b"\n \t\r\n{\n\n", ValidatorOptions::default());
    assert_eq!((summary.packets, summary.rejected), (1, 1));
    assert_eq!((findings[0].line, findings[0].packet_index), (Some(3), Some(0)));
    assert_eq!(findings[0].stage, Stage::Json);
}

#[test]
fn what_is_not_json_is_reported_and_the_rest_is_checked() {
    let valid = example("valid/read-only.jsonl");
    let mut log = Vec::from(&b"1e999\n"[..]);
    log.extend_from_slice(b"\xff\xfe\n\xef\xbb\xbf{}\n[1, 2\n\"\\ud800\"\n");
    log.extend_from_slice(&b"[".repeat(100_000));
    log.push(b'\n');
    log.extend_from_slice(valid.as_bytes());
    let (findings, summary) = check(&log, ValidatorOptions::default());
    assert_eq!(codes(&findings), ["JSON"; 6]);
    assert_eq!(summary.accepted as usize, valid.lines().count());
    assert!(findings.iter().all(|finding| finding.column.is_some()), "{findings:#?}");
}

#[test]
fn what_is_json_and_no_packet_is_a_schema_error() {
    let (findings, _) = check(b"[]\n42\nnull\n\"text\"\n{}\n", ValidatorOptions::default());
    assert!(findings.iter().all(|finding| finding.diagnostic.code == Code::Schema), "{findings:#?}");
    let packets: std::collections::BTreeSet<_> = findings.iter().filter_map(|finding| finding.packet_index).collect();
    assert_eq!(packets.len(), 5);
}

#[test]
fn a_line_at_the_limit_is_read_and_a_longer_one_is_refused_unread() {
    let limit = omen_types::limits::MAX_LINE_BYTES;
    let packet = example("valid/read-only.jsonl").lines().next().expect("a packet");
    let padded = |length: usize| format!("{packet}{}\n", " ".repeat(length - packet.len()));
    let (findings, summary) = check(padded(limit).as_bytes(), ValidatorOptions::default());
    // The only packet is read, and the log ends before its episode closes (D81).
    assert_eq!((codes(&findings), summary.accepted), (vec!["FSM"], 1));
    let (findings, summary) = check(padded(limit + 1).as_bytes(), ValidatorOptions::default());
    assert_eq!((codes(&findings), summary.accepted), (vec!["JSON"], 0));
}

#[test]
fn levels_decide_whether_a_packet_is_accepted() {
    let log = example("invalid/inv-002-subpar-act.jsonl").as_bytes();
    let with = |level| {
        let mut levels = Levels::default();
        levels.set(Code::Inv002, level).expect("an invariant");
        check(log, ValidatorOptions { levels, ..ValidatorOptions::default() })
    };
    let (_, plain) = check(log, ValidatorOptions::default());
    let (findings, warned) = with(Level::Warn);
    assert!(codes(&findings).contains(&"INV-002"));
    assert!(plain.rejected == 1 && plain.errors == 1);
    assert!(warned.accepted > 0 && warned.warnings >= 1);
    let (findings, _) = with(Level::Allow);
    assert!(!codes(&findings).contains(&"INV-002"));
    let (_, denied) = with(Level::Deny);
    assert_eq!(denied, plain);
}

#[test]
fn only_invariants_have_levels() {
    for code in Code::ALL {
        let is_invariant =
            code.as_str().starts_with("INV-") || ["LAYER", "CHAIN", "CLAIM", "TIME"].contains(&code.as_str());
        let adjustable = is_invariant && code.info().reported_as.is_none();
        assert_eq!(Levels::default().set(*code, Level::Allow).is_ok(), adjustable, "{code}");
    }
}

#[test]
fn layers_and_chains_are_adjusted_like_invariants() {
    for (path, code) in
        [("valid/warning-layer-not-listed.jsonl", Code::Layer), ("valid/warning-chain-broken.jsonl", Code::Chain)]
    {
        let log = example(path).as_bytes();
        let with = |level| {
            let mut levels = Levels::default();
            levels.set(code, level).expect("a code that can be adjusted");
            check(log, ValidatorOptions { levels, ..ValidatorOptions::default() })
        };
        let (warned, summary) = check(log, ValidatorOptions::default());
        assert!(summary.warnings > 3 && summary.errors == 0, "{path}: {summary:?}");
        assert!(warned.iter().all(|finding| finding.stage == Stage::Invariant), "{path}");
        let (findings, _) = with(Level::Allow);
        assert!(findings.is_empty(), "{path}: {findings:#?}");
        let (findings, denied) = with(Level::Deny);
        let is_warning = |finding: &&Finding| finding.diagnostic.severity == omen::Severity::Warning;
        // Without its packets an episode may not reach its end.
        assert!(denied.rejected > 0 && findings.iter().filter(is_warning).all(|f| f.stage == Stage::End), "{path}");
        assert_eq!(findings.iter().find(|finding| finding.line.is_some()).map(|f| f.diagnostic.code), Some(code));
    }
}

/// Returns a validator after the first four lines of a log whose last directive is open.
fn with_a_directive_open() -> (Validator, Vec<Finding>) {
    let (mut validator, mut findings) = (Validator::new(ValidatorOptions::default()), Vec::new());
    let log = example("valid/warning-inv-011-late-critical-deferred.jsonl");
    for line in log.split_inclusive('\n').take(4) {
        validator.feed(line.as_bytes(), &mut findings);
    }
    assert!(findings.is_empty(), "{findings:#?}");
    (validator, findings)
}

#[test]
fn a_tick_reports_what_is_late_once_and_moves_no_clock() {
    let (mut validator, mut findings) = with_a_directive_open();
    let (sent, timeout) = ("2026-05-07T03:00:16Z".parse::<Instant>().expect("a time"), 30);
    validator.tick(sent.plus_seconds(timeout), &mut findings);
    assert!(findings.is_empty(), "in time to the second: {findings:#?}");
    validator.tick(sent.plus_seconds(timeout + 1), &mut findings);
    let [late] = &findings[..] else { panic!("{findings:#?}") };
    assert_eq!(
        (late.diagnostic.code, late.stage, late.line, late.packet_index),
        (Code::Inv011, Stage::Invariant, None, None)
    );
    assert_eq!(late.packet_id.as_deref(), Some("pkt_directive_1"));
    assert_eq!(late.correlation_id.as_deref(), Some("corr_restore_after_outage"));
    assert_eq!(late.state.as_deref(), Some(&["S6_EXECUTE"][..]));
    assert_eq!(validator.summary().warnings, 1);
    // Neither another tick nor the late result reports it again, and a tick uses no time budget.
    validator.tick("2040-01-01T00:00:00Z".parse().expect("a time"), &mut findings);
    let log = example("valid/warning-inv-011-late-critical-deferred.jsonl");
    for line in log.split_inclusive('\n').skip(4) {
        validator.feed(line.as_bytes(), &mut findings);
    }
    let (_, plain) = check(log.as_bytes(), ValidatorOptions::default());
    let Ok(summary) = validator.finish(&mut findings);
    assert_eq!(summary, plain, "the same findings, one of them earlier");
}

#[test]
fn a_level_holds_for_what_a_tick_reports() {
    for (level, errors, warnings) in [(Level::Allow, 0, 0), (Level::Warn, 0, 1), (Level::Deny, 1, 0)] {
        let mut levels = Levels::default();
        levels.set(Code::Inv011, level).expect("an invariant");
        let (mut validator, mut findings) =
            (Validator::new(ValidatorOptions { levels, ..ValidatorOptions::default() }), Vec::<Finding>::new());
        for line in example("valid/warning-inv-011-late-result.jsonl").split_inclusive('\n').take(4) {
            validator.feed(line.as_bytes(), &mut findings);
        }
        validator.tick("2040-01-01T00:00:00Z".parse().expect("a time"), &mut findings);
        let summary = validator.summary();
        assert_eq!((summary.errors, summary.warnings), (errors, warnings), "{level:?}");
    }
}

/// After a tick has reported a late directive, the next decision is expected to escalate, as after a report with a packet (D69).
#[test]
fn a_decision_after_a_tick_is_asked_to_escalate() {
    let log = example("valid/warning-inv-011-late-critical-cleared.jsonl");
    let (mut validator, mut findings) = (Validator::new(ValidatorOptions::default()), Vec::<Finding>::new());
    for line in log.split_inclusive('\n').take(4) {
        validator.feed(line.as_bytes(), &mut findings);
    }
    validator.tick("2026-05-07T03:00:50Z".parse().expect("a time"), &mut findings);
    for line in log.split_inclusive('\n').skip(4) {
        validator.feed(line.as_bytes(), &mut findings);
    }
    let Ok(_) = validator.finish(&mut findings);
    let found: Vec<_> = findings.iter().map(|f| (f.diagnostic.code.as_str(), f.packet_index)).collect();
    assert_eq!(found, [("INV-011", None), ("INV-011", Some(9))]);
}

#[test]
fn a_fixed_clock_replaces_that_of_the_log() {
    let log = example("valid/verify-then-write.jsonl").as_bytes();
    let at = |time: &str| {
        check(log, ValidatorOptions { now: Some(time.parse().expect("a time")), ..ValidatorOptions::default() })
    };
    let (early, _) = at("2000-01-01T00:00:00Z");
    assert!(!codes(&early).contains(&"E4"));
    let (late, summary) = at("2100-01-01T00:00:00Z");
    assert!(codes(&late).contains(&"E4") || codes(&late).contains(&"INV-005"), "{:?}", codes(&late));
    assert!(summary.rejected > 0);
}

#[test]
fn an_overrun_is_reported_by_the_clock_that_counts() {
    let log = example("valid/read-only.jsonl").as_bytes();
    // Then even the first decision is over budget, and nothing after it is committed (D59).
    let fixed = Some("2100-01-01T00:00:00Z".parse().expect("a time"));
    let levels = |level| {
        let mut levels = Levels::default();
        levels.set(Code::Inv005, level).expect("an invariant");
        levels
    };
    let (found, _) = check(log, ValidatorOptions { now: fixed, ..ValidatorOptions::default() });
    let over: Vec<_> = found.iter().filter(|finding| finding.diagnostic.code == Code::Inv005).collect();
    assert!(over.len() > 1, "{found:#?}");
    let end = over.last().expect("a finding");
    assert_eq!((end.stage, end.packet_index, end.diagnostic.severity), (Stage::End, None, omen::Severity::Error));

    // A level also applies at the end: with warnings only, each overrun is reported once, and at the end.
    let (found, summary) =
        check(log, ValidatorOptions { now: fixed, levels: levels(Level::Warn), ..Default::default() });
    let over: Vec<_> = found.iter().filter(|finding| finding.diagnostic.code == Code::Inv005).collect();
    assert_eq!(summary.errors, 0, "{found:#?}");
    assert_eq!(over.last().map(|finding| finding.stage), Some(Stage::End));
    let (found, _) = check(log, ValidatorOptions { now: fixed, levels: levels(Level::Allow), ..Default::default() });
    assert!(!codes(&found).contains(&"INV-005"), "{found:#?}");
}

/// The first packet that commits to more work over budget is the cause of everything after it, however the agent continues.
#[test]
fn an_overrun_is_one_root_cause() {
    let log = example("invalid/inv-005-directive-over-token-budget.jsonl");
    let packets: Vec<serde_json::Value> = log.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let again = |at: usize, number: usize| {
        let mut packet = packets[at].clone();
        packet["header"]["packet_id"] = format!("pkt_again_{at}_{number}").into();
        if at == 4 {
            packet["payload"]["directive_packet_id"] = format!("pkt_again_3_{number}").into();
        }
        if at >= 3 {
            packet["payload"]["task_id"] = format!("task_again_{number}").into();
        }
        packet
    };
    // Up to the overrun, then a directive and its result three times, a belief, a decision to act, and a directive under it.
    let mut all = packets[..5].to_vec();
    all.extend((0..3).flat_map(|number| [again(3, number), again(4, number)]));
    all.extend([packets[6].clone(), again(2, 0), again(3, 3), again(4, 3)]);
    for packet in &mut all {
        packet["header"]["created_at"] = packets[4]["header"]["created_at"].clone();
        if packet["payload"]["timeout_seconds"].is_u64() {
            packet["payload"]["timeout_seconds"] = 600.into();
        }
    }
    let text: String = all.iter().map(|packet| format!("{packet}\n")).collect();
    let (found, summary) = check(text.as_bytes(), ValidatorOptions::default());
    let is_root =
        |finding: &&Finding| finding.diagnostic.severity == omen::Severity::Error && finding.follows_from.is_none();
    let roots: Vec<_> = found.iter().filter(is_root).map(|finding| (finding.line, finding.diagnostic.code)).collect();
    assert_eq!(roots, [(Some(6), Code::Inv005)], "{found:#?}");
    assert!(summary.errors > 6 && summary.consequences == summary.errors - 1, "{summary:?}");
    let notes: Vec<_> = found.iter().flat_map(|finding| &finding.diagnostic.notes).collect();
    assert!(!notes.iter().any(|note| note.contains("were accepted")), "{notes:?}");
}

/// A level turns a warning into an error, but rejects no packet that only reports what has happened (D87).
#[test]
fn a_denied_warning_of_the_record_rejects_no_packet() {
    let denied = |path: &str, code: Option<Code>| {
        let mut levels = Levels::default();
        match code {
            Some(code) => levels.set(code, Level::Deny).expect("an invariant"),
            None => levels.set_warnings(Level::Deny),
        }
        check(example(path).as_bytes(), ValidatorOptions { levels, ..ValidatorOptions::default() })
    };
    for (path, code, errors) in [
        ("valid/warning-inv-011-late-result.jsonl", Code::Inv011, 2),
        ("invalid/inv-005-end-over-budget.jsonl", Code::Inv005, 2),
    ] {
        for code in [Some(code), None] {
            let (found, summary) = denied(path, code);
            assert_eq!((summary.rejected, summary.errors, summary.warnings), (0, errors, 0), "{path}: {found:#?}");
            assert!(found.iter().all(|finding| finding.follows_from.is_none()), "{path}");
        }
    }
    // A decision that does not escalate can be made again (D69).
    let (_, summary) = denied("valid/warning-inv-011-late-critical-deferred.jsonl", Some(Code::Inv011));
    assert!(summary.rejected > 0, "{summary:?}");
}

/// Open directives at the end have their lines, with one thread or several.
#[test]
fn a_directive_without_a_result_has_its_line() {
    let examples = omen_schema::EXAMPLES.iter().filter(|(path, _)| path.ends_with(".jsonl") && !path.contains("json-"));
    let log: String = examples.map(|(path, log)| log.replace("\"corr_", &format!("\"corr_{}_", path.len()))).collect();
    let lines: Vec<&str> = log.lines().collect();
    let (found, _) = check(log.as_bytes(), ValidatorOptions::default());
    let mut parallel: Vec<Finding> = Vec::new();
    let mut validator = ParallelValidator::new(ValidatorOptions::default(), NonZeroUsize::new(2).expect("two"));
    let Ok(()) = validator.feed(log.as_bytes(), &mut parallel);
    let Ok(_) = validator.finish(&mut parallel);
    for found in [found, parallel] {
        let mut open = 0;
        for finding in &found {
            let Some(id) = finding
                .packet_id
                .as_ref()
                .filter(|_| finding.diagnostic.code == Code::E6 && finding.stage == Stage::End)
            else {
                assert_eq!(finding.directive_line, None, "{finding:?}");
                continue;
            };
            let line = finding.directive_line.and_then(|line| usize::try_from(line).ok()).expect("a line");
            let packet: serde_json::Value = serde_json::from_str(lines[line - 1]).expect("JSON");
            assert_eq!((&packet["header"]["packet_id"], &finding.line), (&id.as_str().into(), &None));
            assert_eq!(packet["header"]["packet_type"], "TaskDirectivePacket");
            open += 1;
        }
        assert!(open > 2, "{open} open directives");
    }
}

#[test]
fn a_reader_that_fails_says_so_and_what_came_before_counts() {
    struct Fails(&'static [u8]);
    impl std::io::Read for Fails {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            if self.0.is_empty() {
                return Err(std::io::Error::other("gone"));
            }
            let count = self.0.len().min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }
    let log = example("valid/read-only.jsonl");
    let mut findings: Vec<Finding> = Vec::new();
    let mut validator = Validator::new(ValidatorOptions::default());
    let error = validator.read(Fails(log.as_bytes()), &mut findings).expect_err("the reader fails");
    assert_eq!(error.to_string(), "gone");
    assert_eq!(validator.summary().accepted as usize, log.lines().count());
    assert_eq!(validator.summary().episodes, 1);
}

/// Twenty thousand open directives, each late at the packet after it: no rule may iterate over all of them for each packet.
#[test]
fn many_open_directives_cost_no_quadratic_time() {
    let log = example("valid/read-only.jsonl");
    let mut lines: Vec<serde_json::Value> = log.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let at = lines.iter().position(|p| p["header"]["packet_type"] == "TaskDirectivePacket").expect("a directive");
    let directive = lines[at].clone();
    lines.truncate(at);
    for line in &mut lines {
        line["mcp"]["budgets"]["time_budget_seconds"] = 1_000_000_000.into();
    }
    let mut text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let start: Instant = "2026-06-01T00:00:00Z".parse().expect("a time");
    for number in 0..20_000_u64 {
        let mut more = directive.clone();
        more["header"]["packet_id"] = format!("pkt_many_{number}").into();
        more["header"]["created_at"] = start.plus_seconds(2 * number).to_string().into();
        more["payload"]["task_id"] = format!("task_many_{number}").into();
        more["payload"]["timeout_seconds"] = 1.into();
        text.push_str(&format!("{more}\n"));
    }
    let (findings, summary) = check(text.as_bytes(), ValidatorOptions::default());
    assert_eq!(summary.errors, 20_000, "each is open at the end");
    let late = findings.iter().filter(|finding| finding.diagnostic.code == Code::Inv011).count();
    assert_eq!(late, 19_999, "each is late once, at the packet after it");
}
