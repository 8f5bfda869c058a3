//! The servers that a proxy is in front of.

use omen::render::human::clean;
use omen_gate::{Config, ServerName};
use omen_proxy::{Passage, Proxy};

use crate::args::ProxyArgs;
use crate::exit::Failure;

/// The servers that are named, or the only one.
pub(super) fn chosen(args: &ProxyArgs, config: &Config) -> Result<Vec<ServerName>, Failure> {
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
        ([], [only]) | ([only], _) => Ok(vec![only.clone()]),
        _ if args.all_servers => several(args, all),
        ([], _) => Err(Failure::Usage(format!("expected --server NAME, or --all-servers; {}", listed(&all)))),
        (named, _) => several(args, named.to_vec()),
    }
}

fn several(args: &ProxyArgs, names: Vec<ServerName>) -> Result<Vec<ServerName>, Failure> {
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
    if args.pass.contains(&Passage::Tasks) {
        return usage(
            "`--pass tasks` is for one server: nothing in a request for a task says which server runs it; leave it out",
        );
    }
    if let Err(bad) = Proxy::check(&names) {
        return usage(&clean(&bad.to_string()));
    }
    Ok(names)
}

fn listed(names: &[ServerName]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("`{}`", clean(name.as_str()))).collect();
    format!("its servers are {}", names.join(", "))
}
