//! E2, as `episode.fsm.json` states it.

use omen_invariants::Ledger;
use omen_types::{Code, DecisionOutcome, Diagnostic};

use super::route;
use super::transition::Transition;
use crate::help::e2 as help;

pub(super) fn check(transition: &Transition<'_>) -> Option<Diagnostic> {
    let ledger = transition.context.ledger;
    if acts(ledger) {
        return None;
    }
    let message = match ledger.decision() {
        None => "cannot send a directive before a DecisionPacket of the episode was accepted".to_owned(),
        Some(outcome) => {
            format!(
                "cannot send a directive while the latest decision is `{outcome}`; expected `{}`",
                DecisionOutcome::Act
            )
        }
    };
    let route = route::to(transition.nodes, transition.event, ledger).filter(|events| !events.is_empty());
    let help = match route {
        Some(events) => help::first(route::words(&events), route::names(&events)),
        None => Code::E2.info().help.to_owned(),
    };
    Some(Diagnostic::error(Code::E2, message).at("/header/packet_type").help(help))
}

/// Returns whether the latest decision is ACT.
pub(super) fn acts(ledger: &Ledger) -> bool {
    ledger.decision() == Some(DecisionOutcome::Act)
}

#[cfg(test)]
mod tests {
    use omen_types::Code;
    use omen_types::PacketType::{DecisionPacket, TaskDirectivePacket};
    use serde_json::Value;

    use super::super::fixture::{TestEpisode, packet};
    use crate::table::Node;

    fn read() -> Value {
        let members = [
            ("/payload/task_type", "tool_read".into()),
            ("/payload/tool_safety_class", "READ".into()),
            ("/payload/authorization_token_id", Value::Null),
        ];
        packet(TaskDirectivePacket, &members)
    }

    fn decided(outcome: &str) -> TestEpisode {
        let decision = packet(DecisionPacket, &[("/payload/decision_outcome", outcome.into())]);
        TestEpisode::at(Node::DecideAct).accept(&decision)
    }

    #[test]
    fn a_directive_after_act_passes() {
        assert_eq!(decided("ACT").refused(&read()), []);
    }

    #[test]
    fn a_directive_after_no_decision_or_another_one_is_refused() {
        assert_eq!(TestEpisode::at(Node::DecideAct).refused(&read()), [Code::E2]);
        assert_eq!(decided("DEFER").refused(&read()), [Code::E2]);
    }
}
