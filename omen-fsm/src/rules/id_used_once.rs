//! ID, as `rules.json` states it (D21).

use omen_invariants::Ledger;
use omen_invariants::ledger::{Fingerprint, Kind};
use omen_types::{Code, Diagnostic, PacketFacts, PayloadFacts};

use crate::help::id as help;

/// Checks the ids of a packet. `packet_id` is the fingerprint of its packet id.
pub(crate) fn check(facts: &PacketFacts<'_>, packet_id: Fingerprint, ledger: &Ledger, errors: &mut Vec<Diagnostic>) {
    let mut used = |fingerprint, id: &str, kind: Kind, member, pointer| {
        if ledger.has_seen(fingerprint) {
            errors.push(
                Diagnostic::error(Code::Id, format!("`{member}` `{id}` is already used in this episode"))
                    .at(pointer)
                    .label("already used")
                    .help(if kind == Kind::Task {
                        help::another_task(unused(id, kind, ledger))
                    } else {
                        help::another(unused(id, kind, ledger))
                    }),
            );
        }
    };
    used(packet_id, &facts.header.packet_id, Kind::Packet, "packet_id", "/header/packet_id");
    if let PayloadFacts::TaskDirective(directive) = &facts.payload {
        let fingerprint = Fingerprint::new(Kind::Task, &directive.task_id);
        used(fingerprint, &directive.task_id, Kind::Task, "task_id", "/payload/task_id");
    }
}

/// Returns the id with the smallest numeric suffix that makes it unused.
fn unused(id: &str, kind: Kind, ledger: &Ledger) -> String {
    let numbered = |number: u64| format!("{id}_{number}");
    // There are more numbers than ids in an episode.
    let new = (2..).map(numbered).find(|id| !ledger.has_seen(Fingerprint::new(kind, id)));
    new.unwrap_or_else(|| id.to_owned())
}

#[cfg(test)]
mod tests {
    use omen_invariants::ledger::{Fingerprint, Kind};
    use omen_types::PacketType::TaskDirectivePacket;

    use super::super::fixture::{TestEpisode, packet};

    /// Returns the positions of the findings on a directive that follows one with the ids `pkt_1` and `task_1`.
    fn found(packet_id: &str, task_id: &str) -> Vec<Option<String>> {
        let directive = |packet_id: &str, task_id: &str| {
            packet(
                TaskDirectivePacket,
                &[("/header/packet_id", packet_id.into()), ("/payload/task_id", task_id.into())],
            )
        };
        let episode = TestEpisode::default().accept(&directive("pkt_1", "task_1"));
        let mut errors = Vec::new();
        episode.with(&directive(packet_id, task_id), |transition| {
            let facts = transition.context.facts;
            let id = Fingerprint::new(Kind::Packet, &facts.header.packet_id);
            super::check(facts, id, transition.context.ledger, &mut errors);
        });
        errors.into_iter().map(|error| error.pointer).collect()
    }

    #[test]
    fn new_ids_pass() {
        assert_eq!(found("pkt_2", "task_2"), []);
    }

    #[test]
    fn ids_that_were_used_before_are_refused() {
        assert_eq!(found("pkt_1", "task_2"), [Some("/header/packet_id".to_owned())]);
        assert_eq!(found("pkt_2", "task_1"), [Some("/payload/task_id".to_owned())]);
    }
}
