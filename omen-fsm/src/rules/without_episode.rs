//! Checks of a packet on its own, without its episode.

use omen_types::{Diagnostic, Instant, PacketFacts};

use super::layer_of_sender;
use crate::table::Event;

/// Checks a packet that matches its schema on its own: returns the findings of the invariants, errors and warnings,
/// that do not depend on earlier packets of its episode. `fixed` replaces the packet's own time (D2).
#[must_use]
pub fn check_alone(facts: &PacketFacts<'_>, fixed: Option<Instant>) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    omen_invariants::rules::check_alone(facts, fixed, &mut findings);
    layer_of_sender::check(facts, Event::of(facts), &mut findings);
    findings
}
