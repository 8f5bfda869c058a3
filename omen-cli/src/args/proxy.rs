//! Arguments of `omen gate proxy`.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use omen_gate::ServerName;
use omen_proxy::Passage;
use omen_proxy::episode::Mode;

use super::remote::RemoteArgs;
use crate::logs::LogArgs;

#[derive(Debug, Args)]
pub(crate) struct ProxyArgs {
    /// The configuration of the gate: a regular file, in TOML
    #[arg(long, value_name = "FILE", default_value = "gate.toml")]
    pub(crate) config: PathBuf,

    /// The server of the configuration to put the proxy in front of [default: the only one]. Given more than once, the client has
    /// all of them as one server, whose tools and prompts are named SERVER__NAME
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Vec<ServerName>,

    /// All servers of the configuration, as one server; if there are several, tools and prompts are named SERVER__NAME
    #[arg(long, conflicts_with = "server")]
    pub(crate) all_servers: bool,

    /// Let the client ask its user to confirm calls, if it can
    #[arg(long)]
    pub(crate) elicitation: bool,

    /// With --elicitation: the minimum time in milliseconds that a human takes; faster answers confirm nothing
    #[arg(long, value_name = "MS", default_value_t = 1_000, requires = "elicitation")]
    pub(crate) least_ms: u64,

    /// Do not offer calls that wait for a confirmation to `omen gate confirm`
    #[arg(long)]
    pub(crate) no_socket: bool,

    /// Let messages pass that could act without being a call: sampling, secrets, urls, subscriptions, roots, tasks
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    pub(crate) pass: Vec<Passage>,

    /// Let the server inherit an environment variable, in addition to `PATH` and those of the configuration
    #[arg(long, value_name = "NAME")]
    pub(crate) pass_env: Vec<String>,

    /// Also list the tools that may not be called, with the reason in their description
    #[arg(long)]
    pub(crate) show_blocked: bool,

    /// Add to the descriptions of tools what the order rules say about their calls
    #[arg(long)]
    pub(crate) show_order: bool,

    /// Make calls that the rules on content or order would refuse, and record them: patterns, `where`, `max`, `after`, budgets of calls
    #[arg(long)]
    pub(crate) shadow: bool,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,

    #[command(flatten)]
    pub(crate) http: HttpArgs,

    #[command(flatten)]
    pub(crate) episode: EpisodeArgs,

    /// The server's program and its arguments, in place of those of the configuration
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,

    #[command(flatten)]
    pub(crate) logs: LogArgs,
}

/// Options for serving clients over HTTP.
#[derive(Debug, Args)]
pub(crate) struct HttpArgs {
    /// Serve clients over HTTP at this address, e.g. `127.0.0.1:8808`, in place of one on the standard streams
    #[arg(long, value_name = "ADDRESS", conflicts_with = "mode")]
    pub(crate) listen: Option<SocketAddr>,

    /// With --listen: serve only clients that send the token in this file, which only its owner can read
    #[arg(long, value_name = "FILE", requires = "listen")]
    pub(crate) token_file: Option<PathBuf>,

    /// With --listen: an additional name under which clients reach the proxy (`Host`), with or without a port
    #[arg(long, value_name = "HOST", requires = "listen")]
    pub(crate) allow_host: Vec<String>,

    /// With --listen: web pages that may use the proxy (`Origin`), e.g. `https://app.example.com`
    #[arg(long, value_name = "ORIGIN", requires = "listen")]
    pub(crate) allow_origin: Vec<String>,

    /// With --listen: how many sessions may run at once, each with its own server
    #[arg(long, value_name = "N", default_value_t = 64, requires = "listen", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) max_sessions: u16,

    /// With --listen: end a session after this many seconds without use
    #[arg(long, value_name = "SECONDS", default_value_t = 1_800, requires = "listen", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) idle_seconds: u32,
}

macro_rules! proxy_exit_codes {
    () => {
        "\
Exit codes:
  0  the client closed the session, or the proxy was asked to stop
  2  usage error
  3  the session did not begin, the server ended or broke the protocol, the address cannot be used, or the end
     could not be recorded"
    };
}

pub(crate) const PROXY_EXIT_CODES: &str = proxy_exit_codes!();

pub(crate) const PROXY_HELP: &str = concat!(
    "\
Use this command in the configuration of an MCP client in place of the server's own command, which follows \
     `--`. To the client, the proxy is the server. A call takes the same steps as in a program with a gate: \
     allowlist, pins, grants, confirmation, audit log. The result of a refused call says why it was refused, \
     and what to do. All other messages pass byte for byte.

Calls that need a confirmation wait for `omen gate confirm` in another terminal; standard error says so. A log \
     has one writer: if another proxy runs with the same configuration, the client reads that in the answer to \
     `initialize`, and the exit code is 3. SIGHUP reloads the configuration, completely or not at all.

With --episode enforce, the client gets additional tools, with which its model states what it observes, \
     believes and decides; a call is refused unless it is legal in the state of the episode, and the refusal \
     names the rule and what is legal next. With --episode observe, nothing more is refused. In both modes, \
     `omen check FILE` judges the log that is written.

SIGTERM and SIGINT end the session: running calls have two seconds to finish. No process of the server \
     outlives the proxy, however the proxy ends (on Linux).

With --listen, clients are served over Streamable HTTP at http://ADDRESS/mcp: each session has its own server \
     process, and all share one gate and one audit log. Other machines can connect only if ADDRESS is not a \
     loopback address, and then --token-file is required. TLS is left to a reverse proxy.

With --url, or a `url` in the configuration, the server is reached over Streamable HTTP. Secrets come from \
     environment variables, redirects are not followed, and `http` reaches only this machine unless you allow \
     more.

With several --server, or with --all-servers, the client sees several servers as one: the tool `read` of the \
     server `files` is `files__read`. Each call is judged under the server's own name and the tool's own name, \
     and all calls are in one audit log. When a server ends, its tools disappear, and the other servers \
     continue.

Examples:
  omen gate proxy --config gate.toml -- npx -y @modelcontextprotocol/server-filesystem ./data
  omen gate proxy --config gate.toml --server files --elicitation
  omen gate proxy --config gate.toml --server files --server mail
  omen gate proxy --config gate.toml --url https://example.com/mcp --bearer-env TOKEN
  omen gate proxy --config gate.toml --listen 127.0.0.1:8808 --token-file token
  omen gate proxy --config gate.toml --episode enforce --episode-log episodes.jsonl

",
    proxy_exit_codes!()
);

/// Options of `omen gate proxy` for episodes.
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
