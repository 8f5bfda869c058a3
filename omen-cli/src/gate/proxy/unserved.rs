//! A session that does not begin: why, for the operator and for the client.

use std::io::IsTerminal as _;
use std::path::Path;

use omen::render::human::clean;
use omen_proxy::Transport;
use omen_proxy::error::NotServed;

use crate::args::ProxyArgs;

/// Why, and what to do.
pub(super) fn why(error: &NotServed) -> String {
    match error.help() {
        help if help.is_empty() => error.to_string(),
        help => format!("{error}; {help}"),
    }
}

/// The configuration has errors, which are on standard error.
pub(super) fn invalid(config: &Path) -> String {
    let config = config.display();
    format!("C1: the configuration `{config}` cannot be used; `omen gate check --config {config}` lists its errors")
}

/// Tells a client on the standard streams. It would see a closed connection otherwise, and standard error is where few look.
pub(super) fn answer(args: &ProxyArgs, why: &str) {
    if args.http.listen.is_some() || std::io::stdin().is_terminal() {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    // Without one, the exit code and standard error are what is left.
    if let Ok(runtime) = runtime {
        let why = format!("the gate did not start: {}", clean(why));
        runtime.block_on(async { Transport::stdio().refuse(&why).await });
        runtime.shutdown_background();
    }
}
