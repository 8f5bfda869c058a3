//! PG-0.

use crate::base::Blocked;
use crate::request::pipeline::Request;
use crate::request::state::{Received, Screened};

/// Holds the query against the operator's patterns, before any server is asked for its tools.
///
/// # Errors
/// If a pattern matches, or the query is too long (PG-0); or if that cannot be recorded (A1).
pub(crate) async fn screen(request: Request<Received>) -> Result<Request<Screened>, Blocked> {
    let verdict = request.gate.policy().screen(&request.state.query);
    request.context.check(verdict).await?;
    Ok(request.at(|_| Screened { _seal: () }))
}
