//! Registry of the invariants and of CHAIN, CLAIM and TIME: one module for each, named after its code, with its check
//! and its tests.
//!
//! INV-001 and INV-009 are reported by the schema stage, and INV-008 is reported as E3 by the state machine (D37);
//! their modules contain the rest. LAYER depends on a table of the state machine and is among the machine's rules.

use omen_types::{Diagnostic, Instant, PacketFacts};

use crate::context::Context;
use crate::ledger::Ledger;

pub mod chain_of_packets;
mod claim_without_contradiction;
#[cfg(test)]
mod fixture;
pub mod inv_001_mcp_complete;
pub mod inv_002_subpar_never_acts;
pub mod inv_003_high_stakes_verified;
pub mod inv_004_live_evidence;
pub mod inv_005_budget_overrun;
pub mod inv_006_drive_arbitration;
pub mod inv_007_token_scope;
pub mod inv_008_verification_loop;
pub mod inv_009_escalation_options;
pub mod inv_010_degraded_tools;
pub mod inv_011_task_closure;
pub mod inv_012_stakes_consistent;
pub mod time_in_order;
mod wording;

/// Checks a packet: adds the findings of all invariants, errors and warnings, in rule order.
///
/// The packet must satisfy the schema and the state machine.
pub fn check(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    inv_002_subpar_never_acts::check(context, findings);
    inv_003_high_stakes_verified::check(context, findings);
    inv_004_live_evidence::check(context, findings);
    inv_005_budget_overrun::check(context, findings);
    inv_006_drive_arbitration::check(context, findings);
    inv_007_token_scope::check(context, findings);
    inv_010_degraded_tools::check(context, findings);
    inv_011_task_closure::check(context, findings);
    inv_012_stakes_consistent::check(context, findings);
    chain_of_packets::check(context, findings);
    claim_without_contradiction::check(context, findings);
    time_in_order::check(context, findings);
}

/// Checks a packet on its own: adds the findings of the invariants that do not depend on earlier packets of its
/// episode. Within its episode, a finding may be more severe: by a later clock, the evidence of a claim is older, and a
/// READ directive seeks certainty only in a verification loop.
///
/// The packet must satisfy the schema. `fixed` replaces the packet's own time.
pub fn check_alone(facts: &PacketFacts<'_>, fixed: Option<Instant>, findings: &mut Vec<Diagnostic>) {
    let nothing = Ledger::default();
    let context = Context::new(facts, &nothing, fixed);
    inv_002_subpar_never_acts::check(&context, findings);
    inv_003_high_stakes_verified::check_alone(&context, findings);
    inv_004_live_evidence::check_alone(&context, findings);
    inv_006_drive_arbitration::check(&context, findings);
    inv_007_token_scope::check(&context, findings);
    inv_010_degraded_tools::check(&context, findings);
    inv_012_stakes_consistent::check(&context, findings);
    claim_without_contradiction::check(&context, findings);
}
