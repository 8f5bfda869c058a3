//! PG-6, G2, A1, R1 to R3.

use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::audit::Kind;
use crate::fault::Ran;
use crate::pipeline::{Authorized, Dispatched, Request};
use crate::server::Dispatch;
use crate::tool::Answer;
use crate::turns::{TurnState, data};
use crate::{Blocked, Call, Decision, Fault, Outcome, Stopped, canonical, guarded};

/// Calls the tool, once. What was granted and confirmed is checked again, at this moment; the intent is in the
/// audit log before the tool runs, and the outcome after it. An answer with `isError` is an answer, but counts as a
/// failure of the turn.
///
/// # Errors
/// [`Stopped::Blocked`] if the tool has changed (PG-3), a grant is revoked, expired or used up (G2), the
/// confirmation is not good any more (G3), the breaker is open (R1), or the intent cannot be recorded (A1): then
/// nothing ran. If the outcome cannot be recorded (A1), the tool has run, and its answer is withheld.
/// [`Stopped::Failed`] if the tool fails (R3). [`Stopped::Aborted`] if the turn has had its failures (R2).
pub(crate) async fn dispatch(request: Request<Authorized>) -> Result<Request<Dispatched>, Stopped> {
    let Request { gate, turn, state: Authorized { lease, confirmed, listed } } = request;
    let call = lease.call().clone();
    // Held until the end: a turn makes one call at a time.
    let book = turn.check(gate.turns().book(turn.id())).await?;
    let mut book = book.lock().await;
    turn.check(book.call(&turn)).await?;
    let attempt = match book.budget.attempt() {
        Ok(attempt) => attempt,
        Err(abort) => {
            turn.aborted(&abort).await?;
            return Err(abort.into());
        }
    };
    let admitted = gate.unchanged(&listed).await;
    let admitted = admitted.and_then(|server| Ok((server, gate.breakers().admit(&call.tool().tool)?)));
    let (server, admission) = match turn.check(admitted).await {
        Ok(admitted) => admitted,
        Err(blocked) => {
            attempt.unused();
            return Err(blocked.into());
        }
    };
    let mut open = Open { turn: &turn, call: &call, ran: Some(Ran::No) };
    let leave = async {
        let redeemed = lease.redeem(confirmed).recorded_by(|decision| intent(&turn, &call, decision)).await?;
        // Writing the intent took its time, and what was revoked in it bites, too (G2).
        match redeemed.stands().and_then(|()| turn.stands(gate.clock())) {
            Ok(()) => Ok(()),
            Err(blocked) => {
                let outcome = json!({ "call": call.hash(), "code": blocked.code.as_str(), "ran": Ran::No, "why": blocked.message });
                turn.record(Kind::Outcome, data(outcome)).await?;
                Err(blocked)
            }
        }
    };
    if let Err(blocked) = leave.await {
        open.ran = None;
        admission.unused();
        attempt.unused();
        return Err(blocked.into());
    }
    open.ran = Some(Ran::Unknown);
    let dispatch = Dispatch::new(&call);
    let limit = turn.time_left(gate.clock(), gate.call_timeout());
    let outcome = guarded(limit, async move { server.call(dispatch).await }).await;
    let outcome = outcome.and_then(|answer| within(answer, gate.answer_bytes()));
    let fault = outcome.as_ref().map_or_else(|fault| Some(fault.clone()), Answer::fault);
    admission.resolve(fault.as_ref());
    match &fault {
        Some(fault) => attempt.failure(fault),
        None => attempt.success(),
    }
    gate.observed(call.tool(), fault.as_ref());
    open.ran = None;
    drop(open);
    turn.record(Kind::Outcome, data(outcome_of(&call, &outcome, fault.as_ref()))).await?;
    let answer = outcome?;
    drop(book);
    Ok(Request { gate, turn, state: Dispatched { tool: call.tool().clone(), listed, answer } })
}

/// The tool is about to run.
async fn intent(turn: &TurnState, call: &Call, decision: Decision) -> Result<(), Blocked> {
    if decision.outcome == Outcome::Denied {
        return turn.record_value(Kind::Decision, &decision).await;
    }
    let mut entry = data(json!({ "args": call.args() }));
    if let Ok(serde_json::Value::Object(decision)) = serde_json::to_value(&decision) {
        entry.extend(decision);
    }
    turn.record(Kind::Intent, entry).await
}

/// What came of it: the answer's hash, or the fault.
fn outcome_of(call: &Call, outcome: &Result<Answer, Fault>, fault: Option<&Fault>) -> serde_json::Value {
    let answer = outcome.as_ref().ok().and_then(|answer| {
        // Numbers that have no canonical text make no hash; the answer is refused later, where it is typed.
        let bytes = serde_json::to_value(answer).ok().and_then(|answer| canonical(&answer).ok())?;
        Some(base16ct::lower::encode_string(&Sha256::digest(bytes)))
    });
    json!({
        "answer": answer,
        "call": call.hash(),
        "class": fault.map(Fault::class),
        "ran": fault.map_or(Ran::Yes, |fault| fault.class().ran()),
        "why": fault.map(ToString::to_string),
    })
}

/// A server in this process has no transport that would stop a large answer.
fn within(answer: Answer, limit: u64) -> Result<Answer, Fault> {
    match serde_json::to_vec(&answer) {
        Ok(text) if text.len() as u64 <= limit => Ok(answer),
        Ok(_) => Err(Fault::Oversized { limit }),
        Err(error) => Err(Fault::malformed(&error.to_string())),
    }
}

/// A call without an outcome yet. If whoever waits for it goes away, that is its outcome.
struct Open<'o> {
    turn: &'o TurnState,
    call: &'o Call,
    /// Whether the tool ran; nothing once the outcome is said.
    ran: Option<Ran>,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if let Some(ran) = self.ran {
            let why = "nobody waited for it any more";
            let entry = json!({ "call": self.call.hash(), "class": Fault::Cancelled.class(), "ran": ran, "why": why });
            self.turn.record_later(Kind::Outcome, data(entry));
        }
    }
}
