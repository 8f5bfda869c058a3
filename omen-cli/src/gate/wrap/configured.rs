//! Server of a client that a gate's configuration may already contain.

use std::io::ErrorKind;
use std::path::Path;

use omen_gate::config::Server;
use omen_gate::{Config, ServerName};

use crate::quoting::shell_word;

/// What a configuration contains about a server.
pub(super) enum ConfiguredServer {
    /// The configuration does not exist.
    Nothing,
    /// The configuration contains the server under this name.
    Server {
        name: ServerName,
        /// How the configuration reaches the server, if it says so; the client's own command is then dropped.
        reach: Option<Reach>,
    },
}

/// How a configured server is reached.
pub(super) enum Reach {
    Command,
    Address,
}

/// Finds the server with the client's name for it, or else the only one that is started by the same command.
pub(super) fn find(config: &Path, name: ServerName, command: &[String]) -> Result<ConfiguredServer, String> {
    match config.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(ConfiguredServer::Nothing),
        _ => {}
    }
    let shown = config.display();
    let check = format!("omen gate check --config {}", shell_word(&config.to_string_lossy()));
    let loaded = Config::load(config)
        .map_err(|_| format!("its configuration `{shown}` has errors, which `{check}` lists; fix them first"))?;
    let found = loaded.servers.get_key_value(&name).or_else(|| {
        let mut same = loaded.servers.iter().filter(|(_, server)| is_started_by(server, command));
        same.next().filter(|_| same.next().is_none())
    });
    let Some((name, server)) = found else {
        let names: Vec<_> = loaded.servers.keys().map(|name| format!("`{name}`")).collect();
        let has = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        return Err(format!(
            "its configuration `{shown}` has no server `{name}` (it has {has}); use the same name here and there, or \
             add the server with `omen gate init --add`"
        ));
    };
    let reach = match (&server.command, &server.endpoint) {
        (Some(_), _) => Some(Reach::Command),
        (None, Some(_)) => Some(Reach::Address),
        (None, None) => None,
    };
    Ok(ConfiguredServer::Server { name: name.clone(), reach })
}

fn is_started_by(server: &Server, command: &[String]) -> bool {
    server.command.as_ref().is_some_and(|own| {
        command.split_first().is_some_and(|(program, args)| *program == own.program && args == own.args)
    })
}
