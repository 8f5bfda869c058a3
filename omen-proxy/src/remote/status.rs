//! Meaning of a status other than that of an answer.

use hyper::StatusCode;
use omen_gate::Fault;

/// Returns the fault of a request that was answered with such a status. The answer shows that the request has reached
/// the server, but only the server's word would show that no tool ran, so it is unknown whether one did.
pub(super) fn fault(status: StatusCode) -> Fault {
    let shown = match status.canonical_reason() {
        Some(reason) => format!("HTTP {} {reason}", status.as_u16()),
        None => format!("HTTP {}", status.as_u16()),
    };
    let help = match status.as_u16() {
        300..=399 => "; redirects are not followed: write the address that it leads to in the configuration",
        401 | 403 => "; check the `headers` of the server in the configuration",
        404 | 405 => "; check the `url` of the server in the configuration",
        429 => "; call less often",
        _ => "",
    };
    let text = format!("{shown}{help}");
    if status.is_server_error() { Fault::died(&text) } else { Fault::refused(i64::from(status.as_u16()), &text) }
}
