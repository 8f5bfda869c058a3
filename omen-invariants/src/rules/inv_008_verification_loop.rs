//! INV-008: a verification loop is completed before it closes.
//!
//! The same as rule E3 of the state machine, which reports it (D37). What is the ledger's own here:
//! which packets a closing belief update may name as evidence (D22).

use omen_types::BeliefUpdatePayloadFacts;

use crate::Ledger;

/// Whether a belief update names at least one piece of evidence of the running loop.
#[must_use]
pub fn cites_evidence(ledger: &Ledger, belief: &BeliefUpdatePayloadFacts<'_>) -> bool {
    belief.evidence_integration.iter().flatten().any(|packet_id| ledger.is_loop_evidence(packet_id))
}
