//! The validator as a library: chunks, ends of line, levels, clocks, limits.

use omen::validator::{Level, Levels, Validator, ValidatorOptions};
use omen::{Code, Finding, Instant, Stage, Summary};

fn check(bytes: &[u8], options: ValidatorOptions) -> (Vec<Finding>, Summary) {
    let mut findings = Vec::new();
    let mut validator = Validator::new(options);
    validator.feed(bytes, &mut findings);
    let summary = validator.finish(&mut findings);
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
        assert_eq!(validator.finish(&mut findings), whole, "chunks of {size}");
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
fn what_is_no_json_is_told_and_the_rest_is_checked() {
    let valid = example("valid/read-only.jsonl");
    let mut log = Vec::from(&b"\xff\xfe\n"[..]);
    log.extend_from_slice(b"\xef\xbb\xbf{}\n[1, 2\n\"\\ud800\"\n1e999\n");
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
    assert_eq!((codes(&findings), summary.accepted), (vec![], 1));
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
        let adjustable = code.as_str().starts_with("INV-") || ["LAYER", "CHAIN"].contains(&code.as_str());
        assert_eq!(Levels::default().set(*code, Level::Allow).is_ok(), adjustable, "{code}");
    }
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

/// Twenty thousand open directives, each late at the packet after it: no rule may look at all that
/// are open for each packet.
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
