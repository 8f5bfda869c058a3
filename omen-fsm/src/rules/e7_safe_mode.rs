//! E7, as `episode.fsm.json` states it (D13).

use omen_invariants::derived::{ReleaseAuthority, release_authority};
use omen_types::{Code, Diagnostic};

use super::route;
use super::transition::Transition;
use crate::help::e7 as help;
use crate::table::{Event, layer_name};

/// Checks that only layer 1 or Integrity ends safe mode.
pub(super) fn authority(transition: &Transition<'_>) -> Option<Diagnostic> {
    (release_authority(&transition.context.facts.header) == ReleaseAuthority::Withheld).then(|| {
        let found = layer_name(transition.context.facts.header.layer_source);
        refused(format!("only `layer_source` `1` or `Integrity` may end safe mode, found `{found}`"))
            .at("/header/layer_source")
            .help(help::authority(Event::Release))
    })
}

/// Returns the finding on a packet that is illegal in safe mode.
pub(super) fn locked_down(transition: &Transition<'_>) -> Diagnostic {
    let route = route::to(transition.nodes, transition.event, transition.context.ledger);
    refused(format!("{} is not legal in safe mode", transition.event.description())).at("/header/packet_type").help(
        match route {
            Some(events) => help::first(route::words(&events), route::names(&events)),
            None => Code::E7.info().help.to_owned(),
        },
    )
}

fn refused(message: String) -> Diagnostic {
    Diagnostic::error(Code::E7, message).label("locked down")
}

#[cfg(test)]
mod tests {
    use omen_types::Code;
    use omen_types::PacketType::{BeliefUpdatePacket, IntegrityAlertPacket, ObservationPacket};
    use serde_json::Value;

    use super::super::fixture::{TestEpisode, packet};
    use crate::table::Node;

    fn clear(layer: u8) -> Value {
        packet(IntegrityAlertPacket, &[("/payload/severity", "CLEAR".into()), ("/header/layer_source", layer.into())])
    }

    fn refused(packet: &Value) -> Vec<Code> {
        TestEpisode::at(Node::SafeMode).refused(packet)
    }

    #[test]
    fn logging_and_the_clear_of_layer_1_pass() {
        assert_eq!(refused(&packet(BeliefUpdatePacket, &[])), []);
        assert_eq!(refused(&clear(1)), []);
    }

    #[test]
    fn work_and_the_clear_of_another_layer_are_refused() {
        assert_eq!(refused(&packet(ObservationPacket, &[])), [Code::E7, Code::Fsm]);
        assert_eq!(refused(&clear(5)), [Code::E7]);
    }
}
