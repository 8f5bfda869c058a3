//! `omen gate catalog`: asks the configured servers what tools they have.

use std::collections::BTreeMap;
use std::io::{self, Write as _};

use omen::render::human::clean;
use omen_gate::catalog::Catalog;
use omen_gate::tool::Tool;
use omen_gate::{Config, Fault, ServerName, mcp};

use super::pins;
use crate::args::CatalogArgs;
use crate::output::Output;
use crate::{Failure, Outcome, complain};

/// What servers list, by their names.
type Lists = BTreeMap<ServerName, Vec<Tool>>;

pub(crate) fn catalog(args: &CatalogArgs, out: &mut Output) -> Result<Outcome, Failure> {
    let Some(config) = super::config(&args.config) else { return Ok(Outcome::Unread) };
    let Some(lists) = ask(&config)? else { return Ok(Outcome::Unread) };
    let text = serde_json::to_string_pretty(&lists).map_err(io::Error::from)? + "\n";
    if let Some(path) = &args.out
        && let Err(error) = std::fs::write(path, &text)
    {
        complain(format_args!("cannot write {}: {error}", path.display()));
        return Ok(Outcome::Unread);
    }
    if args.pins {
        let mut catalog = Catalog::default();
        for (server, tools) in lists {
            if let Err(error) = catalog.list(server, tools) {
                complain(clean(&error.to_string()));
                return Ok(Outcome::Unread);
            }
        }
        out.write_all(pins::entries(&catalog, &config).as_bytes())?;
    } else if args.out.is_none() {
        out.write_all(text.as_bytes())?;
    }
    out.flush()?;
    Ok(Outcome::Clean)
}

/// What all servers list, unless one of them fails. Those that do are complained of here.
fn ask(config: &Config) -> Result<Option<Lists>, Failure> {
    for (name, _) in config.servers.iter().filter(|(_, server)| server.command.is_none()) {
        complain(format_args!("note: the server `{}` has no `command`, and is not asked", clean(name.as_str())));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::Internal(format!("no server can be started: {error}")))?;
    let (mut lists, mut is_whole) = (Lists::new(), true);
    for (name, listed) in runtime.block_on(mcp::discover(config)) {
        match listed {
            Ok(tools) => drop(lists.insert(name, tools)),
            Err(fault) => {
                let why = fault.to_string();
                let command = config.servers.get(&name).and_then(|server| server.command.as_ref());
                // What it has answered says itself what is wrong; what could not be asked has to be started first.
                let help = match (&fault, command) {
                    (Fault::Unreachable { .. } | Fault::Died { .. }, Some(command)) => {
                        format!("; see that its `command`, `{}`, is right and runs by itself", clean(&command.program))
                    }
                    _ => String::new(),
                };
                let name = clean(name.as_str());
                complain(format_args!("the server `{name}` does not list its tools: {}{help}", clean(&why)));
                is_whole = false;
            }
        }
    }
    Ok(is_whole.then_some(lists))
}
