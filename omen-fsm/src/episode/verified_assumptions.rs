//! Assumptions that the typed API accepts as verified (INV-003, D53).
//!
//! A log cannot show which evidence supports an assumption. So an order to act is judged more strictly than a line of a
//! log: only the latest verification loop verifies an assumption, once it has closed with a successful check. A
//! proposal is judged as a validator judges its line (D86).

use omen_invariants::ledger::{Fingerprint, Kind};
use omen_types::{Code, Diagnostic, Packet};

use super::errors::Refusal;
use super::loop_notes::LoopState;
use crate::machine::Machine;

/// Checks that the latest loop has verified the assumptions that a decision states as verified.
pub(super) fn check(packet: &Packet, machine: &Machine, loop_state: LoopState) -> Result<(), Refusal> {
    let Packet::Decision(decision) = packet else { return Ok(()) };
    let proved = loop_state == LoopState::Closed && machine.has_succeeded();
    let assumptions = decision.payload.load_bearing_assumptions.iter().flatten().enumerate();
    for (at, assumption) in assumptions.filter(|(_, assumption)| assumption.verified) {
        let evidence = assumption.verification_packet_id.as_deref();
        if proved && evidence.is_some_and(|id| machine.ledger().is_loop_evidence(id)) {
            continue;
        }
        let (problem, help) = match evidence.filter(|id| is_of_earlier_loop(machine, id)) {
            Some(id) => (
                format!("`{id}` is evidence of an earlier verification loop; a later loop has begun since"),
                "verify the assumption in the later loop too, or write `\"verified\": false`",
            ),
            None => (
                "an assumption is stated as verified without evidence of a verification loop with a SUCCESS".to_owned(),
                "decide VERIFY_FIRST and complete the loop, or write `\"verified\": false`",
            ),
        };
        let pointer = format!("/payload/load_bearing_assumptions/{at}/verification_packet_id");
        return Err(Refusal::rule(Diagnostic::error(Code::Inv003, problem).at(pointer).help(help)));
    }
    Ok(())
}

fn is_of_earlier_loop(machine: &Machine, id: &str) -> bool {
    let ledger = machine.ledger();
    (1..ledger.verification().number).any(|number| ledger.has_seen(Fingerprint::new(Kind::Evidence(number), id)))
}
