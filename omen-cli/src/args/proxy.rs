//! The arguments of `omen gate proxy`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use omen_gate::ServerName;
use omen_proxy::Passage;

use super::episode::EpisodeArgs;

#[derive(Debug, Args)]
pub(crate) struct ProxyArgs {
    /// The configuration of the gate: a regular file, in TOML
    #[arg(long, value_name = "FILE")]
    pub(crate) config: PathBuf,

    /// The server of the configuration that this is in front of [default: the only one]
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Option<ServerName>,

    /// Let the client ask its user to confirm calls, if it can
    #[arg(long)]
    pub(crate) elicitation: bool,

    /// With --elicitation: the least time in milliseconds that a human takes; what comes faster confirms nothing
    #[arg(long, value_name = "MS", default_value_t = 1_000, requires = "elicitation")]
    pub(crate) least_ms: u64,

    /// Do not offer calls that wait for a confirmation to `omen gate confirm`
    #[arg(long)]
    pub(crate) no_socket: bool,

    /// Let messages pass that could act without being a call: sampling, secrets, urls, subscriptions, tasks
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    pub(crate) pass: Vec<Passage>,

    /// Let the server inherit a variable of the environment, beside `PATH` and those of the configuration
    #[arg(long, value_name = "NAME")]
    pub(crate) pass_env: Vec<String>,

    /// List the tools that may not be called, too, with the reason in their description
    #[arg(long)]
    pub(crate) show_blocked: bool,

    #[command(flatten)]
    pub(crate) episode: EpisodeArgs,

    /// The server's program and its arguments, in place of those of the configuration
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// A macro, because `concat!` takes no constants.
macro_rules! proxy_exit_codes {
    () => {
        "\
Exit codes:
  0  the client closed the session, or the proxy was asked to stop
  2  usage error
  3  the session did not begin, the server ended or broke the protocol, or the end could not be recorded"
    };
}

pub(crate) const PROXY_EXIT_CODES: &str = proxy_exit_codes!();

pub(crate) const PROXY_HELP: &str = concat!(
    "\
Write this command in the configuration of an MCP client in place of the server's own command, which \
     follows `--`. To the client the proxy is the server. A call takes the same steps as in a program with a gate: \
     allowlist, pins, grants, confirmation, audit log. A refused call is a result that says why, and what to do. \
     All other messages pass byte for byte.

Calls that need a confirmation wait for `omen gate confirm` in another terminal. SIGHUP puts the configuration \
     in force anew, whole or not at all.

With --episode enforce the client gets some more tools, by which its model states what it observes, believes and \
     decides; a call that writes is refused unless the episode stands where it is legal, and the refusal names the rule and \
     what is legal next. With --episode observe nothing more is refused. Either way `omen check FILE` judges what is \
     written.

SIGTERM and SIGINT end the session: calls that run have two seconds to end. Nothing of the server outlives \
     the proxy, however it ends (on Linux).

Examples:
  omen gate proxy --config gate.toml -- npx -y @modelcontextprotocol/server-filesystem ./data
  omen gate proxy --config gate.toml --server files --elicitation
  omen gate proxy --config gate.toml --episode enforce --episode-log episodes.jsonl

",
    proxy_exit_codes!()
);
