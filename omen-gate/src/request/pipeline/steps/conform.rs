//! PG-2.

use crate::base::Blocked;
use crate::request::pipeline::Request;
use crate::request::state::{Conformant, Planned};

/// Asks the server for its tools as they are now, and holds the call against the tool's own schema.
///
/// # Errors
/// If server or tool are not there, or the arguments do not match exactly (PG-2); if the server cannot be asked
/// (R3); or if that cannot be recorded (A1).
pub(crate) async fn conform(request: Request<Planned>) -> Result<Request<Conformant>, Blocked> {
    let call = &request.state.call;
    let found = request.gate.discovery().discover(call.tool()).await;
    let listed = request.context.check(found).await?;
    let Request { gate, context, state: Planned { call } } = request;
    let context = context.formed(listed.pin().ok());
    context.check(listed.conform(call.args())).await?;
    Ok(Request { gate, context, state: Conformant { call, listed } })
}
