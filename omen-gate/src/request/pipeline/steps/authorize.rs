//! PG-3 and G1 to G3: authorization of the call.

use serde_json::Value;

use crate::base::Blocked;
use crate::call::{Attempt, Call};
use crate::grant::{Confirmed, Decision, Ruling};
use crate::request::context::RequestContext;
use crate::request::gate::Gate;
use crate::request::pipeline::Request;
use crate::request::state::{Authorized, Conformant};
use omen_audit::Kind;

/// Checks the allowlist, the order of calls and the grants, and requests a confirmation if the call needs one.
///
/// # Errors
/// PG-3 if the tool is not allowed, differs from its approved form, may not be called with these arguments, or exceeds
/// its rate limit. G1 if a permission is not granted, G2 if it no longer is. G3 if the call is not confirmed in time.
/// R1 if the breaker is open, and R2 if the turn has spent its failure budget; no confirmation is requested then. O-1
/// to O-3, O-5 and O-6 if the order rules refuse the call. A1 if a decision cannot be recorded.
pub(crate) async fn authorize(request: Request<Conformant>) -> Result<Request<Authorized>, Blocked> {
    let Conformant { call, listed } = &request.state;
    let permitted = request.gate.allowed().permit_call(listed, request.turn(), call);
    if permitted.is_err() {
        request.gate.order().refused(request.context.origin(), call.tool(), call.args()).await;
    }
    let call = request.context.check(permitted).await?;
    let arguments = request.gate.judge_arguments(&call).await;
    // Read once: a call that counts as refused must not pass because shadow mode begins in the meantime.
    let is_shadow = request.gate.is_shadow();
    let is_refused = arguments.is_err() && !is_shadow;
    let order = request.gate.order().ask(request.context.origin(), call.tool(), call.args(), is_refused).await;
    request.context.check_or_try(is_shadow, arguments).await?;
    request.context.check_or_try(request.gate.is_shadow(), order.verdict().await).await?;
    let ruling = request.gate.grants().check(&call);
    // The entry of a call that goes on at once is written with its intent, so that both wait for the disk once.
    let mut decision = None;
    let is_deferred = ruling.goes_on_at_once();
    let lease = ruling.recorded_by(async |made| {
        if is_deferred {
            decision = Some(request.context.record_value_with_next(Kind::Decision, &made)?);
            return Ok(());
        }
        record(&request.context, Kind::Decision, made).await
    });
    let lease = lease.await.map_err(|blocked| request.context.with_debts(blocked))?;
    let confirmed = match lease.needs_confirmation() {
        true => {
            let mut waiting = WaitingCall { context: &request.context, call: &call, is_over: false };
            let asked = ask(&request, &call).await;
            waiting.is_over = true;
            let ruling = asked?.recorded_by(|decision| record(&request.context, Kind::Confirmation, decision)).await;
            Some(ruling.map_err(|blocked| request.context.with_debts(blocked))?)
        }
        false => None,
    };
    Ok(request.at(|conformant| Authorized { lease, decision, confirmed, listed: conformant.listed, order }))
}

/// Requests a confirmation of the call if the call could be made.
async fn ask(request: &Request<Conformant>, call: &Call) -> Result<Ruling<Confirmed>, Blocked> {
    let Request { gate, context, .. } = request;
    context.check(worth_asking(gate, context, call)).await?;
    context.check_or_try(gate.is_shadow(), within_limits(gate, context, call)).await?;
    Ok(gate.ask(call).await)
}

/// Checks that the call could be made now, so that nobody is asked in vain (R1, R2, PG-6). Dispatch repeats all these checks.
fn worth_asking(gate: &Gate, context: &RequestContext, call: &Call) -> Result<(), Blocked> {
    gate.breakers().look(&call.tool().tool)?;
    let known = gate.turns().record(context.counted_turn())?;
    // While another call of the turn is running, the remaining budget is unknown.
    let Ok(mut known) = known.try_lock() else { return Ok(()) };
    known.is_fresh(context)?;
    gate.before().allows(context, call)?;
    let attempt = known.budget.attempt().map(Attempt::unused);
    attempt.map_err(|abort| Blocked::new(abort.code(), abort.to_string(), "start another turn"))
}

/// Checks that the tool, the turn and the session allow one more call now (PG-3, R2). Dispatch counts the call.
fn within_limits(gate: &Gate, context: &RequestContext, call: &Call) -> Result<(), Blocked> {
    gate.rates().look(call.tool(), gate.rate_of(call.tool()))?;
    let known = gate.turns().record(context.counted_turn())?;
    // While another call of the turn is running, the number of calls is unknown.
    let Ok(known) = known.try_lock() else { return Ok(()) };
    gate.turns().may_call(known.calls, context.session())
}

/// Guard for a call that waits for its confirmation. If the caller goes away in between, e.g. a stopped proxy, the log
/// would lack an outcome for a call that was allowed so far, so dropping the guard records a denial (G4).
struct WaitingCall<'w> {
    context: &'w RequestContext,
    call: &'w Call,
    is_over: bool,
}

impl Drop for WaitingCall<'_> {
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
