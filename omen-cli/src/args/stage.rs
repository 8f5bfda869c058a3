//! Depth of the checks of `omen check`, as an argument.

use clap::ValueEnum;
use omen::validator::Depth;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Stage {
    /// Each line on its own: JSON and schema
    Schema,
    /// Each packet on its own: also the invariants, as far as a single packet can break them
    Packet,
    /// Packets in their episodes
    #[default]
    Episode,
}

impl Stage {
    /// Describes, for people, the checks that are skipped.
    pub(crate) fn note(self) -> Option<&'static str> {
        match self {
            Self::Schema => Some("lines were checked only against the schema"),
            Self::Packet => Some("each packet was checked on its own; the order of packets was not checked"),
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
