use std::io::{self, Cursor, Read};
use std::num::NonZeroUsize;

use super::super::{AnyValidator, Layout, Source, judge, judge_whole};
use crate::finding::Finding;
use crate::validator::ValidatorOptions;

const ONE: NonZeroUsize = NonZeroUsize::MIN;

fn source(text: &str) -> Source {
    Box::new(Cursor::new(text.as_bytes().to_vec()))
}

fn whole(text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    assert!(judge_whole(source(text), Layout::Auto, ValidatorOptions::default(), ONE, &mut found).is_ok());
    found
}

fn streamed(text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    let validator = AnyValidator::new(ValidatorOptions::default(), ONE);
    assert!(judge(source(text), Layout::Auto, validator, &mut found).is_ok());
    found
}

/// What a finding says, except its help.
fn says(finding: &Finding) -> String {
    let mut finding = finding.clone();
    finding.diagnostic.help = None;
    format!("{finding:?}")
}

/// Returns a valid log with two neighbours swapped, the first of which is in a line.
fn swapped(name: &str, line: usize) -> String {
    let log = omen_schema::example(&format!("valid/{name}.jsonl")).expect("an example");
    let mut lines: Vec<_> = log.lines().collect();
    lines.swap(line - 1, line);
    lines.join("\n")
}

fn first_help(text: &str) -> String {
    whole(text).into_iter().next().and_then(|first| first.diagnostic.help).unwrap_or_default()
}

#[test]
fn only_helps_differ() {
    let mut differ = 0;
    for (path, log) in omen_schema::EXAMPLES.iter().filter(|(path, _)| path.ends_with(".jsonl")) {
        let array = format!("[\n{}\n]", log.trim_end().replace('\n', ",\n"));
        for text in [*log, array.as_str()] {
            let (whole, streamed) = (whole(text), streamed(text));
            assert_eq!(
                whole.iter().map(says).collect::<Vec<_>>(),
                streamed.iter().map(says).collect::<Vec<_>>(),
                "{path}"
            );
            let helps = whole.iter().zip(&streamed).filter(|(a, b)| a.diagnostic.help != b.diagnostic.help);
            differ += helps.count();
        }
    }
    assert!(differ >= 10, "{differ} helps look ahead");
}

#[test]
fn a_packet_on_a_later_line_is_to_be_moved() {
    let help = first_help(&swapped("read-only", 4));
    assert!(help.starts_with("move `pkt_directive_1` (line 5) before this packet: "), "{help}");
    let array = format!("[\n\n{}\n]", swapped("read-only", 4).replace('\n', ",\n"));
    assert!(first_help(&array).starts_with("move `pkt_directive_1` (line 7) before this packet: "));
}

#[test]
fn a_packet_that_was_made_later_is_not_to_be_moved() {
    let text = swapped("read-only", 4);
    let (sent, settled) = ("2026-03-02T09:14:21Z", "2026-03-02T09:14:25Z");
    let text = text.replace(sent, "SENT").replace(settled, sent).replace("SENT", settled);
    let help = first_help(&text);
    assert!(help.starts_with("`pkt_directive_1` (line 5) belongs before this packet, and has to be sent"), "{help}");
}

/// Otherwise an approval would cover more than before.
#[test]
fn nothing_is_to_be_moved_past_an_approval() {
    let approves =
        |line: &str| ["ToolAuthorizationToken", "\"user_input\"", "\"CLEAR\""].iter().any(|one| line.contains(one));
    let mut in_words = 0;
    for (path, log) in omen_schema::EXAMPLES.iter().filter(|(path, _)| path.ends_with(".jsonl")) {
        let mut lines: Vec<&str> = log.lines().collect();
        for at in 1..lines.len() {
            lines.swap(at - 1, at);
            let pair = lines.get(at - 1..=at).unwrap_or_default();
            if pair.iter().any(|line| approves(line)) {
                for finding in whole(&lines.join("\n")) {
                    let help = finding.diagnostic.help.unwrap_or_default();
                    // The two lines of the pair, in either order.
                    let is_about = |this: usize, other: usize| {
                        finding.line == Some(this as u64) && help.contains(&format!("(line {other})"))
                    };
                    let is_about_pair = is_about(at, at + 1) || is_about(at + 1, at);
                    assert!(!(is_about_pair && help.starts_with("move ")), "{path}:{at}: {help}");
                    in_words += usize::from(is_about_pair && help.contains("an approval covers what comes after it"));
                }
            }
            lines.swap(at - 1, at);
        }
    }
    assert!(in_words >= 5, "{in_words}");
}

#[test]
fn an_id_that_later_packets_name_is_to_be_written() {
    let log = omen_schema::example("valid/read-only.jsonl").expect("an example");
    let help = first_help(&log.replacen("\"packet_id\":\"pkt_result_1\",", "", 1));
    assert!(help.starts_with("add `\"packet_id\": \"pkt_result_1\"`: line 7 names this id"), "{help}");
    let help = first_help(&log.replacen("\"packet_id\":\"pkt_result_1\"", "\"packet_id\":\"pkt_directive_1\"", 1));
    assert!(help.starts_with("write `\"pkt_result_1\"`: line 7 names this id"), "{help}");
    let help = first_help(&log.replacen("\"packet_type\":\"TaskResultPacket\",", "", 1));
    assert!(help.starts_with("add `\"packet_type\": \"TaskResultPacket\"`: "), "{help}");
}

#[test]
fn a_packet_that_was_sent_twice_is_to_be_removed() {
    let log = omen_schema::example("valid/read-only.jsonl").expect("an example");
    let again: String = log.lines().take(3).chain(log.lines().skip(1)).map(|line| format!("{line}\n")).collect();
    assert_eq!(first_help(&again), "remove this packet: it repeats the one in line 2");
}

/// The memory for a log is bounded, so a larger one has the helps of a stream.
#[test]
fn a_large_log_has_the_helps_of_a_stream() {
    let faulty = swapped("read-only", 4);
    let small = format!("{faulty}\n");
    let large = format!("{small}{}", "\n".repeat(super::MOST_BYTES));
    assert_eq!(first_help(&small), first_help(&faulty));
    assert_ne!(first_help(&small), first_help(&large));
    assert_eq!(
        whole(&large).first().map(|found| found.diagnostic.help.clone()),
        streamed(&small).first().map(|found| found.diagnostic.help.clone())
    );
}

/// A reader that fails after a text.
struct Failing(Cursor<Vec<u8>>);

impl Read for Failing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 => Err(io::Error::other("broken")),
            count => Ok(count),
        }
    }
}

#[test]
fn what_comes_before_a_failure_is_checked() {
    let mut found: Vec<Finding> = Vec::new();
    let reader = Failing(Cursor::new(format!("{}\n", swapped("read-only", 4)).into_bytes()));
    let checked = judge_whole(Box::new(reader), Layout::Auto, ValidatorOptions::default(), ONE, &mut found);
    assert!(checked.is_err_and(|(_, summary)| summary.packets == 7));
    assert!(!found.is_empty());
}
