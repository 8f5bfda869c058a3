//! Arguments and help text of `omen gate wrap`.

use std::path::PathBuf;

use clap::Args;
use omen_gate::ServerName;

#[derive(Debug, Args)]
pub(crate) struct GateWrapArgs {
    /// The configuration of each gate; `{server}` in it stands for the name of its server
    #[arg(long, value_name = "FILE", default_value = "gate.toml")]
    pub(crate) config: String,

    /// Wrap this server only; may be repeated [default: all]
    #[arg(long, value_name = "NAME", conflicts_with = "undo")]
    pub(crate) server: Vec<ServerName>,

    /// The command with which the client starts `omen` [default: the path of this program]
    #[arg(long, value_name = "PATH", conflicts_with = "undo")]
    pub(crate) omen: Option<PathBuf>,

    /// Print the difference, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Restore the file as it was before it was wrapped
    #[arg(long)]
    pub(crate) undo: bool,

    /// The configuration of the client: JSON, with or without comments
    #[arg(value_name = "CLIENT_CONFIG")]
    pub(crate) file: PathBuf,
}

macro_rules! exit_codes {
    () => {
        "\
Exit codes:
  0  the servers are wrapped, or already were
  2  usage error
  3  the file could not be read or written, or has no matching backup"
    };
}

pub(crate) const WRAP_EXIT_CODES: &str = exit_codes!();

pub(crate) const WRAP_HELP: &str = concat!(
    "\
Rewrites the configuration of an MCP client (`mcpServers` of Claude Desktop, Claude Code and Cursor, `servers` \
     of VS Code), so that each server that the client starts runs behind `omen gate proxy`. Variables that the \
     client sets for a server are passed on. Everything else stays as it is, byte for byte, including \
     comments. Servers that are reached by HTTP are reported and not wrapped.

The original file is kept beside it. --undo restores it, unless the file has changed since. A server that is \
     already wrapped is left alone.

If the configuration of the gate exists and has the server, under its name or with the same command, the gate \
     reaches it as its configuration says, and the client's own command is dropped. If the configuration does \
     not exist, the command that creates it is printed.

No other process can write the audit log of a gate, so several servers need several configurations: `{server}` \
     stands for the name of the server. Relative paths start from the folder in which this command is started.

Examples:
  omen gate wrap --config gate.toml .mcp.json
  omen gate wrap --config 'gates/{server}/gate.toml' --dry-run .vscode/mcp.json
  omen gate wrap --undo .mcp.json

",
    exit_codes!()
);
