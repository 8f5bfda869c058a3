//! Reports to the operator and the client why a session does not start.

use std::io::IsTerminal as _;
use std::path::Path;

use omen::render::human::clean;
use omen_proxy::Transport;
use omen_proxy::error::NotServed;

use crate::args::ProxyArgs;

/// Formats the reason, with the remedy if there is one.
pub(super) fn why(error: &NotServed) -> String {
    match error.help() {
        help if help.is_empty() => error.to_string(),
        help => format!("{error}; {help}"),
    }
}

/// Formats the reason for an invalid configuration, whose errors are on standard error.
pub(super) fn invalid(config: &Path) -> String {
    let config = config.display();
    format!("C1: the configuration `{config}` cannot be used; `omen gate check --config {config}` lists its errors")
}

/// Sends the reason to a client on the standard streams; few people look at standard error to explain a closed connection.
pub(super) fn answer(args: &ProxyArgs, why: &str) {
    if args.http.listen.is_some() || std::io::stdin().is_terminal() {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    // If there is no runtime, the exit code and standard error must suffice.
    if let Ok(runtime) = runtime {
        let why = format!("the gate did not start: {}", clean(why));
        runtime.block_on(async { Transport::stdio().refuse(&why).await });
        runtime.shutdown_background();
    }
}
