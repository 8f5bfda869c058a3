/// What the verification loop needs before it may close (E3, INV-008).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Obligation {
    /// Somebody asked.
    Asked,
    /// Somebody saw it clearly by day; waived at night.
    Seen,
}

impl Obligation {
    /// Every obligation, in order.
    pub const ALL: &'static [Obligation] = &[Obligation::Asked, Obligation::Seen];
    /// Said when it is not met.
    #[must_use]
    pub fn missing(self) -> &'static str {
        match self {
            Obligation::Asked => "nobody asked",
            Obligation::Seen => "nobody looked",
        }
    }
    /// Its bit in a set of obligations.
    #[must_use]
    pub fn bit(self) -> u8 {
        1 << self as u8
    }
    /// The obligations that a packet meets, as bits.
    #[must_use]
    pub fn met_by(event: Event, facts: &PacketFacts<'_>) -> u8 {
        let mut met = 0;
        if event == Event::Doubt {
            met |= Obligation::Asked.bit();
        }
        if event == Event::Look
            && matches!(
                & facts.payload, PayloadFacts::Look(payload) if matches!(payload.sight,
                Sight::Clear) && matches!(facts.mcp.light, Light::Day)
            )
        {
            met |= Obligation::Seen.bit();
        }
        met
    }
    /// The obligations that are waived while this was the latest packet, as bits.
    #[must_use]
    pub fn waived_by(facts: &PacketFacts<'_>) -> u8 {
        let mut waived = 0;
        if !(matches!(facts.mcp.light, Light::Day)) {
            waived |= Obligation::Seen.bit();
        }
        waived
    }
}

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
}
