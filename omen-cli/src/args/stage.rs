//! Depth of the checks of `omen check`, as an argument.

use clap::ValueEnum;
use omen::validator::Depth;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Stage {
    /// Each line by itself: JSON and schema
    Schema,
    /// Each packet by itself: also the invariants, as far as one packet can break them
    Packet,
    /// Packets in their episodes
    #[default]
    Episode,
}

impl Stage {
    /// Describes, for people, the checks that are skipped.
    pub(crate) fn note(self) -> Option<&'static str> {
        match self {
            Self::Schema => Some("lines were checked against the schema only"),
            Self::Packet => Some("each packet was checked by itself; the order of packets was not"),
            Self::Episode => None,
        }
    }
}

impl From<Stage> for Depth {
    fn from(stage: Stage) -> Self {
        match stage {
            Stage::Schema => Self::Schema,
            Stage::Packet => Self::Packet,
            Stage::Episode => Self::InEpisode,
        }
    }
}
