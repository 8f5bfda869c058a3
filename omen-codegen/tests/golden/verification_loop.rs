/// Node of the verification loop.
pub const LOOP_NODE: Node = Node::InDoubt;

/// Event that opens the loop.
pub const LOOP_OPENED_BY: Event = Event::Doubt;

/// Event that closes the loop.
pub const LOOP_CLOSED_BY: Event = Event::Believe;

/// Message for a closing packet that names no evidence of the loop.
pub const EVIDENCE_MISSING: &str = "the belief names no look";

impl Event {
    /// Returns whether packets of this kind count as the loop's evidence.
    #[must_use]
    pub fn is_evidence(self) -> bool {
        matches!(self, Event::Look)
    }
    /// Returns the obligations of the loop that a packet of this kind meets.
    pub(crate) fn meets(self, facts: &PacketFacts<'_>) -> Obligations {
        let mut met = Obligations::default();
        if self == Event::Doubt {
            met.insert(Obligation::Asked);
        }
        if self == Event::Look
            && matches!(
                & facts.payload, PayloadFacts::Look(payload) if matches!(payload.sight,
                Sight::Clear) && matches!(facts.mcp.light, Light::Day)
            )
        {
            met.insert(Obligation::Seen);
        }
        met
    }
}

/// Returns an event whose packet meets an obligation of the loop.
pub(crate) fn step(obligation: Obligation) -> Event {
    match obligation {
        Obligation::Asked => Event::Doubt,
        Obligation::Seen => Event::Look,
    }
}

/// Returns the obligations that are waived while this is the latest packet.
pub(crate) fn waived_by(facts: &PacketFacts<'_>) -> Obligations {
    let mut waived = Obligations::default();
    if !(matches!(facts.mcp.light, Light::Day)) {
        waived.insert(Obligation::Seen);
    }
    waived
}
