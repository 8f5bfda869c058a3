//! PG-3, G1 to G3.

use serde_json::Value;

use crate::base::Blocked;
use crate::call::{Attempt, Call};
use crate::grant::{Confirmed, Decision, Ruling};
use crate::request::context::RequestContext;
use crate::request::gate::Gate;
use crate::request::pipeline::Request;
use crate::request::state::{Authorized, Conformant};
use omen_audit::Kind;

/// Asks the allowlist, the grants and, if the call needs it, somebody who confirms it.
///
/// # Errors
/// If the tool is not allowed, is not as it was approved, or may not be called with these arguments or so often (PG-3); if a permission is not granted (G1), or not any
/// more (G2); if nobody confirms the call in time (G3), who is not asked while the breaker is open (R1) or the turn has had
/// its failures (R2); or if a decision cannot be recorded (A1).
pub(crate) async fn authorize(request: Request<Conformant>) -> Result<Request<Authorized>, Blocked> {
    let Conformant { call, listed } = &request.state;
    let call = request.gate.allowed().permit_call(listed, request.turn(), call.args());
    let call = request.context.check(call).await?;
    let arguments = request.gate.judge_arguments(&call).await;
    request.context.check_or_try(request.gate.is_shadow(), arguments).await?;
    let ruling = request.gate.grants().check(&call);
    let lease = ruling.recorded_by(|decision| record(&request.context, Kind::Decision, decision)).await?;
    let confirmed = match lease.needs_confirmation() {
        true => {
            let mut waiting = Waiting { context: &request.context, call: &call, is_over: false };
            let asked = ask(&request, &call).await;
            waiting.is_over = true;
            Some(asked?.recorded_by(|decision| record(&request.context, Kind::Confirmation, decision)).await?)
        }
        false => None,
    };
    Ok(request.at(|conformant| Authorized { lease, confirmed, listed: conformant.listed }))
}

/// Asks somebody to confirm the call, if it could be made.
async fn ask(request: &Request<Conformant>, call: &Call) -> Result<Ruling<Confirmed>, Blocked> {
    let Request { gate, context, .. } = request;
    context.check(worth_asking(gate, context, call)).await?;
    context.check_or_try(gate.is_shadow(), within_limits(gate, context, call)).await?;
    Ok(gate.ask(call).await)
}

/// Whether the call could be made now (R1, R2, PG-6). Nobody is asked to confirm one that could not; all of this is asked
/// again as it is dispatched.
fn worth_asking(gate: &Gate, context: &RequestContext, call: &Call) -> Result<(), Blocked> {
    gate.breakers().look(&call.tool().tool)?;
    let known = gate.turns().record(context.counted_turn())?;
    // While another call of the turn runs, it is not known yet what will be left of the budget.
    let Ok(mut known) = known.try_lock() else { return Ok(()) };
    known.is_fresh(context)?;
    gate.before().allows(context, call)?;
    let attempt = known.budget.attempt().map(Attempt::unused);
    attempt.map_err(|abort| Blocked::new(abort.code(), abort.to_string(), "start another turn"))
}

/// Whether the tool, the turn and the session may have one more call now (PG-3, R2). It is counted as it is dispatched.
fn within_limits(gate: &Gate, context: &RequestContext, call: &Call) -> Result<(), Blocked> {
    gate.rates().look(call.tool(), gate.rate_of(call.tool()))?;
    let known = gate.turns().record(context.counted_turn())?;
    // While another call of the turn runs, it is not known yet how many there were.
    let Ok(known) = known.try_lock() else { return Ok(()) };
    gate.turns().may_call(known.calls, context.session())
}

/// A call that waits for its confirmation. If its caller goes away in between, as a proxy that is stopped does, the log has
/// no other word on a call that was allowed so far: it gets a denial (G4).
struct Waiting<'w> {
    context: &'w RequestContext,
    call: &'w Call,
    is_over: bool,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if !self.is_over
            && let Ok(Value::Object(denied)) = serde_json::to_value(Decision::withdrawn(self.call))
        {
            self.context.record_later(Kind::Confirmation, denied);
        }
    }
}

async fn record(context: &RequestContext, kind: Kind, decision: Decision) -> Result<(), Blocked> {
    context.record_value(kind, &decision).await
}
