//! PG-6, G2, A1 and R1 to R3: dispatch of the call.

use std::sync::OnceLock;
use std::time::Duration;

use omen_order::Ended;
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
use crate::request::pipeline::call_guard::CallGuard;
use crate::request::state::{Authorized, Dispatched};
use crate::request::stopped::Stopped;
use crate::request::turn_registry::TurnRecord;
use crate::server::{CheckedServer, Dispatch};
use omen_audit::{DeferredEntry, Kind};

/// Calls the tool once. Grants and confirmation are checked again right before; the intent is in the audit log before
/// the tool runs, and the outcome after it. An answer with `isError` is an answer, but counts as a failure of the turn.
///
/// # Errors
/// [`Stopped::Blocked`] if the tool has changed (PG-3) or is gone (PG-2), its server cannot list it (R3), a grant is
/// revoked, expired or used up (G2), the confirmation is no longer valid (G3), the breaker is open (R1), the order
/// rules refuse the call (O-1 to O-3, O-5, O-6), or the intent cannot be recorded (A1); nothing ran.
/// [`Stopped::Failed`] if the tool fails (R3).
/// [`Stopped::BrokenOff`] if a grant is revoked or expires while the tool runs (G2), or the episode withdraws the task
/// (D52); the call is cancelled.
/// [`Stopped::Unrecorded`] if the outcome cannot be recorded (A1); the tool was called, and its answer is withheld.
/// [`Stopped::Aborted`] if the turn has spent its failure budget (R2), or its step has ended (R4).
pub(crate) async fn dispatch(request: Request<Authorized>) -> Result<Request<Dispatched>, Stopped> {
    let Request { gate, context, state: Authorized { lease, decision, confirmed, listed, order } } = request;
    let call = lease.call().clone();
    // Held until the end, because a turn makes one call at a time.
    let record = context.check(gate.turns().record(context.counted_turn())).await?;
    let mut record = record.lock().await;
    context.check(record.is_fresh(&context).and_then(|()| gate.before().allows(&context, &call))).await?;
    let TurnRecord { budget, called, calls } = &mut *record;
    let attempt = match context.check_running().and_then(|()| budget.attempt()) {
        Ok(attempt) => attempt,
        Err(abort) => return Err(aborted(&context, abort).await),
    };
    let mut open = CallGuard::new(&gate, &context, &call, attempt, order);
    // Listing the tools here means that a changed tool costs neither a confirmation nor a use of a grant, and leaves no
    // intent. A call that costs neither needs the list only after the intent, unless the server has announced a change.
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
    // The verdict and the counting of the call by the order rules are one step.
    let (ordered, verdict) = context.check(open.order.make(confirmed.is_some())).await?;
    context.check_or_try(gate.is_shadow(), verdict).await?;
    open.mark_intended(admission);
    let mut noted = counted.noted();
    noted.extend(ordered);
    let entry = &OnceLock::new();
    let redeemed =
        lease.redeem(confirmed).recorded_by(|redeemed| intent(&context, noted, decision, redeemed, entry)).await;
    let redeemed = redeemed.inspect_err(|_| open.withdraw()).map_err(|blocked| context.with_debts(blocked))?;
    entry.get().into_iter().for_each(|entry| open.order.logged(*entry));
    rate.keep();
    counted.keep();
    let form = match still_holds(&gate, &context, &listed, &redeemed).await {
        Ok(form) => form,
        Err(stopped) => {
            open.mark_refused();
            let mut entry = data(stopped_by_rule(&context, &call, &stopped));
            entry.extend(open.order.ended(Ended::DidNotRun, None));
            context.record(Kind::Outcome, entry).await?;
            return Err(match stopped {
                Stopped::Blocked(blocked) => context.with_debts(blocked).into(),
                stopped => stopped,
            });
        }
    };
    open.mark_called();
    called.extend(context.directive().cloned());
    let dispatch = Dispatch::new(&call, form.revision);
    let server = form.server;
    let limit = context.time_left(gate.clock(), gate.call_timeout());
    let made = async move { server.call(dispatch).await };
    let outcome = match while_it_stands(&gate, &context, &redeemed, limit, made).await {
        Ok(outcome) => outcome.and_then(|answer| within(answer, gate.answer_bytes())),
        Err(why) => {
            open.end_cancelled();
            let stopped = Stopped::BrokenOff(why);
            let mut entry = data(stopped_by_rule(&context, &call, &stopped));
            entry.extend(open.order.ended(Ended::MayHaveRun, None));
            let recorded = context.record(Kind::Outcome, entry).await;
            recorded.map_err(|why| Stopped::Unrecorded { ran: stopped.ran(), why })?;
            return Err(stopped);
        }
    };
    let fault = outcome.as_ref().map_or_else(|fault| Some(fault.clone()), Answer::fault);
    let ran = fault.as_ref().map_or(Ran::Yes, |fault| fault.class().ran());
    let end = end_of(&gate, &listed, &outcome, ran);
    // Done before the call counts as over: reading may take time, and the caller may go away in the meantime.
    let answer = match &outcome {
        Ok(answer) if end == Ended::Ok => open.order.read_answer(answer).await,
        _ => None,
    };
    open.end(fault.as_ref());
    let breaker = gate.breakers().state(&call.tool().tool);
    let why = fault.as_ref().map(|fault| (fault.class(), context.why_failed(fault)));
    let mut entry = outcome_of(&call, &outcome, why, ran, breaker);
    entry.extend(open.order.ended(end, answer));
    drop(open);
    let recorded = context.record(Kind::Outcome, entry).await;
    recorded.map_err(|why| Stopped::Unrecorded { ran, why })?;
    drop(record);
    Ok(Request { gate, context, state: Dispatched { tool: call.tool().clone(), listed, answer: outcome? } })
}

