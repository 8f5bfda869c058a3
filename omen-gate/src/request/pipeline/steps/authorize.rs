//! PG-3, G1 to G3.

use crate::audit::Kind;
use crate::base::Blocked;
use crate::call::{Attempt, Call};
use crate::grant::Decision;
use crate::request::context::RequestContext;
use crate::request::gate::Gate;
use crate::request::pipeline::Request;
use crate::request::state::{Authorized, Conformant};

/// Asks the allowlist, the grants and, if the call needs it, somebody who confirms it.
///
/// # Errors
/// If the tool is not allowed, or is not as it was approved (PG-3); if a permission is not granted (G1), or not any
/// more (G2); if nobody confirms the call in time (G3), who is not asked while the breaker is open (R1) or the turn has had
/// its failures (R2); or if a decision cannot be recorded (A1).
pub(crate) async fn authorize(request: Request<Conformant>) -> Result<Request<Authorized>, Blocked> {
    let Conformant { call, listed } = &request.state;
    let call = request.gate.allowed().permit_call(listed, request.turn(), call.args());
    let call = request.context.check(call).await?;
    let ruling = request.gate.grants().check(&call);
    let lease = ruling.recorded_by(|decision| record(&request.context, Kind::Decision, decision)).await?;
    let confirmed = match lease.needs_confirmation() {
        true => {
            request.context.check(worth_asking(&request.gate, &request.context, &call)).await?;
            let ruling = request.gate.ask(&call).await;
            Some(ruling.recorded_by(|decision| record(&request.context, Kind::Confirmation, decision)).await?)
        }
        false => None,
    };
    Ok(request.at(|conformant| Authorized { lease, confirmed, listed: conformant.listed }))
}

/// Whether the call could be made now (R1, R2, PG-6). Nobody is asked to confirm one that could not; all of this is asked
/// again as it is dispatched.
fn worth_asking(gate: &Gate, context: &RequestContext, call: &Call) -> Result<(), Blocked> {
    gate.breakers().look(&call.tool().tool)?;
    let known = gate.turns().record(context.id())?;
    // While another call of the turn runs, it is not known yet what will be left of the budget.
    let Ok(mut known) = known.try_lock() else { return Ok(()) };
    known.is_fresh(context)?;
    gate.before().allows(context, call)?;
    let attempt = known.budget.attempt().map(Attempt::unused);
    attempt.map_err(|abort| Blocked::new(abort.code(), abort.to_string(), "start another turn"))
}

async fn record(context: &RequestContext, kind: Kind, decision: Decision) -> Result<(), Blocked> {
    context.record_value(kind, &decision).await
}
