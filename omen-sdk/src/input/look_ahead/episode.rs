//! Changes to an episode that were tried.

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
        let findings = counts(texts, options, |_, _| false).unwrap_or_default();
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
        let (own, before) = (FindingKey::new(finding), |key: &FindingKey| self.findings.get(key).copied().unwrap_or(0));
        // A finding that needs other episodes, too, is not there without them, so nothing shows that a change removes it.
        if before(&own) == 0 {
            return ChangeVerdict::Illegal;
        }
        // A packet that was rejected has not been judged by the rules that only warn, and what it did was not counted.
        let was_hidden = |code: Code| ![Code::Chain, Code::Time, Code::Fsm].contains(&code);
        let may_be_new =
            |key: &FindingKey| !key.is_error && key.code != finding.diagnostic.code && was_hidden(key.code);
        let is_illegal = |key: &FindingKey, count: usize| {
            if *key == own { count >= before(key) } else { count > before(key) && !may_be_new(key) }
        };
        match counts(change.apply(packets).iter().map(String::as_str), options, is_illegal) {
            None => ChangeVerdict::Illegal,
            Some(after) if after.iter().all(|(key, count)| *count <= before(key)) => ChangeVerdict::Legal,
            Some(_) => ChangeVerdict::Likely,
        }
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
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct FindingKey {
    packet_id: Option<String>,
    code: Code,
    pointer: Option<String>,
    message: String,
    is_error: bool,
}

impl FindingKey {
    fn new(finding: &Finding) -> Self {
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

/// Counts the findings of an episode; `None` as soon as one stops it by its count so far. Most changes are illegal where they are made,
/// so the rest of the episode need not be judged.
fn counts<'t>(
    texts: impl Iterator<Item = &'t str>,
    options: &ValidatorOptions,
    stops: impl Fn(&FindingKey, usize) -> bool,
) -> Option<FindingCounts> {
    let mut counts = FindingCounts::new();
    let mut count = |findings: &mut Vec<Finding>| {
        findings.drain(..).try_for_each(|finding| {
            let key = FindingKey::new(&finding);
            let count = counts.entry(key.clone()).or_default();
            *count += 1;
            (!stops(&key, *count)).then_some(())
        })
    };
    let (mut validator, mut findings) = (Validator::new(options.clone()), Vec::new());
    for text in texts {
        let Ok(()) = validator.feed(text.as_bytes(), &mut findings);
        let Ok(()) = validator.feed(b"\n", &mut findings);
        count(&mut findings)?;
    }
    let Ok(_) = validator.finish(&mut findings);
    count(&mut findings)?;
    Some(counts)
}
