//! PG-3, G1 to G3.

use crate::audit::Kind;
use crate::pipeline::{Authorized, Conformant, Request};
use crate::turn_state::TurnState;
use crate::{Blocked, Decision};

/// Asks the allowlist, the grants and, if the call needs it, somebody who confirms it.
///
/// # Errors
/// If the tool is not allowed, or is not as it was approved (PG-3); if a permission is not granted (G1), or not any
/// more (G2); if nobody confirms the call in time (G3); or if a decision cannot be recorded (A1).
pub(crate) async fn authorize(request: Request<Conformant>) -> Result<Request<Authorized>, Blocked> {
    let Conformant { call, listed } = &request.state;
    let call = request.gate.allowed().permit_call(listed, request.turn(), call.args());
    let call = request.turn.check(call).await?;
    let ruling = request.gate.grants().check(&call);
    let lease = ruling.recorded_by(|decision| record(&request.turn, Kind::Decision, decision)).await?;
    let confirmed = match lease.needs_confirmation() {
        true => {
            let ruling = request.gate.confirmations().ask(&call).await;
            Some(ruling.recorded_by(|decision| record(&request.turn, Kind::Confirmation, decision)).await?)
        }
        false => None,
    };
    Ok(request.at(|conformant| Authorized { lease, confirmed, listed: conformant.listed }))
}

async fn record(turn: &TurnState, kind: Kind, decision: Decision) -> Result<(), Blocked> {
    turn.record_value(kind, &decision).await
}
