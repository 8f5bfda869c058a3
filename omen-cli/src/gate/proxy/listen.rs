//! `omen gate proxy --listen`: the proxy over HTTP.

use std::time::Duration;

use omen::render::human::clean;
use omen_mcp::http::server::{Access, BadAccess, HttpLimits, PATH, Token};
use omen_proxy::Transport;
use omen_proxy::error::NotServed;
use tokio::net::TcpListener;

use crate::args::HttpArgs;
use crate::exit::{Failure, complain};

/// Returns who may access the proxy over HTTP; `None` if it serves the standard streams.
pub(super) fn access(args: &HttpArgs) -> Result<Option<Access>, Failure> {
    let usage = |error: &dyn std::fmt::Display| Failure::Usage(clean(&error.to_string()).into_owned());
    let Some(address) = args.listen else { return Ok(None) };
    let mut access = Access::new(address.ip());
    for host in &args.allow_host {
        access = access.allow_host(host).map_err(|error| usage(&error))?;
    }
    for origin in &args.allow_origin {
        access = access.allow_origin(origin).map_err(|error| usage(&error))?;
    }
    if let Some(file) = &args.token_file {
        access = access.token(Token::from_file(file).map_err(|error| usage(&error))?);
    }
    access.check(address.ip()).map_err(|error| {
        let option = match error {
            BadAccess::NoToken(_) => " (--token-file)",
            BadAccess::NoHost(_) => " (--allow-host)",
            _ => "",
        };
        usage(&format_args!("{error}{option}"))
    })?;
    Ok(Some(access))
}

/// Starts listening on the address given by `--listen`.
pub(super) async fn transport(access: Access, args: &HttpArgs) -> Result<Transport, NotServed> {
    let address = args.listen.ok_or_else(|| NotServed::Address(std::io::ErrorKind::AddrNotAvailable.into()))?;
    let listener = TcpListener::bind(address).await.map_err(NotServed::Address)?;
    let address = listener.local_addr().map_err(NotServed::Address)?;
    complain(format_args!("serving http://{address}{PATH}"));
    let mut limits = HttpLimits::default();
    limits.sessions = usize::from(args.max_sessions);
    limits.idle = Duration::from_secs(u64::from(args.idle_seconds));
    Ok(Transport::http(listener, access, limits))
}
