//! The servers that a proxy is in front of.

use omen::render::human::clean;
use omen_gate::{Config, ServerName};
use omen_proxy::Passage;
use omen_proxy::several::Several;

use crate::args::ProxyArgs;
use crate::exit::Failure;

/// The servers that a proxy is in front of.
pub(super) enum Chosen {
    /// To the client the proxy is this server.
    One(ServerName),
    /// To the client they are one server, with names that tell them apart. There is at least one.
    Several(ServerName, Vec<ServerName>),
}

impl Chosen {
    pub(super) fn first(&self) -> &ServerName {
        match self {
            Self::One(server) | Self::Several(server, _) => server,
        }
    }
}

/// The servers that are named, or the only one.
pub(super) fn chosen(args: &ProxyArgs, config: &Config) -> Result<Chosen, Failure> {
    let all: Vec<_> = config.servers.keys().cloned().collect();
    if let Some(unknown) = args.server.iter().find(|name| !config.servers.contains_key(*name)) {
        return Err(Failure::Usage(format!(
            "the configuration has no server `{}`; {}",
            clean(unknown.as_str()),
            listed(&all)
        )));
    }
    match (args.server.as_slice(), all.as_slice()) {
        (_, []) => Err(Failure::Usage("the configuration has no server; add a table `[servers.NAME]`".to_owned())),
        (_, [first, ..]) if args.all_servers => several(args, first, &all),
        ([], [only]) | ([only], _) => Ok(Chosen::One(only.clone())),
        ([], _) => Err(Failure::Usage(format!("expected --server NAME, or --all-servers; {}", listed(&all)))),
        ([first, ..], _) => several(args, first, &args.server),
    }
}

fn several(args: &ProxyArgs, first: &ServerName, names: &[ServerName]) -> Result<Chosen, Failure> {
    let usage = |why: &str| Err(Failure::Usage(why.to_owned()));
    if let Some(twice) = names.iter().enumerate().find(|(at, name)| names.iter().take(*at).any(|other| other == *name))
    {
        return usage(&format!("the server `{}` is named twice; leave out one --server", clean(twice.1.as_str())));
    }
    if args.remote.url.is_some() || !args.command.is_empty() || !args.pass_env.is_empty() {
        return usage(
            "--url, --pass-env and a command after `--` are for one server; write `url`, `pass_env` and `command` in the table of \
             each server",
        );
    }
    if args.episode.mode.is_some() {
        return usage("--episode writes a session with one server; name one --server, or leave out --episode");
    }
    if args.pass.contains(&Passage::Tasks) {
        return usage(
            "`--pass tasks` is for one server: nothing in a request for a task says which server runs it; leave it out",
        );
    }
    if let Err(bad) = Several::check(names) {
        return usage(&clean(&bad.to_string()));
    }
    Ok(Chosen::Several(first.clone(), names.to_vec()))
}

fn listed(names: &[ServerName]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("`{}`", clean(name.as_str()))).collect();
    format!("its servers are {}", names.join(", "))
}
