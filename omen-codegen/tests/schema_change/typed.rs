//! Uses of the changed schema in the typed API. The file is compiled, but not run.

use omen_fsm::episode::*;
use omen_invariants::facts::*;
use omen_invariants::{text, tool};
use omen_types::{AlertType, EscalationPayload, NotePayload, Packet, PacketType, ToolSafetyClass, VerificationMethod};

tool!(Scan = "net.scan", Intel);

fn main() {}

/// Every optional member of each object that a move sends has a setter.
pub fn members(
    observation: Observation<Observed>,
    answer: Answer,
    belief: Belief,
    ruling: Ruling,
    plan: Plan,
    token: TokenSpec,
    settled: Settled,
    escalation: FullEscalation<2, 1>,
) {
    let _ = observation.more_of_observationpayload("more");
    let _ = answer.more_of_observationpayload("more");
    let _ = belief.more_of_beliefupdatepayload("more").more_of_beliefchange("more");
    let target = Target::of(text!("quiet"), VerificationMethod::User, text!("they say so"));
    let _ = target.more_of_verificationtarget("more");
    let ruling = ruling.more_of_decisionpayload("more").more_of_chosenoption("more").more_of_failuremode("more");
    let _ = ruling.to_act().more_of_loadbearingassumption("more");
    let _ = plan.more_of_verificationplanpayload("more");
    let _ = Inquiry::llm_call(None).more_of_taskdirectivepayload("more").more_of_executionmethod("more");
    let _ = token.more_of_toolauthorizationpayload("more").more_of_authorizedscope("more");
    let _ = settled.more_of_taskresultpayload("more");
    let _ = escalation.more_of_escalationpayload("more").more_of_nextstep("more");
    let _ = Alert::info(AlertType::Drill, text!("a drill")).more_of_integrityalertpayload("more");
}

/// Every optional member of the header and the envelope has a setter.
pub fn header_and_envelope(setup: Setup, envelope: Envelope<LowStakes, Par, ToolsOk>) {
    let _ = setup.more_of_packetheader("more");
    let _ = envelope
        .more_of_mcpenvelope("more")
        .more_of_intent("more")
        .more_of_stakes("more")
        .more_of_quality("more")
        .more_of_definitionofdone("more")
        .more_of_budgets("more")
        .more_of_riskbudget("more")
        .more_of_epistemics("more")
        .more_of_evidence("more")
        .more_of_evidenceref("more")
        .more_of_routing("more");
}

/// All other members can be set in a generated payload, which every move accepts.
pub fn payload(episode: Episode<Decide<Escalate>>, mut payload: EscalationPayload) -> Episode<Escalated> {
    for gap in &mut payload.evidence_gaps {
        gap.more_of_evidencegap = Some("more".into());
    }
    episode.escalate(payload)
}

/// A tool of the new class reads, both by its type and by its name.
pub fn class() -> [Order<ReadOnly>; 1] {
    let directive = Directive::named(text!("net.scan"), ToolSafetyClass::Intel, None);
    let _ = directive.more_of_taskdirectivepayload("more").more_of_executionmethod("more").sort();
    let directive = Directive::bare(Scan, op::Read).more_of_taskdirectivepayload("more");
    [directive.more_of_executionmethod("more").ready()]
}

/// The new row has a method.
pub fn row(episode: Episode<Sense>, escalation: Escalation<2, 1>) -> Episode<Escalated> {
    episode.escalate(escalation)
}

/// The new packet is a variant of `Packet`.
pub fn packet(packet: &Packet) -> Option<&NotePayload> {
    let Packet::Note(note) = packet else { return None };
    assert_eq!(packet.packet_type(), PacketType::NotePacket);
    Some(&note.payload)
}
