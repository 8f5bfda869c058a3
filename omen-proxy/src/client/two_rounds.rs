//! Confirmation in two rounds, for the era without a handshake (2026-07-28), in which a server cannot send unsolicited requests.
//! A call that has to be confirmed is answered with `input_required`, and the client repeats it with its user's answer.
//!
//! The two rounds are independent requests, and each is judged like any call. They are connected by a text that the client
//! sends back (`requestState`). This text is sealed with a key of the session, names the call by its hash, and is valid for
//! one request and for as long as a confirmation may take. It proves only that the question was asked: the answer counts as
//! in an elicitation.

mod seal;
mod server_input;

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use omen_base::Mutex;
use omen_gate::confirm::Question;
use omen_gate::{Blocked, CallHash, GateCode, TurnId};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::form::{self, ClientAnswer, FormResponse};
use crate::messages::methods::ELICIT;
use omen_mcp::frame::Frame;
use omen_mcp::json;
use seal::Seal;
use server_input::ServerInput;

/// Questions of a session that a client may answer, and the calls being judged.
#[derive(Debug)]
pub(crate) struct Rounds {
    seal: Seal,
    /// Minimum time for a human's answer; anything faster does not count.
    least: Duration,
    state: Mutex<RoundsState>,
}

/// Unanswered questions of a session, and the rounds of the calls being judged.
#[derive(Debug, Default)]
struct RoundsState {
    last: u64,
    /// Questions by number, in increasing order.
    asked: BTreeMap<u64, PendingQuestion>,
    calls: HashMap<TurnId, Round>,
}

/// Question to the client that may be answered once.
#[derive(Debug)]
struct PendingQuestion {
    at: Instant,
    until: Instant,
    input: ServerInput,
}

/// Round that a call is in.
#[derive(Debug)]
enum Round {
    /// The first round: the client can ask its user.
    MayAsk(ServerInput),
    /// The client is to ask its user. Holds the result of the call.
    Asks(Value),
    /// The second round. Holds the answer of the client's user.
    Answers(ClientAnswer),
    /// No further confirmation is possible in this call.
    Over,
}

/// Outcome of a confirmation in two rounds.
#[derive(Debug)]
pub(crate) enum RoundOutcome {
    /// The client is to ask its user.
    AskUser,
    /// The client has asked its user.
    Answered(ClientAnswer),
    /// The call does not use the two rounds.
    NotHere,
}

impl Rounds {
    /// Creates the rounds of a session. `None` if the system provides no random numbers; no client is then asked this way.
    pub(crate) fn new(least: Duration) -> Option<Self> {
        Some(Self { seal: Seal::random()?, least, state: Mutex::default() })
    }

