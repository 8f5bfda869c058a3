//! A whole log: neither the way in which it is passed nor the rejected packets in it change findings about the rest.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::num::NonZeroUsize;

use omen::validator::JudgedPacket;
use omen::{Code, Finding, ParallelValidator, Severity, Sink, Stage, Summary, Validator, ValidatorOptions};

use super::script::{self, Item};

/// Checks a log.
pub fn validator(input: &[u8]) {
    let items = script::read(input);
    let lines: Vec<&[u8]> =
        items.iter().filter_map(|item| if let Item::Line(line) = item { Some(&**line) } else { None }).collect();
    let now = items.iter().rev().find_map(|item| if let Item::Time(time) = item { Some(*time) } else { None });
    let options = ValidatorOptions { now, ..ValidatorOptions::default() };
    let (choice, log) = (script::hash(input), lines.join(&b'\n'));
    let whole = whole(&log, &options);

    let size = 1 + usize::from((choice >> 8) as u8) * 5;
    let mut sink = Calls::default();
    let mut chunked = Validator::new(options.clone());
    for chunk in log.chunks(size) {
        let Ok(()) = chunked.feed(chunk, &mut sink);
    }
    let Ok(summary) = chunked.finish(&mut sink);
    assert_same(&whole, &(sink, summary), "in chunks");

    // Threads take longer to start than such a log to check.
    if choice.is_multiple_of(8) {
        let (jobs, block) =
            (NonZeroUsize::MIN.saturating_add(1 + choice as usize / 8 % 3), NonZeroUsize::MIN.saturating_add(size));
        let mut sink = Calls::default();
        let mut parallel = ParallelValidator::new(options.clone(), jobs).with_block_bytes(block);
        let Ok(()) = parallel.feed(&log, &mut sink);
        let Ok(summary) = parallel.finish(&mut sink);
        assert_same(&whole, &(sink, summary), "with threads");
    }
    without_the_rejected(&log, &options, &whole.0);
    episode_by_episode(&log, &options, &whole.0);
}

/// A rejected packet changes nothing (D1): without it, the same is found about all others. But it may be what shows that an earlier
/// time is wrong (D83).
fn without_the_rejected(log: &[u8], options: &ValidatorOptions, all: &Calls) {
    let (kept, summary) =
        some(log, options, |line| all.packets.iter().any(|packet| packet.line == line && packet.accepted));
    let errors =
        kept.findings.iter().filter(|found| found.line.is_some() && found.diagnostic.severity == Severity::Error);
    assert_eq!(errors.count(), 0, "accepted only beside a packet that was rejected");
    let rejected: BTreeSet<_> =
        all.packets.iter().filter(|packet| !packet.accepted).map(|packet| Some(packet.line)).collect();
    let is_of_others = |found: &&Finding| !rejected.contains(&found.line) && !is_ahead(found);
    let expected = all.findings.iter().filter(is_of_others);
    let kept = kept.findings.iter().filter(|found| !is_ahead(found));
    assert_eq!(ends_sorted(expected), ends_sorted(kept), "a rejected packet has changed something");
    assert_eq!(summary.rejected, 0);
}

/// Whether a finding is on an earlier packet, whose time a later one shows to be wrong (D83).
fn is_ahead(found: &Finding) -> bool {
    found.diagnostic.code == Code::Time && found.packet_index.is_none()
}

/// At the end, episodes are in the order of their first packets, and one of these may have been rejected.
fn ends_sorted<'f>(findings: impl Iterator<Item = &'f Finding>) -> (Vec<String>, Vec<String>) {
    let (ends, others): (Vec<_>, Vec<_>) = findings.partition(|found| found.stage == Stage::End);
    let mut ends = unplaced(ends);
    ends.sort();
    (unplaced(others), ends)
}

/// Episodes do not affect each other.
fn episode_by_episode(log: &[u8], options: &ValidatorOptions, all: &Calls) {
    let ids: BTreeSet<_> = all.packets.iter().filter_map(|packet| packet.correlation_id.as_ref()).collect();
    if ids.len() < 2 {
        return;
    }
    for id in ids {
        let is_own =
            |line| all.packets.iter().any(|packet| packet.line == line && packet.correlation_id.as_ref() == Some(id));
        let (own, _) = some(log, options, is_own);
        let expected = all.findings.iter().filter(|found| found.correlation_id.as_ref() == Some(id));
        assert_eq!(unplaced(expected), unplaced(&own.findings), "{id} is judged otherwise on its own");
    }
}

