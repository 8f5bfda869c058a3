//! Arguments and help text of `omen gate init`.

use std::path::PathBuf;

use clap::Args;
use omen_gate::{ServerName, ToolName};

use crate::args::RemoteArgs;

#[derive(Debug, Args)]
pub(crate) struct GateInitArgs {
    /// The configuration to write; the key goes into `audit.key` beside it
    #[arg(long, value_name = "FILE", default_value = "gate.toml")]
    pub(crate) config: PathBuf,

    /// The name of the server in the configuration [default: from the command, or from the host of the URL]
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Option<ServerName>,

    /// An environment variable that the server inherits; apart from `PATH`, it inherits no others
    #[arg(long, value_name = "NAME")]
    pub(crate) pass_env: Vec<String>,

    /// Allow this tool, with the proposed permissions; may be repeated
    #[arg(long, value_name = "TOOL")]
    pub(crate) allow: Vec<ToolName>,

    /// Replace an existing configuration; a key is never replaced
    #[arg(long)]
    pub(crate) force: bool,

    /// Add the server to an existing configuration, without changing the rest
    #[arg(long, conflicts_with = "force")]
    pub(crate) add: bool,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,

    /// The command that starts the server
    #[arg(value_name = "COMMAND", required_unless_present = "url", last = true)]
    pub(crate) command: Vec<String>,
}

macro_rules! exit_codes {
    () => {
        "\
Exit codes:
  0  the configuration was written
  2  usage error
  3  the configuration exists (with --add: does not exist, has the server, or is invalid) or cannot be written, or the\n     server failed"
    };
}

pub(crate) const INIT_EXIT_CODES: &str = exit_codes!();

pub(crate) const INIT_HELP: &str = concat!(
    "\
Starts the server, lists its tools, and writes a configuration that allows only the tools named with --allow. \
     For each tool, it contains the names of the arguments, the entries that would allow the tool, with its \
     pin, the permissions that its schema and its server's claims suggest, and rules on its arguments: paths \
     must be in the folders that the server's command gives it. All of this is commented out: you decide what \
     a tool may do. A line that begins with `##` is prose; to allow a tool, remove the `#` in front of its \
     entries. No tool is called.

An allowed tool that may write, execute or reach a network needs a confirmation for each call.

The server runs in the folder of the configuration, which is created if it does not exist, and relative paths \
     in its command start from there, as they will later.

With --add, the server and its tools are appended to an existing configuration, whose audit log and limits \
     apply to them. Nothing else in the file changes; if the result would be invalid, nothing is written.

Examples:
  omen gate init -- npx -y @modelcontextprotocol/server-filesystem ./data
  omen gate init --allow read_text_file --allow write_file -- npx -y @modelcontextprotocol/server-filesystem ./data
  omen gate init --config gate.toml --server github --pass-env GITHUB_TOKEN -- github-mcp-server stdio
  omen gate init --url https://example.com/mcp --bearer-env TOKEN
  omen gate init --add --server mail -- mcp-server-mail

",
    exit_codes!()
);
