//! How servers are reached: as child processes or at an address.

use std::ffi::OsString;
use std::path::Path;

use omen::render::human::clean;
use omen_gate::config::{Endpoint, HeaderSource, KeySource};
use omen_gate::mcp::{self, Launch, ServerLimits};
use omen_gate::{Config, ServerName, bounded};
use omen_mcp::http::client::BadRemote;
use omen_proxy::Source;

use crate::args::ProxyArgs;
use crate::exit::{Failure, complain};
use crate::gate::remote;

/// Returns the sources through which a session reaches its servers.
pub(super) fn sources(
    args: &ProxyArgs,
    config: &Config,
    servers: &[ServerName],
) -> Result<Result<Vec<(ServerName, Source)>, BadRemote>, Failure> {
    let mut sources = Vec::new();
    for server in servers {
        match source(args, config, server)? {
            Ok(source) => sources.push((server.clone(), source)),
            Err(bad) => return Ok(Err(bad)),
        }
    }
    Ok(Ok(sources))
}

/// Returns the source through which a session reaches one server.
fn source(args: &ProxyArgs, config: &Config, server: &ServerName) -> Result<Result<Source, BadRemote>, Failure> {
    match endpoint(args, config, server)? {
        None => Ok(Ok(Source::process(launch(args, config, server)?.show_stderr()))),
        Some(endpoint) => {
            let source = Source::configured(&endpoint, &config.limits);
            if source.is_ok() && !endpoint.is_encrypted() {
                complain(format_args!("note: requests to {} are not encrypted", clean(&endpoint.shown())));
            }
            Ok(source)
        }
    }
}

/// Returns the server's address, if it has one: from the configuration, or else from the command line. The two must not differ:
/// the allowlist applies to the configured server, and another address is another server.
fn endpoint(args: &ProxyArgs, config: &Config, server: &ServerName) -> Result<Option<Endpoint>, Failure> {
    let given = remote::endpoint(&args.remote)?;
    let configured = config.servers.get(server);
    let (name, own) = (clean(server.as_str()), configured.and_then(|server| server.endpoint.as_ref()));
    let endpoint = match (given, own) {
        (Some(_), None) if configured.is_some_and(|server| server.command.is_some()) => {
            return Err(Failure::Usage(format!(
                "the configuration starts the server `{name}` with a `command`; omit --url, or write a `url` in place \
                 of the `command`: a different address is a different server"
            )));
        }
        (Some(given), Some(own)) if given.url() != own.url() => {
            return Err(Failure::Usage(format!(
                "the configuration reaches the server `{name}` at {}; omit --url, or change it there: a different \
                 address is a different server",
                clean(&own.shown())
            )));
        }
        (None, Some(_)) if !args.command.is_empty() || !args.pass_env.is_empty() => {
            return Err(Failure::Usage(format!(
                "the configuration reaches the server `{name}` at an address (`url`); omit the command and --pass-env"
            )));
        }
        (Some(given), Some(own)) if given.headers().is_empty() && given.ca_file.is_none() => own.clone(),
        (Some(given), _) => given,
        (None, Some(own)) => own.clone(),
        (None, None) => return Ok(None),
    };
    for (header, value) in endpoint.headers() {
        if let HeaderSource::Env { variable, .. } = value
            && is_key(config, variable)
        {
            return Err(Failure::Usage(format!(
                "the header `{}` sends `{}`, which holds the key of the audit log; the key is never sent to a server",
                clean(header),
                clean(variable)
            )));
        }
    }
    Ok(Some(endpoint))
}

/// Returns how to start the server: as configured, or with the program given on the command line.
fn launch(args: &ProxyArgs, config: &Config, server: &ServerName) -> Result<Launch, Failure> {
    let configured = config.servers.get(server).and_then(|server| server.command.clone());
    let mut launch = match (args.command.split_first(), configured) {
        (None, Some(command)) => mcp::launch(&command, &config.limits),
        (None, None) => {
            return Err(Failure::Usage(format!(
                "the server `{}` has neither a `command` nor a `url`; add one to the configuration, or, for one server, the command \
                 after `--`",
                clean(server.as_str())
            )));
        }
        (Some((program, args)), configured) => {
            keeps_key(config, std::iter::once(program).chain(args))?;
            let mut launch = Launch::new(program).args(args).limits(ServerLimits::from(&config.limits));
            if let Some(configured) = configured {
                launch = configured.env.iter().fold(launch, |launch, (name, value)| launch.env(name, value));
                launch = configured.pass_env.iter().fold(launch, Launch::pass);
            }
            launch
        }
    };
    for name in &args.pass_env {
        // A3: no server receives the key.
        if is_key(config, name) {
            return Err(Failure::Usage(format!(
                "`{}` holds the key of the audit log; no server inherits it",
                clean(name)
            )));
        }
        launch = launch.pass(name);
    }
    Ok(launch)
}

/// Checks that no word of the command passes the key to the server (A3). The server runs in the proxy's working folder; paths in
/// the configuration are relative to the configuration's folder.
fn keeps_key<'c>(config: &Config, command: impl Iterator<Item = &'c OsString>) -> Result<(), Failure> {
    let Some(audit) = &config.audit else { return Ok(()) };
    for text in command {
        let text = text.to_string_lossy();
        if audit.key.is_in(&text, Path::new("")) {
            return Err(Failure::Usage(format!(
                "`{}` passes the key of the audit log to the server, which could rewrite the log; remove the key from the command",
                clean(&bounded(&text))
            )));
        }
    }
    Ok(())
}

/// Returns whether an environment variable holds the key of the audit log.
fn is_key(config: &Config, variable: &str) -> bool {
    config.audit.as_ref().is_some_and(|audit| audit.key == KeySource::Env(variable.to_owned()))
}
