//! `omen gate catalog`: lists the tools of the configured servers.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::Path;
use std::time::Duration;

use omen::render::human::clean;
use omen_gate::catalog::Catalog;
use omen_gate::config::Endpoint;
use omen_gate::tool::Tool;
use omen_gate::{Config, Fault, ServerName, mcp, regular_file};
use omen_proxy::Source;

use super::{config, pins};
use crate::args::CatalogArgs;
use crate::exit::{Exit, Failure, complain, unreadable};
use crate::output::Output;

/// Tools by server name.
pub(super) type Lists = BTreeMap<ServerName, Vec<Tool>>;

pub(crate) fn catalog(args: &CatalogArgs, out: &mut Output) -> Result<Exit, Failure> {
    let config = config::load(&args.config)?;
    let lists = discover(&config)?;
    let text = serde_json::to_string_pretty(&lists).map_err(io::Error::from)? + "\n";
    if let Some(path) = &args.out {
        std::fs::write(path, &text)
            .map_err(|error| unreadable(format_args!("cannot write {}: {error}", path.display())))?;
    }
    if args.pins {
        out.write_all(pins::entries(&of_lists(lists)?, &config).as_bytes())?;
    } else if args.out.is_none() {
        out.write_all(text.as_bytes())?;
    }
    out.flush()?;
    Ok(Exit::Clean)
}

/// Lists the tools of all servers; fails if any server fails. Reports failures on standard error.
pub(super) fn discover(config: &Config) -> Result<Lists, Failure> {
    let is_ours = |server: &omen_gate::config::Server| server.command.is_some() || server.endpoint.is_some();
    for (name, _) in config.servers.iter().filter(|(_, server)| !is_ours(server)) {
        complain(format_args!("note: the server `{}` has no `command`; skipped", clean(name.as_str())));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::Internal(format!("cannot start servers: {error}")))?;
    let (mut lists, mut is_whole) = (Lists::new(), true);
    let mut found = runtime.block_on(mcp::discover(config));
    let limit = Duration::from_secs(u64::from(config.limits.list_timeout_seconds));
    for (name, listed) in &mut found {
        // A server may reject this handshake because its protocol version (2026-07-28) has none.
        if let (Err(Fault::Refused { .. } | Fault::Malformed { .. }), Some(command)) =
            (&listed, config.servers.get(name).and_then(|server| server.command.as_ref()))
        {
            let source = Source::process(mcp::launch(command, &config.limits));
            if let Ok(tools) = runtime.block_on(source.list(limit)) {
                *listed = Ok(tools);
            }
        }
    }
    for (name, endpoint) in config.servers.iter().filter_map(|(name, server)| Some((name, server.endpoint.as_ref()?))) {
        match Source::configured(endpoint, &config.limits) {
            Ok(source) => drop(found.insert(name.clone(), runtime.block_on(source.list(limit)))),
            Err(error) => {
                let name = clean(name.as_str());
                complain(format_args!("cannot reach the server `{name}`: {}", super::remote::why(&error)));
                is_whole = false;
            }
        }
    }
    for (name, listed) in found {
        match listed {
            Ok(tools) => drop(lists.insert(name, tools)),
            Err(fault) => {
                let why = fault.to_string();
                let server = config.servers.get(&name);
                let command = server.and_then(|server| server.command.as_ref());
                let address = server.and_then(|server| server.endpoint.as_ref()).map(Endpoint::shown);
                // An error from a running server speaks for itself; one that does not run needs its command or URL checked.
                let help = match (&fault, command) {
                    (Fault::Unreachable { .. } | Fault::Died { .. }, None) if address.is_some() => {
                        let address = address.unwrap_or_default();
                        format!("; check that its `url`, `{}`, is correct and that the server runs", clean(&address))
                    }
                    (Fault::Unreachable { .. } | Fault::Died { .. }, Some(command)) => {
                        format!(
                            "; check that its `command`, `{}`, is correct and runs on its own",
                            clean(&command.program)
                        )
                    }
                    _ => String::new(),
                };
                let name = clean(name.as_str());
                complain(format_args!("cannot list the tools of the server `{name}`: {}{help}", clean(&why)));
                is_whole = false;
            }
        }
    }
    if is_whole { Ok(lists) } else { Err(Failure::Unreadable) }
}

/// Builds a catalogue from lists of tools.
pub(super) fn of_lists(lists: Lists) -> Result<Catalog, Failure> {
    let mut catalog = Catalog::default();
    for (server, tools) in lists {
        catalog.list(server, tools).map_err(|error| unreadable(clean(&error.to_string())))?;
    }
    Ok(catalog)
}

/// Reads a catalogue file, and reports errors on standard error.
pub(crate) fn read(path: &Path) -> Result<Catalog, Failure> {
    let catalog = read_text(path).and_then(|text| Catalog::parse(&text).map_err(|error| error.to_string()));
    catalog.map_err(|why| unusable(path, &why))
}

/// Reads the text of a catalogue file.
pub(crate) fn read_text(path: &Path) -> Result<String, String> {
    match regular_file::read(path, MAX_CATALOG).map(String::from_utf8) {
        Ok(Ok(text)) => Ok(text),
        Ok(Err(error)) => Err(format!("cannot read it: {error}")),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => Err(error.to_string()),
        Err(error) => Err(format!("cannot read it: {error}")),
    }
}

pub(super) fn unusable(path: &Path, why: &str) -> Failure {
    unreadable(format_args!("cannot use the catalogue {}: {}", path.display(), clean(why)))
}

/// Maximum size of a catalogue file in bytes.
const MAX_CATALOG: u64 = 256 << 20;
