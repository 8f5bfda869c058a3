//! Steps of a request, for a call from Python.

use omen_gate::tool::Answer;
use omen_gate::{Blocked, CallRefusal, Gate, GateCode, RefusedCall, ToolId, TurnId, Way};
use serde_json::{Map, Value};

use super::callers::Caller;
use super::refusal;

/// Call as Python asks for it.
#[derive(Debug)]
pub(super) struct CallRequest {
    pub(super) turn: TurnId,
    pub(super) session: TurnId,
    pub(super) user_turn: Option<TurnId>,
    /// What the user has asked for, if the program states it.
    pub(super) query: Option<String>,
    pub(super) server: String,
    /// Name of the tool. A model may have written it, so it may be invalid.
    pub(super) tool: String,
    /// Arguments as text: what is judged was read from it, also where two readers could differ.
    pub(super) args: String,
}

/// Takes a call through all steps, and returns the answer once its outcome is in the log.
pub(super) async fn take(gate: &Gate, call: CallRequest, caller: &Caller) -> Result<Answer, Box<CallRefusal>> {
    let boxed = |why: Blocked| Box::new(CallRefusal::from(why));
    let planned = match planned(gate, &call).await {
        Ok(planned) => planned,
        Err(why) => {
            count_refused(gate, &call).await;
            return Err(boxed(gate.with_debts(&call.session, why)));
        }
    };
    caller.set_hash(planned.planned().hash());
    let authorized = planned.conform().await.map_err(boxed)?.authorize().await.map_err(boxed)?;
    let dispatched = authorized.dispatch().await.map_err(|stopped| Box::new(refusal::stopped(stopped)))?;
    if let Some(fault) = dispatched.answer().fault() {
        return Err(Box::new(refusal::reported(fault.to_string())));
    }
    if dispatched.answer().is_interim() {
        let why = "the tool asks for input or has started a task, which a call from Python cannot continue";
        let why = Blocked::new(GateCode::Pg4, why, "call a tool that answers at once");
        gate.refused(&call.turn, &why).await.map_err(boxed)?;
        return Err(Box::new(refusal::withheld(why)));
    }
    match dispatched.as_promised().await {
        Ok(promised) => Ok(promised.answer().clone()),
        Err(untyped) => Err(Box::new(refusal::withheld(untyped.why().clone()))),
    }
}

/// Screens the query and reads the call (PG-0, PG-1).
async fn planned(gate: &Gate, call: &CallRequest) -> Result<omen_gate::Request<omen_gate::Planned>, Blocked> {
    if call.query.is_none() && gate.has_patterns() {
        let message = "there is no query for the policy to screen";
        let help = "state what the user asks for: `gate.turn(query=…)`";
        let why = Blocked::new(GateCode::Pg0, message, help);
        gate.refused(&call.turn, &why).await?;
        return Err(why);
    }
    let request = gate.request(call.turn.clone(), call.query.as_deref().unwrap_or_default());
    let request = request.of_session(call.session.clone());
    let request = match &call.user_turn {
        Some(user_turn) => request.of_user_turn(user_turn.clone()),
        None => request,
    };
    match request.screen().await?.plan(&plan(call)).await? {
        Way::Call(planned) => Ok(planned),
        // INVARIANT: a second `type` would be a duplicate field.
        Way::Terminal(_) => Err(Blocked::new(GateCode::PgT, "the call asks the user", "make a call of a tool")),
    }
}

/// Plan that asks for the call, with the arguments as they are written.
fn plan(call: &CallRequest) -> String {
    let (server, tool) = (Value::from(call.server.as_str()), Value::from(call.tool.as_str()));
    format!(r#"{{"type":"call_tool","server":{server},"tool":{tool},"args":{}}}"#, call.args)
}

/// Counts a refusal of a call that did not come to the order rules, for rules about calls that were asked for.
async fn count_refused(gate: &Gate, call: &CallRequest) {
    let (Ok(server), Ok(tool)) = (call.server.parse(), call.tool.parse()) else { return };
    let tool = ToolId { server, tool };
    let args: Map<String, Value> = serde_json::from_str(&call.args).unwrap_or_default();
    let turn = call.user_turn.as_ref().unwrap_or(&call.turn);
    gate.count_refused(RefusedCall { session: &call.session, turn, tool: &tool, args: &args }).await;
}
