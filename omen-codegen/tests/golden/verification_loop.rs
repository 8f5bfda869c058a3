/// Where the verification loop runs.
pub const LOOP_NODE: Node = Node::InDoubt;

/// What opens it.
pub const LOOP_OPENED_BY: Event = Event::Doubt;

/// What closes it.
pub const LOOP_CLOSED_BY: Event = Event::Believe;

/// Said when the closing packet names no evidence of the loop.
pub const EVIDENCE_MISSING: &str = "the belief names no look";

impl Event {
    /// Whether packets of this kind count as the loop's evidence.
    #[must_use]
    pub fn is_evidence(self) -> bool {
        matches!(self, Event::Look)
    }
    /// The obligations of the loop that a packet of this kind meets.
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

/// A packet that meets an obligation of the loop.
pub(crate) fn step(obligation: Obligation) -> Event {
    match obligation {
        Obligation::Asked => Event::Doubt,
        Obligation::Seen => Event::Look,
    }
}

/// The obligations that are waived as long as this is the latest packet.
pub(crate) fn waived_by(facts: &PacketFacts<'_>) -> Obligations {
    let mut waived = Obligations::default();
    if !(matches!(facts.mcp.light, Light::Day)) {
        waived.insert(Obligation::Seen);
    }
    waived
}
