//! Who confirms calls: those who answer at the socket.

use std::path::Path;

#[cfg(unix)]
use omen::render::human::clean;
#[cfg(unix)]
use omen_gate::confirm::Question;
use omen_proxy::ProxyBuilder;
#[cfg(unix)]
use omen_proxy::confirm::SocketConfirmer;

#[cfg(unix)]
use crate::exit::complain;
#[cfg(unix)]
use crate::gate::commands;

/// Offers the calls that wait for a confirmation at a socket. Without it, nobody but the client can confirm them.
pub(super) fn at_socket(proxy: ProxyBuilder, path: Option<&Path>, config: &Path) -> ProxyBuilder {
    #[cfg(unix)]
    if let Some(path) = path {
        match SocketConfirmer::bind(path) {
            Ok(socket) => {
                let command = command(config);
                return proxy.confirmer(socket.announce(move |question| complain(clean(&waits(question, &command)))));
            }
            Err(error) => complain(clean(&format!("`omen gate confirm` is unavailable: {error}; {}", error.help()))),
        }
    }
    let _ = (path, config);
    proxy
}

/// What answers the questions of this proxy, from any folder.
#[cfg(unix)]
fn command(config: &Path) -> String {
    let config = std::path::absolute(config).unwrap_or_else(|_| config.to_owned());
    format!("omen gate confirm --config {}", commands::quoted(&config.to_string_lossy()))
}

/// That a call waits. Its arguments are for who confirms it, and not for a log of standard error.
#[cfg(unix)]
fn waits(question: &Question, command: &str) -> String {
    let seconds = question.timeout.as_secs();
    format!("a call of `{}` waits for a confirmation, and is denied after {seconds} s: {command}", question.tool)
}