/// Findings by what they are about, without their places in the stream, and without what they say about other lines.
fn unplaced<'f>(findings: impl IntoIterator<Item = &'f Finding>) -> Vec<String> {
    let text = |found: &Finding| {
        let mut diagnostic = found.diagnostic.clone();
        diagnostic.notes.retain(|note| !note.starts_with("if line "));
        format!("{:?} {:?} {:?} {diagnostic:?}", found.packet_id, found.state, found.stage)
    };
    findings.into_iter().map(text).collect()
}

fn whole(log: &[u8], options: &ValidatorOptions) -> (Calls, Summary) {
    let mut sink = Calls::default();
    let mut validator = Validator::new(options.clone());
    let Ok(()) = validator.feed(log, &mut sink);
    let Ok(summary) = validator.finish(&mut sink);
    assert_eq!(summary.packets, sink.packets.len() as u64);
    assert_eq!(summary.accepted, sink.packets.iter().filter(|packet| packet.accepted).count() as u64);
    assert_eq!(summary.rejected + summary.accepted, summary.packets);
    assert_eq!(summary.errors + summary.warnings, sink.findings.len() as u64);
    for packet in &sink.packets {
        let mut own = sink.findings.iter().filter(|found| found.line == Some(packet.line));
        assert_eq!(
            packet.accepted,
            own.all(|found| found.diagnostic.severity == Severity::Warning),
            "line {}",
            packet.line
        );
    }
    let caused = sink.findings.iter().filter_map(|found| Some((found, found.follows_from.as_ref()?)));
    for (found, cause) in caused.clone() {
        let earlier = sink.packets.iter().find(|packet| packet.line == cause.line);
        // A packet that exceeds a budget, and one with a wrong time (D83), are accepted and reported, and what comes after them is
        // judged by that overrun and that time.
        let is_warned = sink.findings.iter().any(|finding| {
            finding.line == Some(cause.line)
                && matches!(finding.diagnostic.code, Code::Time | Code::Inv005)
                && finding.follows_from.is_none()
        });
        assert!(
            earlier.is_some_and(|packet| !packet.accepted) || is_warned,
            "{found:?} follows from a line that was neither rejected nor warned of"
        );
        assert!(found.line.is_none_or(|line| cause.line < line), "{found:?} follows from a later line");
        let id = earlier.and_then(|packet| packet.correlation_id.as_ref());
        assert!(
            id.is_none_or(|id| found.correlation_id.as_ref() == Some(id)),
            "{found:?} follows from another episode"
        );
    }
    assert_eq!(summary.consequences, caused.count() as u64);
    (sink, summary)
}

/// Some lines of a log.
fn some(log: &[u8], options: &ValidatorOptions, is_kept: impl Fn(u64) -> bool) -> (Calls, Summary) {
    let lines = (1..).zip(log.split(|byte| *byte == b'\n')).filter(|(line, _)| is_kept(*line));
    let kept: Vec<_> = lines.map(|(_, text)| text).collect();
    whole(&kept.join(&b'\n'), options)
}

#[track_caller]
fn assert_same(expected: &(Calls, Summary), found: &(Calls, Summary), how: &str) {
    let text = |(calls, summary): &(Calls, Summary)| format!("{calls:#?} {summary:?}");
    assert_eq!(expected.1, found.1, "other counts {how}");
    assert_eq!(text(expected), text(found), "other findings {how}");
}

/// Keeps what a validator reports.
#[derive(Debug, Default)]
struct Calls {
    findings: Vec<Finding>,
    packets: Vec<Seen>,
}

#[derive(Debug)]
struct Seen {
    line: u64,
    correlation_id: Option<String>,
    accepted: bool,
    #[expect(dead_code, reason = "it is compared by its text")]
    after: Option<omen_fsm::NodeSet>,
}

impl Sink for Calls {
    type Error = Infallible;

    fn finding(&mut self, finding: Finding, _: Option<&str>) -> Result<(), Infallible> {
        self.findings.push(finding);
        Ok(())
    }

    fn packet(&mut self, packet: &JudgedPacket<'_>) -> Result<(), Infallible> {
        let correlation_id = packet.correlation_id.map(str::to_owned);
        self.packets.push(Seen { line: packet.line, correlation_id, accepted: packet.accepted, after: packet.after });
        Ok(())
    }
}
