//! PG-0: screening of the query.

use crate::base::Blocked;
use crate::request::pipeline::Request;
use crate::request::state::{Received, Screened};

/// Screens the query against the operator's patterns before any server is asked for its tools.
///
/// # Errors
/// PG-0 if a pattern matches or the query is too long; A1 if the refusal cannot be recorded.
pub(crate) async fn screen(request: Request<Received>) -> Result<Request<Screened>, Blocked> {
    let (policy, query) = (request.gate.policy(), &request.state.query);
    request.context.check(policy.within(query.len())).await?;
    request.context.check_or_try(request.gate.is_shadow(), policy.allows([query.as_str()])).await?;
    Ok(request.at(|_| Screened { _seal: () }))
}
