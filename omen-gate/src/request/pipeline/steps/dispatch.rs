//! PG-6, G2, A1, R1 to R3.

use std::time::Duration;

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::base::{Blocked, canonical, size};
use crate::call::breaker::BreakerState;
use crate::call::{Abort, Answer, Call, Fault, FaultClass, Ran, guarded};
use crate::catalog::Listed;
use crate::grant::{Decision, Outcome, Redeemed};
use crate::request::audit_queue::data;
use crate::request::context::RequestContext;
use crate::request::gate::Gate;
use crate::request::pipeline::Request;
use crate::request::pipeline::open::Open;
use crate::request::state::{Authorized, Dispatched};
use crate::request::stopped::Stopped;
use crate::request::turn_registry::TurnRecord;
use crate::server::{Dispatch, Form};
use omen_audit::Kind;

/// Calls the tool, once. What was granted and confirmed is checked again, at this moment; the intent is in the
/// audit log before the tool runs, and the outcome after it. An answer with `isError` is an answer, but counts as a
/// failure of the turn.
///
/// # Errors
/// [`Stopped::Blocked`] if the tool has changed (PG-3) or is gone (PG-2), its server cannot be asked for it (R3), a grant
/// is revoked, expired or used up (G2), the confirmation is not good any more (G3), the breaker is open (R1), or
/// the intent cannot be recorded (A1): then nothing ran. [`Stopped::Failed`] if the tool fails (R3).
/// [`Stopped::BrokenOff`] if a grant is revoked or expires while the tool runs (G2), or the episode takes the task back
/// (D52): it is broken off there.
/// [`Stopped::Unrecorded`] if the outcome cannot be recorded (A1): the tool was called, and its answer is withheld.
/// [`Stopped::Aborted`] if the turn has had its failures (R2), or its step has ended (R4).
pub(crate) async fn dispatch(request: Request<Authorized>) -> Result<Request<Dispatched>, Stopped> {
    let Request { gate, context, state: Authorized { lease, confirmed, listed } } = request;
    let call = lease.call().clone();
    // Held until the end: a turn makes one call at a time.
    let record = context.check(gate.turns().record(context.counted_turn())).await?;
    let mut record = record.lock().await;
    context.check(record.is_fresh(&context).and_then(|()| gate.before().allows(&context, &call))).await?;
    let TurnRecord { budget, called, calls } = &mut *record;
    let attempt = match context.goes_on().and_then(|()| budget.attempt()) {
        Ok(attempt) => attempt,
        Err(abort) => return Err(aborted(&context, abort).await),
    };
    let mut open = Open::new(&gate, &context, &call, attempt);
    // Asked here, a tool that has changed since costs neither a confirmation nor a use of a grant, and leaves no intent. Where
    // the call costs neither, the list that is asked for after the intent is enough.
    let admitted = match lease.is_used_up() {
        true => gate.discovery().unchanged(&listed).await.map(drop),
        false => gate.discovery().unannounced(&listed).await,
    };
    context.check(admitted.and_then(|()| gate.still_allows(&listed, &call))).await?;
    context.check_or_try(gate.is_shadow(), gate.judge_arguments(&call).await).await?;
    let (rate, room) = gate.rates().take(call.tool(), gate.rate_of(call.tool()));
    context.check_or_try(gate.is_shadow(), room).await?;
    let (counted, room) = gate.turns().count_call(calls, context.session());
    context.check_or_try(gate.is_shadow(), room).await?;
    let admission = context.check(gate.breakers().admit(&call.tool().tool)).await?;
    open.intended(admission);
    let noted = counted.noted();
    let redeemed = lease.redeem(confirmed).recorded_by(|decision| intent(&context, noted, decision)).await;
    let redeemed = redeemed.inspect_err(|_| open.refused())?;
    rate.keep();
    counted.keep();
    let form = match still_holds(&gate, &context, &listed, &redeemed).await {
        Ok(form) => form,
        Err(stopped) => {
            open.refused();
            context.record(Kind::Outcome, data(stopped_by_rule(&context, &call, &stopped))).await?;
            return Err(stopped);
        }
    };
    open.called();
    called.extend(context.directive().cloned());
    let dispatch = Dispatch::new(&call, form.revision);
    let server = form.server;
    let limit = context.time_left(gate.clock(), gate.call_timeout());
    let made = async move { server.call(dispatch).await };
    let outcome = match while_it_stands(&gate, &context, &redeemed, limit, made).await {
        Ok(outcome) => outcome.and_then(|answer| within(answer, gate.answer_bytes())),
        Err(why) => {
            open.broken_off();
            let stopped = Stopped::BrokenOff(why);
            let recorded = context.record(Kind::Outcome, data(stopped_by_rule(&context, &call, &stopped))).await;
            recorded.map_err(|why| Stopped::Unrecorded { ran: stopped.ran(), why })?;
            return Err(stopped);
        }
    };
    let fault = outcome.as_ref().map_or_else(|fault| Some(fault.clone()), Answer::fault);
    open.ended(fault.as_ref());
    let ran = fault.as_ref().map_or(Ran::Yes, |fault| fault.class().ran());
    let breaker = gate.breakers().state(&call.tool().tool);
    let why = fault.as_ref().map(|fault| (fault.class(), context.why_failed(fault)));
    let recorded = context.record(Kind::Outcome, outcome_of(&call, &outcome, why, ran, breaker)).await;
    recorded.map_err(|why| Stopped::Unrecorded { ran, why })?;
    drop(record);
    Ok(Request { gate, context, state: Dispatched { tool: call.tool().clone(), listed, answer: outcome? } })
}

