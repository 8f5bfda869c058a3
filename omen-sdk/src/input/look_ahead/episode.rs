//! Changes of an episode that were tried.

use std::collections::BTreeMap;

use omen_types::{Code, Severity};

use super::change::{self, Change};
use super::log_packet::LogPacket;
use crate::finding::Finding;
use crate::validator::{Validator, ValidatorOptions};

/// Episode of a whole log.
pub(super) struct EpisodeLog {
    /// Indices of its packets in the log.
    pub(super) packets: Vec<usize>,
    findings: FindingCounts,
}

/// Number of findings that say the same about the same packet.
type FindingCounts = BTreeMap<FindingKey, usize>;

impl EpisodeLog {
    pub(super) fn new(packets: Vec<usize>, all: &[LogPacket], options: &ValidatorOptions) -> Self {
        let texts = packets.iter().filter_map(|index| all.get(*index)).map(|packet| packet.text.as_str());
        let findings = counts(texts, options);
        Self { packets, findings }
    }

    /// Returns a help for the finding on a packet, if there is a better one than that of the validator.
    pub(super) fn help(
        &self,
        index: usize,
        finding: &Finding,
        all: &[LogPacket],
        options: &ValidatorOptions,
        left: &mut usize,
    ) -> Option<String> {
        let at = self.packets.binary_search(&index).ok()?;
        let packets: Vec<&LogPacket> = self.packets.iter().filter_map(|index| all.get(*index)).collect();
        let mut likely = None;
        for change in change::all(&packets, at, finding) {
            if *left < packets.len() {
                break;
            }
            *left -= packets.len();
            match self.verdict(&change, &packets, finding, options) {
                ChangeVerdict::Legal => return Some(change.help),
                ChangeVerdict::Likely if likely.is_none() => likely = Some(change.help),
                _ => {}
            }
        }
        likely.or_else(|| change::in_words(&packets, at, finding))
    }

    /// Judges the episode after a change.
    fn verdict(
        &self,
        change: &Change,
        packets: &[&LogPacket],
        finding: &Finding,
        options: &ValidatorOptions,
    ) -> ChangeVerdict {
        let after = counts(change.apply(packets).iter().map(String::as_str), options);
        let before = |key: &FindingKey| self.findings.get(key).copied().unwrap_or(0);
        let own = FindingKey::of(finding);
        if after.get(&own).copied().unwrap_or(0) >= before(&own) {
            return ChangeVerdict::Illegal;
        }
        let mut new = after.iter().filter(|(key, count)| **count > before(key)).map(|(key, _)| key).peekable();
        if new.peek().is_none() {
            return ChangeVerdict::Legal;
        }
        // A packet that was rejected has not been judged by the rules that only warn, and what it did was not counted.
        let was_hidden = |code: Code| ![Code::Chain, Code::Time, Code::Fsm].contains(&code);
        let may_be_new =
            |key: &FindingKey| !key.is_error && key.code != finding.diagnostic.code && was_hidden(key.code);
        if new.all(may_be_new) { ChangeVerdict::Likely } else { ChangeVerdict::Illegal }
    }
}

/// What a change of an episode leads to.
enum ChangeVerdict {
    /// The finding is gone, and there is no new one.
    Legal,
    /// The finding is gone, and the only new ones are warnings that it has hidden.
    Likely,
    Illegal,
}

/// What a finding says, and about which packet.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct FindingKey {
    packet_id: Option<String>,
    code: Code,
    pointer: Option<String>,
    message: String,
    is_error: bool,
}

impl FindingKey {
    fn of(finding: &Finding) -> Self {
        let diagnostic = &finding.diagnostic;
        Self {
            packet_id: finding.packet_id.clone(),
            code: diagnostic.code,
            pointer: diagnostic.pointer.clone(),
            message: diagnostic.message.clone(),
            is_error: diagnostic.severity == Severity::Error,
        }
    }
}

fn counts<'t>(texts: impl Iterator<Item = &'t str>, options: &ValidatorOptions) -> FindingCounts {
    let mut findings: Vec<Finding> = Vec::new();
    let mut validator = Validator::new(options.clone());
    for text in texts {
        let Ok(()) = validator.feed(text.as_bytes(), &mut findings);
        let Ok(()) = validator.feed(b"\n", &mut findings);
    }
    let Ok(_) = validator.finish(&mut findings);
    let mut counts = FindingCounts::new();
    for finding in &findings {
        *counts.entry(FindingKey::of(finding)).or_default() += 1;
    }
    counts
}
