//! Confirmation in two rounds, in the era without a handshake (2026-07-28): a server cannot ask a client unasked there. So a
//! call that has to be confirmed is answered with `input_required`, and the client makes it again, with what its user said.
//!
//! The two are independent requests, and each is judged as any call. What connects them is a text that the client carries
//! back (`requestState`). It is sealed with a key of this session, names the call by its hash, is good for one request, and
//! for as long as a confirmation is waited for. What it is good for is no more than that the question was asked: the answer
//! counts as in an elicitation.

mod kept;
mod seal;

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use omen_base::Mutex;
use omen_gate::confirm::Question;
use omen_gate::{Blocked, CallHash, GateCode, TurnId};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::form::{self, Heard, Said};
use crate::methods::ELICIT;
use kept::Kept;
use omen_mcp::frame::Frame;
use omen_mcp::json;
use seal::Seal;

/// The questions of a session that a client may answer, and the calls that are judged now.
#[derive(Debug)]
pub(crate) struct Rounds {
    seal: Seal,
    /// What comes faster is not a human's answer.
    least: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    last: u64,
    /// By their numbers, which go up.
    asked: BTreeMap<u64, Asked>,
    calls: HashMap<TurnId, Round>,
}

/// A question that may be answered, once.
#[derive(Debug)]
struct Asked {
    at: Instant,
    until: Instant,
    kept: Kept,
}

/// What a call is in these rounds.
#[derive(Debug)]
enum Round {
    /// The first one: the client can ask its user.
    MayAsk(Kept),
    /// It is to ask: the result of the call.
    Asks(Value),
    /// The second one: what its user said.
    Answers(Heard),
    /// Nothing more comes of it.
    Over,
}

/// What a confirmation is in these rounds.
#[derive(Debug)]
pub(crate) enum Turned {
    /// The client is to ask its user.
    Asked,
    /// It has.
    Heard(Heard),
    /// The call is not one of theirs.
    NotHere,
}

impl Rounds {
    /// A session's own. None if the system has no random numbers for a key: then no client is asked in this way.
    pub(crate) fn new(least: Duration) -> Option<Self> {
        Some(Self { seal: Seal::random()?, least, state: Mutex::default() })
    }

    /// A call begins, as a request in the era without a handshake.
    ///
    /// # Errors
    /// G3 if it brings an answer to a question that was not asked for this call, was answered already, or too late.
    pub(crate) fn begin(&self, turn: &TurnId, request: &Frame, call: Option<CallHash>) -> Result<Begun<'_>, Blocked> {
        let members = request.members().unwrap_or_default();
        let raw =
            |key: &str| members.iter().find(|member| member.key == key).map(|member| request.raw(member.span.clone()));
        let state = raw("requestState").and_then(|raw| json::text(raw, 0..raw.len()));
        let (round, restored) = match state.filter(|state| Seal::is_ours(state)) {
            Some(state) => {
                let asked = self.take(&state, call)?;
                let responses = raw("inputResponses").and_then(|raw| json::object(raw, 0..raw.len()).ok());
                let heard = said(responses.as_ref()).after(asked.at.elapsed(), self.least, VIA);
                (Round::Answers(heard), Some(asked.kept.restored(request)?))
            }
            None if declares_form(request) => (Round::MayAsk(Kept::of(request)), None),
            None => (Round::Over, None),
        };
        self.state.lock().calls.insert(turn.clone(), round);
        Ok(Begun { rounds: self, turn: turn.clone(), restored })
    }

    /// Takes a question that is answered. Whatever comes of the answer, there is no other one.
    fn take(&self, state: &str, call: Option<CallHash>) -> Result<Asked, Blocked> {
        let Some((number, of)) = self.seal.open(state) else {
            return Err(refused("it was not made by this session, or was changed"));
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

    /// A call is to be confirmed.
    pub(crate) fn turn(&self, question: &Question) -> Turned {
        let mut state = self.state.lock();
        let Some(round) = state.calls.get_mut(&question.turn) else { return Turned::NotHere };
        match std::mem::replace(round, Round::Over) {
            Round::Answers(heard) => Turned::Heard(heard),
            Round::MayAsk(kept) => {
                let Some(mut params) = form::params(question) else { return Turned::Heard(form::too_long()) };
                if let Value::Object(params) = &mut params {
                    params.insert("mode".to_owned(), "form".into());
                }
                let at = Instant::now();
                state.last += 1;
                let number = state.last;
                state.asked.insert(number, Asked { at, until: at + question.timeout, kept });
                if state.asked.len() > MOST_ASKED {
                    state.asked.pop_first();
                }
                let result = json!({
                    "resultType": "input_required",
                    "inputRequests": { KEY: { "method": ELICIT, "params": params } },
                    "requestState": self.seal.close(number, &question.hash.to_string()),
                });
                state.calls.insert(question.turn.clone(), Round::Asks(result));
                Turned::Asked
            }
            Round::Asks(_) | Round::Over => Turned::NotHere,
        }
    }
}

/// A call that has begun.
#[derive(Debug)]
pub(crate) struct Begun<'r> {
    rounds: &'r Rounds,
    turn: TurnId,
    /// The request as the server is to get it, if it has an answer that is not for the server.
    pub(crate) restored: Option<Frame>,
}

impl Begun<'_> {
    /// The result of the call, if the client is to ask its user first.
    pub(crate) fn question(&self) -> Option<Value> {
        match self.rounds.state.lock().calls.get(&self.turn) {
            Some(Round::Asks(result)) => Some(result.clone()),
            _ => None,
        }
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        self.rounds.state.lock().calls.remove(&self.turn);
    }
}

fn said(responses: Option<&Map<String, Value>>) -> Said {
    match responses.and_then(|responses| responses.get(KEY)) {
        Some(Value::Object(result)) => Said::read(result),
        Some(_) => Said::Other("an invalid result".to_owned()),
        None => Said::Other("missing `inputResponses` for it".to_owned()),
    }
}

/// Whether a request says of its client that it can ask its user with a form. An empty capability stands for a form, too.
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
/// The name of the question among those of a result.
const KEY: &str = "omen-gate.confirm";
const VIA: &str = "input_required";

/// How many questions wait for an answer. Older ones are forgotten, and their answers refused.
const MOST_ASKED: usize = 256;
