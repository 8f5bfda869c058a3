//! Arguments for a server reached over HTTP.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct RemoteArgs {
    /// Reach the server over HTTP at this address, e.g. `https://example.com/mcp`, instead of starting it
    #[arg(long, value_name = "URL", conflicts_with_all = ["command", "pass_env"])]
    pub(crate) url: Option<String>,

    /// With --url: send `Authorization: Bearer` with the token in this environment variable
    #[arg(long, value_name = "VARIABLE", requires = "url")]
    pub(crate) bearer_env: Option<String>,

    /// With --url: send a header with the value of an environment variable, e.g. `X-Api-Key=API_KEY`
    #[arg(long, value_name = "HEADER=VARIABLE", requires = "url")]
    pub(crate) header_env: Vec<String>,

    /// With --url: trust the certificates in this PEM file instead of the system's
    #[arg(long, value_name = "FILE", requires = "url")]
    pub(crate) tls_ca: Option<PathBuf>,

    /// With --url: allow `http` to another machine, although anyone in between can read and change the traffic
    #[arg(long, requires = "url")]
    pub(crate) allow_plain_http: bool,
}