async fn aborted(context: &RequestContext, abort: Abort) -> Stopped {
    context.aborted(&abort).await.map_or_else(Stopped::from, |()| abort.into())
}

/// Returns how a call ended for the order rules. An answer that PG-4 withholds is a failure; an answer in which the
/// tool has not yet said what it did leaves the end open.
fn end_of(gate: &Gate, listed: &Listed, outcome: &Result<Answer, Fault>, ran: Ran) -> Ended {
    match outcome {
        Ok(answer) if answer.is_interim() => Ended::MayHaveRun,
        Ok(answer) if answer.fault().is_some() => Ended::Failed,
        Ok(answer) if gate.order().has_rules() && !gate.outputs().passes(listed, answer) => Ended::Failed,
        Ok(_) => Ended::Ok,
        Err(_) => match ran {
            Ran::Yes => Ended::Failed,
            Ran::No => Ended::DidNotRun,
            Ran::Unknown => Ended::MayHaveRun,
        },
    }
}

/// Records that the tool is about to run, and sets the entry number. The decision is in the log before the tool runs, too.
async fn intent(
    context: &RequestContext,
    mut entry: Map<String, Value>,
    decision: Option<DeferredEntry>,
    redeemed: Decision,
    number: &OnceLock<u64>,
) -> Result<(), Blocked> {
    if redeemed.outcome == Outcome::Denied {
        return context.record_value(Kind::Decision, &redeemed).await;
    }
    if let Ok(Value::Object(redeemed)) = serde_json::to_value(&redeemed) {
        entry.extend(redeemed);
    }
    let intent = context.record_numbered(Kind::Intent, entry).await?;
    if let Some(decision) = decision {
        let _ = decision.recorded().await?;
    }
    let _ = number.set(intent);
    Ok(())
}

/// Checks the preconditions of the call again after its intent is written, because changes and revocations during the
/// write count too (PG-3, G2, R4). The server is asked first because that takes time; all later checks are immediate.
async fn still_holds(
    gate: &Gate,
    context: &RequestContext,
    listed: &Listed,
    redeemed: &Redeemed,
) -> Result<CheckedServer, Stopped> {
    let form = gate.discovery().still(listed).await?;
    // Link targets may have changed.
    context.try_only(gate.is_shadow(), gate.judge_arguments(redeemed.call()).await).await??;
    context.try_only(gate.is_shadow(), context.screened(&gate.policy())).await??;
    // Resolving links and recording a refusal in shadow mode took time.
    redeemed.stands()?;
    gate.still_allows(listed, redeemed.call())?;
    context.stands(gate.clock())?;
    context.check_running()?;
    Ok(form)
}

/// Runs the call while its grants, the directive's token and its episode's lease are valid. Once one of them is
/// revoked, expired or withdrawn, the call may not finish, and its answer is not returned (G2, D52).
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
    // The answer and the end of a permission may be ready at the same time.
    match outcome {
        Ok(answer) => {
            let stands =
                redeemed.stands().and_then(|()| context.leased()).and_then(|()| context.authorized(gate.clock()));
            stands.map(|()| Ok(answer))
        }
        Err(fault) => Ok(Err(fault)),
    }
}

/// Returns the outcome of a call that a rule stopped before or during the call.
fn stopped_by_rule(context: &RequestContext, call: &Call, stopped: &Stopped) -> Value {
    let why = context.why_stopped(stopped);
    json!({ "call": call.hash(), "code": stopped.code().as_str(), "ran": stopped.ran(), "why": why })
}

/// Returns the outcome of a call: the answer's hash, or the fault.
fn outcome_of(
    call: &Call,
    outcome: &Result<Answer, Fault>,
    fault: Option<(FaultClass, String)>,
    ran: Ran,
    breaker: BreakerState,
) -> Map<String, Value> {
    let answer = outcome.as_ref().ok().and_then(|answer| {
        // Numbers without canonical text cannot be hashed; the typing step refuses the answer later.
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
    // A restarted gate needs the state of the breaker (R1).
    if breaker != (BreakerState::Closed { failures: 0 }) {
        entry.insert("breaker".to_owned(), json!(breaker));
    }
    entry
}

/// Enforces the limit for servers in this process, which have no transport that would reject a large answer.
fn within(answer: Answer, limit: u64) -> Result<Answer, Fault> {
    match size::fits(&answer, limit) {
        Ok(true) => Ok(answer),
        Ok(false) => Err(Fault::Oversized { limit }),
        Err(error) => Err(Fault::malformed(&error.to_string())),
    }
}