    /// Begins a call that is a request in the era without a handshake.
    ///
    /// # Errors
    /// G3 if it answers a question that was not asked for this call or has already been answered, or answers too late.
    pub(crate) fn begin(
        &self,
        turn: &TurnId,
        request: &Frame,
        call: Option<CallHash>,
    ) -> Result<RoundGuard<'_>, Blocked> {
        let members = request.members().unwrap_or_default();
        let raw =
            |key: &str| members.iter().find(|member| member.key == key).map(|member| request.raw(member.span.clone()));
        let state = raw("requestState").and_then(|raw| json::text(raw, 0..raw.len()));
        let (round, restored) = match state.filter(|state| Seal::is_ours(state)) {
            Some(state) => {
                let asked = self.take(&state, call)?;
                let responses = raw("inputResponses").and_then(|raw| json::object(raw, 0..raw.len()).ok());
                let heard = said(responses.as_ref()).after(asked.at.elapsed(), self.least, VIA);
                (Round::Answers(heard), Some(asked.input.restored(request)?))
            }
            None if declares_form(request) => (Round::MayAsk(ServerInput::from_request(request)), None),
            None => (Round::Over, None),
        };
        self.state.lock().calls.insert(turn.clone(), round);
        Ok(RoundGuard { rounds: self, turn: turn.clone(), restored })
    }

    /// Takes a question that is being answered. Whatever the answer, there is no second one.
    fn take(&self, state: &str, call: Option<CallHash>) -> Result<PendingQuestion, Blocked> {
        let Some((number, of)) = self.seal.open(state) else {
            return Err(refused("it was not created by this session, or was changed"));
        };
        let Some(asked) = self.state.lock().asked.remove(&number) else {
            return Err(refused("it was used before, or is too old"));
        };
        if Instant::now() >= asked.until {
            return Err(refused("it has expired"));
        }
        match call.is_some_and(|call| call.to_string() == of) {
            true => Ok(asked),
            false => Err(refused("it belongs to another call")),
        }
    }

    /// Handles a call that has to be confirmed.
    pub(crate) fn turn(&self, question: &Question) -> RoundOutcome {
        let mut state = self.state.lock();
        let Some(round) = state.calls.get_mut(&question.turn) else { return RoundOutcome::NotHere };
        match std::mem::replace(round, Round::Over) {
            Round::Answers(heard) => RoundOutcome::Answered(heard),
            Round::MayAsk(input) => {
                let Some(mut params) = form::params(question) else { return RoundOutcome::Answered(form::too_long()) };
                if let Value::Object(params) = &mut params {
                    params.insert("mode".to_owned(), "form".into());
                }
                let at = Instant::now();
                state.last += 1;
                let number = state.last;
                state.asked.insert(number, PendingQuestion { at, until: at + question.timeout, input });
                if state.asked.len() > MOST_ASKED {
                    state.asked.pop_first();
                }
                let result = json!({
                    "resultType": "input_required",
                    "inputRequests": { KEY: { "method": ELICIT, "params": params } },
                    "requestState": self.seal.close(number, &question.hash.to_string()),
                });
                state.calls.insert(question.turn.clone(), Round::Asks(result));
                RoundOutcome::AskUser
            }
            Round::Asks(_) | Round::Over => RoundOutcome::NotHere,
        }
    }
}

/// Guard of a call that is being judged. Dropping it ends the round of the call.
#[derive(Debug)]
pub(crate) struct RoundGuard<'r> {
    rounds: &'r Rounds,
    turn: TurnId,
    /// Request for the server, if the original contains an answer that is not meant for the server.
    pub(crate) restored: Option<Frame>,
}

impl RoundGuard<'_> {
    /// Returns the result of the call if the client is to ask its user first.
    pub(crate) fn question(&self) -> Option<Value> {
        match self.rounds.state.lock().calls.get(&self.turn) {
            Some(Round::Asks(result)) => Some(result.clone()),
            _ => None,
        }
    }
}

impl Drop for RoundGuard<'_> {
    fn drop(&mut self) {
        self.rounds.state.lock().calls.remove(&self.turn);
    }
}

fn said(responses: Option<&Map<String, Value>>) -> FormResponse {
    match responses.and_then(|responses| responses.get(KEY)) {
        Some(Value::Object(result)) => FormResponse::read(result),
        Some(_) => FormResponse::Other("an invalid result".to_owned()),
        None => FormResponse::Other("missing `inputResponses` for it".to_owned()),
    }
}

/// Returns whether a request declares that its client can ask its user with a form. An empty capability also stands for forms.
fn declares_form(request: &Frame) -> bool {
    let params = request.body().and_then(|body| json::object(request.text(), body).ok());
    let declared =
        params.as_ref().and_then(|params| params.get("_meta")?.get(CAPABILITIES)?.get("elicitation")?.as_object());
    declared.is_some_and(|declared| declared.is_empty() || declared.contains_key("form"))
}

fn refused(why: &str) -> Blocked {
    let message = format!("the `requestState` of the call is not accepted: {why}");
    Blocked::new(GateCode::G3, message, "make the call again without `requestState` and `inputResponses`")
}

const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// Name of the question within a result.
const KEY: &str = "omen-gate.confirm";
const VIA: &str = "input_required";

/// Maximum number of questions waiting for an answer. Older ones are forgotten, and answers to them are refused.
const MOST_ASKED: usize = 256;
