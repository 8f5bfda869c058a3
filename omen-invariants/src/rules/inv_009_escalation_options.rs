//! INV-009, as `rules.json` states it. The schemas cover all of its requirements, so the schema stage reports
//! a violation, with the codes of E5 and of this rule (D37).

use omen_types::{Code, Diagnostic};

/// Returns whether a schema error also violates this rule.
#[must_use]
pub fn concerns(error: &Diagnostic) -> bool {
    error.also.contains(&Code::Inv009)
}

#[cfg(test)]
mod tests {
    use omen_types::{Code, PacketType};
    use serde_json::json;

    use super::super::fixture::{also, packet};

    #[test]
    fn a_whole_escalation_passes() {
        assert_eq!(also(&packet(PacketType::EscalationPacket, &[])), []);
    }

    #[test]
    fn an_escalation_without_a_gap_is_refused() {
        let found = also(&packet(PacketType::EscalationPacket, &[("/payload/evidence_gaps", json!([]))]));
        assert_eq!(found, [Code::E5, Code::Inv009]);
    }
}
