//! E7: safe mode is locked down.

use omen_invariants::derived::{ReleaseAuthority, release_authority};
use omen_types::{Code, Diagnostic};

use super::Step;
use crate::table::{Event, Node};

pub(super) fn check(step: &Step<'_>) -> Option<Diagnostic> {
    if !step.is_in(Node::SafeMode) {
        return None;
    }
    let header = &step.context.facts.header;
    let finding = if step.is_illegal() {
        Diagnostic::error(Code::E7, format!("{} in safe mode", step.event.description())).at("/header/packet_type")
    } else if step.event == Event::Release && release_authority(header) == ReleaseAuthority::Withheld {
        Diagnostic::error(Code::E7, "only layer 1 or Integrity may end safe mode").at("/header/layer_source")
    } else {
        return None;
    };
    Some(finding.label("locked down").help(Code::E7.info().mend))
}
