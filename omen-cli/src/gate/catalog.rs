//! `omen gate catalog`: lists the tools of the configured servers.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::Path;

use omen::render::human::clean;
use omen_gate::catalog::Catalog;
use omen_gate::tool::Tool;
use omen_gate::{Config, Fault, ServerName, mcp, regular};

use super::{config, pins};
use crate::args::CatalogArgs;
use crate::exit::{Exit, Failure, complain};
use crate::output::Output;

/// The tools of servers, by the names of the servers.
pub(super) type Lists = BTreeMap<ServerName, Vec<Tool>>;

pub(crate) fn catalog(args: &CatalogArgs, out: &mut Output) -> Result<Exit, Failure> {
    let Some(config) = config::load(&args.config) else { return Ok(Exit::Unreadable) };
    let Some(lists) = discover(&config)? else { return Ok(Exit::Unreadable) };
    let text = serde_json::to_string_pretty(&lists).map_err(io::Error::from)? + "\n";
    if let Some(path) = &args.out
        && let Err(error) = std::fs::write(path, &text)
    {
        complain(format_args!("cannot write {}: {error}", path.display()));
        return Ok(Exit::Unreadable);
    }
    if args.pins {
        let mut catalog = Catalog::default();
        for (server, tools) in lists {
            if let Err(error) = catalog.list(server, tools) {
                complain(clean(&error.to_string()));
                return Ok(Exit::Unreadable);
            }
        }
        out.write_all(pins::entries(&catalog, &config).as_bytes())?;
    } else if args.out.is_none() {
        out.write_all(text.as_bytes())?;
    }
    out.flush()?;
    Ok(Exit::Clean)
}

/// The tools of all servers, or nothing if one of the servers fails. Failures are reported here.
pub(super) fn discover(config: &Config) -> Result<Option<Lists>, Failure> {
    for (name, _) in config.servers.iter().filter(|(_, server)| server.command.is_none()) {
        complain(format_args!("note: the server `{}` has no `command`; skipped", clean(name.as_str())));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::Internal(format!("cannot start servers: {error}")))?;
    let (mut lists, mut is_whole) = (Lists::new(), true);
    for (name, listed) in runtime.block_on(mcp::discover(config)) {
        match listed {
            Ok(tools) => drop(lists.insert(name, tools)),
            Err(fault) => {
                let why = fault.to_string();
                let command = config.servers.get(&name).and_then(|server| server.command.as_ref());
                // The error of a server that runs says what is wrong; one that does not run has to be started first.
                let help = match (&fault, command) {
                    (Fault::Unreachable { .. } | Fault::Died { .. }, Some(command)) => {
                        format!(
                            "; check that its `command`, `{}`, is correct and runs by itself",
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
    Ok(is_whole.then_some(lists))
}

/// Reads a catalogue file. Its errors are reported here.
pub(super) fn read(path: &Path) -> Option<Catalog> {
    let catalog = match regular::read(path, MAX_CATALOG).map(String::from_utf8) {
        Ok(Ok(text)) => Catalog::parse(&text).map_err(|error| error.to_string()),
        Ok(Err(error)) => Err(format!("cannot read it: {error}")),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => Err(error.to_string()),
        Err(error) => Err(format!("cannot read it: {error}")),
    };
    catalog.map_err(|why| unusable(path, &why)).ok()
}

pub(super) fn unusable(path: &Path, why: &str) {
    complain(format_args!("cannot use the catalogue {}: {}", path.display(), clean(why)));
}

/// The largest catalogue file that is read, in bytes.
const MAX_CATALOG: u64 = 256 << 20;
