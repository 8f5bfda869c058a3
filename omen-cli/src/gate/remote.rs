//! Servers reached over HTTP, as given on the command line.

use omen::render::human::clean;
use omen_gate::config::{BadEndpoint, Endpoint, HeaderSource};
use omen_mcp::http::client::BadRemote;

use crate::args::RemoteArgs;
use crate::exit::Failure;

/// Returns the server address given on the command line, if any.
pub(super) fn endpoint(args: &RemoteArgs) -> Result<Option<Endpoint>, Failure> {
    let Some(url) = &args.url else { return Ok(None) };
    let usage = |bad: BadEndpoint| Failure::Usage(clean(&format!("{bad}; {}", bad.help())).into_owned());
    let mut endpoint = Endpoint::new(url, args.allow_plain_http).map_err(usage)?;
    if let Some(variable) = &args.bearer_env {
        endpoint = endpoint.header("Authorization", env(variable, "Bearer ")).map_err(usage)?;
    }
    for header in &args.header_env {
        let Some((name, variable)) = header.split_once('=') else {
            let shown = clean(header);
            let why =
                format!("invalid value `{shown}` for --header-env; expected HEADER=VARIABLE, e.g. `X-Api-Key=API_KEY`");
            return Err(Failure::Usage(why));
        };
        endpoint = endpoint.header(name, env(variable, "")).map_err(usage)?;
    }
    endpoint.ca_file.clone_from(&args.tls_ca);
    Ok(Some(endpoint))
}

/// Formats why a server cannot be reached, with the settings that help.
pub(super) fn why(error: &BadRemote) -> String {
    let settings = if matches!(error, BadRemote::NoCertificates(_)) { " (`ca_file`, or --tls-ca)" } else { "" };
    clean(&format!("{error}{settings}")).into_owned()
}

fn env(variable: &str, prefix: &str) -> HeaderSource {
    HeaderSource::Env { variable: variable.to_owned(), prefix: prefix.to_owned() }
}
