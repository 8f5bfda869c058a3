//! Selection of the findings that `omen check` shows.

use super::*;

/// Returns a legal log whose decision has a misspelt type.
fn misspelt() -> String {
    log("valid/several-tokens.jsonl").replacen("\"DecisionPacket\"", "\"DecisionPakcet\"", 1)
}

#[test]
fn people_see_the_root_cause_and_how_much_follows_from_it() {
    let run = run(omen(["check"]).write_stdin(misspelt()));
    assert_eq!(run.code, 1);
    assert_eq!(run.stdout.matches("error[").count(), 1, "{}", run.stdout);
    let folded = "more findings follow from the above (`--all` shows them): ";
    let note = run.stdout.lines().find(|line| line.contains(folded)).expect("a note");
    let (count, from) = note.split_once(' ').expect("a count");
    assert_eq!(from, format!("{folded}{count} from line 3"));
    assert!(run.stdout.ends_with(&format!(" warnings ({count} follow from others)\n")), "{}", run.stdout);
}

#[test]
fn all_findings_are_shown_if_asked_for() {
    let plain = run(omen(["check"]).write_stdin(misspelt()));
    let all = run(omen(["check", "--all"]).write_stdin(misspelt()));
    assert_eq!((all.code, plain.stdout.lines().last()), (1, all.stdout.lines().last()));
    let count = all.stdout.matches("error[").count() + all.stdout.matches("warning[").count();
    assert!(count > 3, "{}", all.stdout);
    assert_eq!(
        all.stdout.matches("note: follows from line 3 (packet pkt_decision_1)").count(),
        count - 1,
        "{}",
        all.stdout
    );
}

#[test]
fn programs_get_all_findings_with_their_causes() {
    let run = run(omen(["check", "--format", "json"]).write_stdin(misspelt()));
    let (findings, summary) = json(&run);
    let (roots, others): (Vec<_>, Vec<_>) = findings.iter().partition(|finding| finding["follows_from"].is_null());
    assert_eq!((roots.len(), &roots[0]["line"]), (1, &3.into()));
    let cause = serde_json::json!({"line": 3, "packet_id": "pkt_decision_1"});
    assert!(!others.is_empty() && others.iter().all(|finding| finding["follows_from"] == cause), "{others:?}");
    assert_eq!(summary["consequences"].as_u64(), Some(others.len() as u64));
    let count = |severity: &str| summary[severity].as_u64().expect("a count");
    assert_eq!(count("errors") + count("warnings"), findings.len() as u64);
}

#[test]
fn findings_of_a_kind_on_a_line_are_folded() {
    let unknown: String = (0..40).map(|number| format!("\"x{number}\":1,")).collect();
    let log = log(GOOD).replacen("{\"header\":{", &format!("{{\"header\":{{{unknown}"), 1);
    let plain = run(omen(["check"]).write_stdin(log.as_str()));
    assert_eq!(plain.stdout.matches("error[SCHEMA]").count(), 3, "{}", plain.stdout);
    let note = "… and 37 more SCHEMA of this kind on line 1 (`--all` shows them)\n";
    assert_eq!(plain.stdout.matches(note).count(), 1, "{}", plain.stdout);
    let all = run(omen(["check", "--all"]).write_stdin(log));
    assert_eq!(all.stdout.matches("error[SCHEMA]").count(), 40);
    assert!(!all.stdout.contains("of this kind"));
    assert_eq!(all.stdout.lines().last(), plain.stdout.lines().last());
}

#[test]
fn people_see_so_many_findings_and_the_totals_count_all() {
    let log = "?\n".repeat(1_200);
    #[track_caller]
    fn check(log: &str, args: &[&str], shown: usize, left_out: Option<&str>) {
        let run = run(omen(["check"].iter().chain(args).copied()).write_stdin(log));
        assert_eq!(run.stdout.matches("error[JSON]").count(), shown);
        let note = run.stdout.lines().find(|line| line.ends_with("(`--max-findings` sets the limit)"));
        assert_eq!(note.and_then(|note| note.split(' ').next()), left_out);
        assert!(run.stdout.contains("; 1200 errors, "), "{:?}", run.stdout.lines().last());
    }
    check(&log, &[], 1_000, Some("200"));
    check(&log, &["--max-findings", "2"], 2, Some("1198"));
    check(&log, &["--max-findings", "1200"], 1_200, None);
    check(&log, &["--max-findings", "0"], 0, Some("1200"));
    let run = run(omen(["check", "--format", "json"]).write_stdin(log.as_str()));
    assert_eq!(json(&run).0.len(), 1_200);
    let few = omen(["check", "--format", "json", "--max-findings", "5"]).write_stdin(log).output().expect("it starts");
    assert_eq!(few.stdout.iter().filter(|byte| **byte == b'\n').count(), 6);
}

/// Only the last findings fit on the screen.
#[test]
fn a_long_output_ends_with_totals_by_code() {
    let check = |lines: usize, args: &[&str]| {
        run(omen(["check"].iter().chain(args).copied()).write_stdin(format!("{}{{}}\n", "?\n".repeat(lines)))).stdout
    };
    assert!(!check(10, &[]).contains("ROOTS"));
    let long = check(40, &["--max-findings", "30"]);
    let (_, end) = long.split_once("\n  ROOTS   ERRORS  WARNINGS  CODE\n").expect("a table");
    assert!(end.starts_with("     40       40         0  JSON     "), "{end}");
    assert!(end.contains("  SCHEMA  ") && end.contains("\n\n1 file, "), "{end}");
    assert_eq!(check(40, &["--statistics"]).matches("CODE").count(), 1);
    assert!(!check(40, &["--quiet"]).contains("ROOTS") && !check(40, &["--format", "concise"]).contains("ROOTS"));
}

/// One finding instead of one for each line. Arrays and indented packets are detected unless lines are requested.
#[test]
fn what_is_not_json_lines_is_one_finding() {
    #[track_caller]
    fn check(input: impl Into<Vec<u8>>, what: &str) {
        let input = input.into();
        for jobs in ["1", "4"] {
            let run =
                run(omen(["check", "--format", "json", "--input", "lines", "-j", jobs]).write_stdin(input.clone()));
            let (findings, summary) = json(&run);
            assert_eq!((run.code, findings.len(), &summary["errors"]), (1, 1, &1.into()), "{what}");
            let message = findings[0]["message"].as_str().expect("a message");
            assert!(message.starts_with(&format!("expected JSON Lines, found {what};")), "{message}");
            assert!(findings[0]["help"].is_string());
        }
    }
    let packets: Vec<Value> = log(GOOD).lines().map(|line| serde_json::from_str(line).expect("a packet")).collect();
    let indented: String = packets.iter().map(|packet| format!("{packet:#}\n")).collect();
    check(indented.repeat(100), "indented JSON");
    check("{\n\n\t\n}", "indented JSON");
    check(serde_json::to_string_pretty(&packets).expect("JSON"), "a JSON array");
    check(log(GOOD).encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>(), "UTF-16");
    check("<!DOCTYPE html>\n<html>\n</html>\n", "HTML or XML");
}
