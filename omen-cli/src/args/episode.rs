//! Arguments of `omen gate proxy` for episodes.

use std::path::PathBuf;

use clap::Args;
use omen_proxy::episode::Mode;

#[derive(Debug, Args)]
pub(crate) struct EpisodeArgs {
    /// Write each call as an episode (observe), or have the client's model drive one (enforce)
    #[arg(long = "episode", value_name = "MODE", requires = "log")]
    pub(crate) mode: Option<Mode>,

    /// With --episode: the log of the episodes, which `omen check` judges
    #[arg(long = "episode-log", value_name = "FILE", requires = "mode")]
    pub(crate) log: Option<PathBuf>,

    /// With --episode enforce: how many tool calls the episode may make [default: no limit]
    #[arg(long = "episode-calls", value_name = "NUMBER", requires = "mode")]
    pub(crate) calls: Option<u32>,

    /// With --episode enforce: how many seconds the episode may last after its first decision [default: no limit]
    #[arg(long = "episode-seconds", value_name = "NUMBER", requires = "mode")]
    pub(crate) seconds: Option<u32>,
}
