//! Tools that the client gets in addition to the server's.

use omen_types::packet::PacketType;

/// Tool with which a model drives its episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum OwnTool {
    Observe,
    Believe,
    Decide,
    Plan,
    Escalate,
    State,
}

impl OwnTool {
    pub(crate) const ALL: [Self; 6] =
        [Self::Observe, Self::Believe, Self::Decide, Self::Plan, Self::Escalate, Self::State];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Observe => "omen_observe",
            Self::Believe => "omen_believe",
            Self::Decide => "omen_decide",
            Self::Plan => "omen_plan",
            Self::Escalate => "omen_escalate",
            Self::State => "omen_state",
        }
    }

    /// Returns the type of the packet that the tool sends, if it sends one.
    pub(crate) fn packet_type(self) -> Option<PacketType> {
        match self {
            Self::Observe => Some(PacketType::ObservationPacket),
            Self::Believe => Some(PacketType::BeliefUpdatePacket),
            Self::Decide => Some(PacketType::DecisionPacket),
            Self::Plan => Some(PacketType::VerificationPlanPacket),
            Self::Escalate => Some(PacketType::EscalationPacket),
            Self::State => None,
        }
    }

    pub(super) fn sending(packet: PacketType) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.packet_type() == Some(packet))
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }
}

/// Returns the name of a server's tool that a client could mistake for one of these. Readers differ in how they treat case.
pub(crate) fn collision<'n>(names: impl IntoIterator<Item = &'n str>) -> Option<String> {
    let is_ours = |name: &str| OwnTool::ALL.into_iter().any(|tool| omen_mcp::json::same_folded(name, tool.name()));
    names.into_iter().find(|name| is_ours(name)).map(str::to_owned)
}
