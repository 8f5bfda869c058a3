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

    /// Add the server to an existing configuration, without changing what it has
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
Starts the server, asks for its tools, and writes a configuration in which none of them is allowed but those \
     that --allow names. For each tool it has the names of the arguments, the entries that would allow it, \
     with its pin, the permissions that its schema and its server's claims suggest, and rules on its arguments: \
     paths lie in the folders that the server is given in its command. All of that is commented out: what a tool \
     may do is for you to decide. A line that begins with `##` is prose; to allow a tool, remove the `#` in front of \
     its entries. No tool is called.

A tool that is allowed and may write, execute or reach a network needs a confirmation for each call.

The server runs in the folder of the configuration, which is made if there is none, and paths in its command start \
     from there, as they will later.

With --add, the server and its tools are written at the end of a configuration that exists, under its audit log and its limits. \
     Nothing else in the file changes; if the whole would be invalid, nothing is written.

Examples:
  omen gate init -- npx -y @modelcontextprotocol/server-filesystem ./data
  omen gate init --allow read_text_file --allow write_file -- npx -y @modelcontextprotocol/server-filesystem ./data
  omen gate init --config gate.toml --server github --pass-env GITHUB_TOKEN -- github-mcp-server stdio
  omen gate init --url https://example.com/mcp --bearer-env TOKEN
  omen gate init --add --server mail -- mcp-server-mail

",
    exit_codes!()
);
