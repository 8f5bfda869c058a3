//! PG-2.

use std::sync::Arc;

use crate::base::Blocked;
use crate::catalog::Listed;
use crate::request::gate::Gate;
use crate::request::pipeline::Request;
use crate::request::plan::ToolCall;
use crate::request::state::{Conformant, Planned};

/// Holds the call against the tool's own schema, as its server has listed it last; the server is asked again before the call
/// is made. It is asked here, too, if it has not listed its tools yet, has announced a change, or has listed something by which
/// the call would be refused.
///
/// # Errors
/// If server or tool are not there, or the arguments do not match exactly (PG-2); if the server cannot be asked
/// (R3); or if that cannot be recorded (A1).
pub(crate) async fn conform(request: Request<Planned>) -> Result<Request<Conformant>, Blocked> {
    let found = found(&request.gate, &request.state.call).await;
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

/// The tool, and whether the arguments fit it.
async fn found(gate: &Gate, call: &ToolCall) -> Result<(Arc<Listed>, Result<(), Blocked>), Blocked> {
    // A server may have put right without a word what was wrong with its last list: nothing is refused because of that one.
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
