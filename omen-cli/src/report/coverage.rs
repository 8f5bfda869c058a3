//! What was checked and what was not, rule by rule.
//!
//! A packet is not checked beyond the stage that rejects it (D1), and a log without packets of the types that a rule concerns
//! says nothing about the rule.

use std::collections::BTreeMap;

use omen::finding::{Finding, Severity, Stage};
use omen_types::{Code, PacketType};

/// Stages that packets reached, and findings by code.
#[derive(Debug, Default)]
pub(super) struct Coverage {
    /// Number of packets by type, if readable, and by the last stage reached.
    reached: BTreeMap<(Option<&'static str>, Stage), u64>,
    found: BTreeMap<Code, CodeCounts>,
}

#[derive(Clone, Copy, Debug, Default)]
struct CodeCounts {
    errors: u64,
    warnings: u64,
    also: u64,
}

/// A row of the coverage table.
#[derive(Debug)]
pub(super) struct RuleRow {
    pub(super) code: Code,
    pub(super) errors: u64,
    pub(super) warnings: u64,
    /// Number of findings under another code that also violate this rule.
    pub(super) also: u64,
    /// Number of packets of the types concerned to which the rule was applied.
    pub(super) checked: u64,
    /// Number of packets of these or unknown types that were rejected before the rule was applied.
    pub(super) unchecked: u64,
}

impl RuleRow {
    /// Returns whether the logs say nothing about the rule.
    pub(super) fn is_idle(&self) -> bool {
        self.checked == 0 && self.errors + self.warnings + self.also == 0
    }
}

impl Coverage {
    pub(super) fn finding(&mut self, finding: &Finding) {
        let diagnostic = &finding.diagnostic;
        let found = self.found.entry(diagnostic.code).or_default();
        match diagnostic.severity {
            Severity::Error => found.errors += 1,
            Severity::Warning => found.warnings += 1,
        }
        for code in &diagnostic.also {
            self.found.entry(*code).or_default().also += 1;
        }
    }

    /// Counts a packet. `rejected` is the stage that rejected it.
    pub(super) fn packet(&mut self, packet_type: Option<PacketType>, rejected: Option<Stage>) {
        let reached = rejected.unwrap_or(Stage::Invariant);
        *self.reached.entry((packet_type.map(PacketType::as_str), reached)).or_default() += 1;
    }

    /// Returns a row for each rule, in order.
    pub(super) fn rows(&self) -> Vec<RuleRow> {
        Code::ALL.iter().map(|code| self.row(*code)).collect()
    }

    fn row(&self, code: Code) -> RuleRow {
        let CodeCounts { errors, warnings, also } = self.found.get(&code).copied().unwrap_or_default();
        let types = code.info().packet_types;
        let (mut checked, mut unchecked) = (0, 0);
        for ((packet_type, reached), count) in &self.reached {
            match packet_type {
                Some(packet_type) if !types.is_empty() && !types.contains(packet_type) => {}
                _ if *reached < code.info().stage => unchecked += count,
                _ => checked += count,
            }
        }
        RuleRow { code, errors, warnings, also, checked, unchecked }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rejected_packet_was_not_checked_by_the_stages_after_the_one_that_rejected_it() {
        let mut coverage = Coverage::default();
        coverage.packet(Some(PacketType::DecisionPacket), None);
        coverage.packet(Some(PacketType::DecisionPacket), Some(Stage::Schema));
        coverage.packet(Some(PacketType::ObservationPacket), Some(Stage::Fsm));
        coverage.packet(None, Some(Stage::Json));
        let counts = |code| {
            let row = coverage.row(code);
            (row.checked, row.unchecked)
        };
        assert_eq!(counts(Code::Json), (4, 0));
        assert_eq!(counts(Code::Schema), (3, 1));
        assert_eq!(counts(Code::Fsm), (2, 2));
        // The unreadable line may or may not have been a decision.
        assert_eq!(counts(Code::Inv002), (1, 2));
        assert_eq!(counts(Code::E4), (0, 1));
        assert!(coverage.row(Code::E4).is_idle() && !coverage.row(Code::Inv002).is_idle());
    }
}