async fn aborted(context: &RequestContext, abort: Abort) -> Stopped {
    context.aborted(&abort).await.map_or_else(Stopped::from, |()| abort.into())
}

/// The tool is about to run.
async fn intent(context: &RequestContext, mut entry: Map<String, Value>, decision: Decision) -> Result<(), Blocked> {
    if decision.outcome == Outcome::Denied {
        return context.record_value(Kind::Decision, &decision).await;
    }
    if let Ok(Value::Object(decision)) = serde_json::to_value(&decision) {
        entry.extend(decision);
    }
    context.record(Kind::Intent, entry).await
}

/// Checks once more what the call rests on, now that its intent is written: that took its time, and what has changed or
/// was taken back in it counts, too (PG-3, G2, R4). The server is asked first, for that takes time as well; all that comes
/// after it is checked at once.
async fn still_holds(
    gate: &Gate,
    context: &RequestContext,
    listed: &Listed,
    redeemed: &Redeemed,
) -> Result<Form, Stopped> {
    let form = gate.discovery().still(listed).await?;
    // Links may lead elsewhere now.
    context.try_only(gate.is_shadow(), gate.judge_arguments(redeemed.call()).await).await??;
    context.try_only(gate.is_shadow(), context.screened(&gate.policy())).await??;
    // Following links has taken its time, and so has recording what is only tried.
    redeemed.stands()?;
    gate.still_allows(listed, redeemed.call())?;
    context.stands(gate.clock())?;
    context.goes_on()?;
    Ok(form)
}

/// Runs the call for as long as the grants, the directive's token and its episode's lease stand: what is revoked, has
/// expired or was taken back gives no leave to finish what has begun (G2, D52), nor to hand out what came of it.
async fn while_it_stands(
    gate: &Gate,
    context: &RequestContext,
    redeemed: &Redeemed,
    limit: Duration,
    call: impl Future<Output = Result<Answer, Fault>> + Send + 'static,
) -> Result<Result<Answer, Fault>, Blocked> {
    let outcome = tokio::select! {
        biased;
        why = context.taken_back() => return Err(why),
        why = redeemed.revoked() => return Err(why),
        why = redeemed.expired() => return Err(why),
        why = context.expired(gate.clock()) => return Err(why),
        outcome = guarded(limit, call) => outcome,
    };
    // The answer and what takes its ground away may come at once.
    match outcome {
        Ok(answer) => {
            let stands =
                redeemed.stands().and_then(|()| context.leased()).and_then(|()| context.authorized(gate.clock()));
            stands.map(|()| Ok(answer))
        }
        Err(fault) => Ok(Err(fault)),
    }
}

/// What came of a call that a rule did not let be made, or finish.
fn stopped_by_rule(context: &RequestContext, call: &Call, stopped: &Stopped) -> Value {
    let why = context.why_stopped(stopped);
    json!({ "call": call.hash(), "code": stopped.code().as_str(), "ran": stopped.ran(), "why": why })
}

/// What came of it: the answer's hash, or the fault.
fn outcome_of(
    call: &Call,
    outcome: &Result<Answer, Fault>,
    fault: Option<(FaultClass, String)>,
    ran: Ran,
    breaker: BreakerState,
) -> Map<String, Value> {
    let answer = outcome.as_ref().ok().and_then(|answer| {
        // Numbers that have no canonical text make no hash; the answer is refused later, where it is typed.
        let bytes = serde_json::to_value(answer).ok().and_then(|answer| canonical(&answer).ok())?;
        Some(base16ct::lower::encode_string(&Sha256::digest(bytes)))
    });
    let (class, why) = fault.unzip();
    let mut entry = data(json!({
        "answer": answer,
        "call": call.hash(),
        "class": class,
        "ran": ran,
        "why": why,
    }));
    // What a gate that is restarted has to know (R1).
    if breaker != (BreakerState::Closed { failures: 0 }) {
        entry.insert("breaker".to_owned(), json!(breaker));
    }
    entry
}

/// A server in this process has no transport that would stop a large answer.
fn within(answer: Answer, limit: u64) -> Result<Answer, Fault> {
    match size::fits(&answer, limit) {
        Ok(true) => Ok(answer),
        Ok(false) => Err(Fault::Oversized { limit }),
        Err(error) => Err(Fault::malformed(&error.to_string())),
    }
}
