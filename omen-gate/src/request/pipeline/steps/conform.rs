//! PG-2: check of the call against the tool's schema.

use std::sync::Arc;

use crate::base::Blocked;
use crate::call::ToolCall;
use crate::catalog::Listed;
use crate::request::gate::Gate;
use crate::request::pipeline::Request;
use crate::request::state::{Conformant, Planned};

/// Checks the call against the tool's own schema, as last listed by its server. The server lists its tools again before
/// the call is made, or already here if it has not listed them yet, has announced a change, or has listed something
/// that would refuse the call.
///
/// # Errors
/// PG-2 if the server or tool does not exist, or the arguments do not match exactly; R3 if the server cannot list its
/// tools; A1 if the refusal cannot be recorded.
pub(crate) async fn conform(request: Request<Planned>) -> Result<Request<Conformant>, Blocked> {
    let found = found(&request.gate, &request.state.call).await;
    if !matches!(found, Ok((_, Ok(())))) {
        let call = &request.state.call;
        request.gate.order().refused(request.context.origin(), call.tool(), call.args()).await;
    }
    let (listed, fits) = request.context.check(found).await?;
    let Request { gate, context, state: Planned { call } } = request;
    let context = match gate.asks_for_names() {
        true => context.planning(call.tool(), gate.recorded(call.tool(), call.args(), Some(&listed))),
        false => context,
    };
    let context = context.formed(listed.pin().ok());
    context.check(fits).await?;
    Ok(Request { gate, context, state: Conformant { call, listed } })
}

/// Finds the tool and checks the arguments against its schema.
async fn found(gate: &Gate, call: &ToolCall) -> Result<(Arc<Listed>, Result<(), Blocked>), Blocked> {
    // The server may have fixed its list without announcing it, so a refusal must not rest on an old list.
    if let Some(known) = gate.discovery().known(call.tool())?
        && known.conform(call.args()).is_ok()
        && gate.allowed().permit(&known).is_ok()
    {
        return Ok((known, Ok(())));
    }
    let listed = gate.discovery().discover(call.tool()).await?;
    let fits = listed.conform(call.args());
    Ok((listed, fits))
}
