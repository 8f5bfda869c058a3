//! Confirmation of calls through a socket.

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
use crate::quoting::shell_word;

/// Offers calls that wait for confirmation on a socket. If there is no socket, only the client can confirm them.
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

/// Returns the command line that answers the questions of this proxy, valid in any folder.
#[cfg(unix)]
fn command(config: &Path) -> String {
    let config = std::path::absolute(config).unwrap_or_else(|_| config.to_owned());
    format!("omen gate confirm --config {}", shell_word(&config.to_string_lossy()))
}

/// Formats the notice of a waiting call. It omits the arguments, which are for the person who confirms, not for standard error.
#[cfg(unix)]
fn waits(question: &Question, command: &str) -> String {
    let seconds = question.timeout.as_secs();
    format!("a call of `{}` is waiting for a confirmation, and is denied after {seconds} s: {command}", question.tool)
}
