//! Arguments of `omen trace` and `omen graph`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::common::{ClockArgs, Format};

#[derive(Debug, Args)]
pub(crate) struct TraceArgs {
    /// The output format; `json` is JSON Lines, with a summary at the end
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: Format,

    /// Show only this episode; may be repeated
    #[arg(long = "episode", value_name = "ID")]
    pub(crate) episodes: Vec<String>,

    #[command(flatten)]
    pub(crate) clock: ClockArgs,

    /// The logs to trace, each on its own; `-` means standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct GraphArgs {
    /// The language of the diagram
    #[arg(long, value_name = "FORMAT", default_value = "mermaid")]
    pub(crate) format: GraphFormat,

    /// Mark the path of this episode; needed if the log has several
    #[arg(long, value_name = "ID", requires = "log")]
    pub(crate) episode: Option<String>,

    #[command(flatten)]
    pub(crate) clock: ClockArgs,

    /// A log, to mark the path that an episode took; `-` means standard input
    #[arg(value_name = "LOG")]
    pub(crate) log: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// A Mermaid `stateDiagram-v2`
    Mermaid,
    /// A Graphviz digraph
    Dot,
}
