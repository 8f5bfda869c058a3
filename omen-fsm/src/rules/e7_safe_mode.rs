//! E7: safe mode is locked down.

use omen_invariants::derived::{ReleaseAuthority, release_authority};
use omen_types::{Code, Diagnostic};

use super::Step;

/// Whether a packet comes from those who may end safe mode.
pub(super) fn authority(step: &Step<'_>) -> Option<Diagnostic> {
    (release_authority(&step.context.facts.header) == ReleaseAuthority::Withheld)
        .then(|| refused("only layer 1 or Integrity may end safe mode".to_owned()).at("/header/layer_source"))
}

/// What is said of a packet that safe mode does not take.
pub(super) fn locked_down(step: &Step<'_>) -> Diagnostic {
    refused(format!("{} in safe mode", step.event.description())).at("/header/packet_type")
}

fn refused(message: String) -> Diagnostic {
    Diagnostic::error(Code::E7, message).label("locked down").help(Code::E7.info().help)
}
