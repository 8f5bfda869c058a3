//! What was checked and what was not, rule by rule.
//!
//! A packet is not checked beyond the stage that rejects it (D1), and a rule says nothing about a log without packets of the
//! types that it is about.

use std::collections::BTreeMap;

use omen::finding::{Finding, Severity, Stage};
use omen_types::{Code, PacketType};

/// How far packets came, and what was found.
#[derive(Debug, Default)]
pub(super) struct Coverage {
    /// Packets by type, if it is readable, and by the last stage that they reached.
    reached: BTreeMap<(Option<&'static str>, Stage), u64>,
    found: BTreeMap<Code, Found>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Found {
    errors: u64,
    warnings: u64,
    also: u64,
}

/// A row of the table.
#[derive(Debug)]
pub(super) struct RuleRow {
    pub(super) code: Code,
    pub(super) errors: u64,
    pub(super) warnings: u64,
    /// Findings with another code that break this rule, too.
    pub(super) also: u64,
    /// Packets of the types that the rule is about, of which the rule was checked.
    pub(super) checked: u64,
    /// Packets of these types, or of an unknown type, that were rejected before it was.
    pub(super) unchecked: u64,
}

impl RuleRow {
    /// Whether the logs say nothing about the rule.
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

    /// A packet, and the stage that rejected it.
    pub(super) fn packet(&mut self, packet_type: Option<PacketType>, rejected: Option<Stage>) {
        let reached = rejected.unwrap_or(Stage::Invariant);
        *self.reached.entry((packet_type.map(PacketType::as_str), reached)).or_default() += 1;
    }

    /// All rules, in their order.
    pub(super) fn rows(&self) -> Vec<RuleRow> {
        Code::ALL.iter().map(|code| self.row(*code)).collect()
    }

    fn row(&self, code: Code) -> RuleRow {
        let Found { errors, warnings, also } = self.found.get(&code).copied().unwrap_or_default();
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
        // Whether the unreadable line was a decision is unknown.
        assert_eq!(counts(Code::Inv002), (1, 2));
        assert_eq!(counts(Code::E4), (0, 1));
        assert!(coverage.row(Code::E4).is_idle() && !coverage.row(Code::Inv002).is_idle());
    }
}
