//! `tools/call` from the client, from its message to the client's response: the same steps of a request as in any program.

use std::borrow::Cow;
use std::sync::Arc;

use omen_gate::config::ServerErrors;
use omen_gate::pipeline::{Planned, Received, Request, Untyped};
use omen_gate::plan::ToolCall;
use omen_gate::{
    Blocked, Call, CallHash, CallRefusal, Demand, Fault, GateCode, Permission, Permissions, Ran, RefusedCall, Stopped,
    ToolId, TurnId, bounded,
};
use serde_json::{Map, Value};
use tracing::{Span, warn};

use super::failed;
use super::policy_text::{call_text, refused_text, reported};
use super::session::ServerSession;
use crate::episode::{Episodes, NotNow, Outcome, OwnTool, ReplyContext, UnfinishedCall, unrecorded_result};
use crate::messages::Passage;
use crate::messages::refusal::{self, RefusalContext};
use omen_mcp::CallToolRequest;
use omen_mcp::frame::Frame;
use omen_mcp::handshake::Era;

/// Call from a client, with the session in which it is judged.
pub(crate) struct ClientCall<'s> {
    session: &'s ServerSession,
    turn: &'s TurnId,
    request: Arc<CallToolRequest>,
    name: String,
    /// Call that the gate judges, or the reason why there is none.
    call: Result<ToolCall, Blocked>,
    /// User's turn that the call is part of, if any, or the reason why it is unknown.
    user_turn: Result<Option<TurnId>, Blocked>,
}

impl<'s> ClientCall<'s> {
    /// Takes a call through the gate and returns the line for the client. If other names have a prefix, a call without one
    /// may be to a tool of the episode.
    pub(crate) async fn judge(
        request: CallToolRequest,
        may_be_own: bool,
        session: &'s ServerSession,
        turn: &'s TurnId,
    ) -> Vec<u8> {
        let name = request.name();
        Span::current().record("tool", bounded(&name));
        let episodes = session.episodes.as_ref().filter(|_| may_be_own);
        if let Some((episodes, own)) = episodes.and_then(|all| Some((all, all.own(&name)?))) {
            return drive(episodes, own, &request, session, turn).await;
        }
        let request = Arc::new(request);
        let call = session.gate.read_call(&session.server, &request);
        let user_turn = match &session.episodes {
            // In this case, the episode is the turn.
            Some(episodes) if episodes.is_turn() => Ok(episodes.user_turn()),
            _ => session.user_turns.turn(request.raw_meta()),
        };
        let call = Self { session, turn, request, name, call, user_turn };
        match call.in_rounds().await {
            Ok(line) => line,
            Err(refusal) => call.refused(&refusal).await,
        }
    }

    /// Records a refusal in the episode, and gives the line that says so.
    async fn refused(&self, refusal: &CallRefusal) -> Vec<u8> {
        let Self { session, turn, name, .. } = self;
        // An invalid name has no rules, and nothing is known about its arguments.
        let recordable = self.tool().map(|tool| session.gate.recordable(&tool, &self.args())).unwrap_or_default();
        let noted = refusal.noted(&recordable);
        if let Some(episodes) = &session.episodes {
            let tool = (&session.server, name.as_str());
            episodes.refused(turn, tool, recordable.arguments(), refusal.code.as_str(), noted).await;
        }
        let tool = bounded(name);
        warn!(code = %refusal.code, tool, %turn, "refused a call of `{tool}`: {}: {noted}", refusal.code);
        let promises = session.upstream.promises(name);
        refusal::result(
            refusal,
            &RefusalContext { id: self.id(), turn, call: self.hash(), era: self.request.era(), promises },
        )
    }

    fn id(&self) -> &str {
        self.request.frame().raw_id()
    }

    fn tool(&self) -> Option<ToolId> {
        match &self.call {
            Ok(call) => Some(call.tool().clone()),
            Err(_) => Some(ToolId { server: self.session.server.clone(), tool: self.name.parse().ok()? }),
        }
    }

    fn args(&self) -> Cow<'_, Map<String, Value>> {
        match &self.call {
            Ok(call) => Cow::Borrowed(call.args()),
            Err(_) => Cow::Owned(args(self.request.raw_arguments())),
        }
    }

    /// Returns the hash of the call, if it has one; the hash does not depend on the tool's requirements.
    fn hash(&self) -> Option<CallHash> {
        match &self.call {
            Ok(call) => call.hash(),
            Err(_) => hash(self.turn, self.tool()?, self.request.raw_arguments()),
        }
    }

    /// In the era without a handshake, a call that has to be confirmed may be one of two: the first is answered with the
    /// question, and the second has the answer.
    async fn in_rounds(&self) -> Result<Vec<u8>, CallRefusal> {
        let Self { session, turn, request, .. } = self;
        let rounds = session.rounds.as_ref().filter(|_| request.era() == Era::Stateless);
        let Some(rounds) = rounds else { return self.pass(self.call.clone()).await };
        let begun = match rounds.begin(turn, request.frame(), self.hash()) {
            Ok(begun) => begun,
            Err(why) => return Err(self.refused_here(why).await),
        };
        let call = match &begun.restored {
            None => self.call.clone(),
            // The server gets a different message than the client sent, so that message is judged.
            Some(frame) => CallToolRequest::read(frame.clone(), request.era())
                .map_err(|why| Blocked::new(GateCode::R3, why, "this is a bug in the gate; please report it"))
                .and_then(|restored| session.gate.read_call(&session.server, &Arc::new(restored))),
        };
        match (self.pass(call).await, begun.question()) {
            (Err(refusal), Some(question)) if refusal.code == GateCode::G3 => {
                Ok(format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{question}}}", self.id()).into_bytes())
            }
            (outcome, _) => outcome,
        }
    }

    async fn pass(&self, read: Result<ToolCall, Blocked>) -> Result<Vec<u8>, CallRefusal> {
        let Self { session, turn, request: message, .. } = self;
        if message.is_task()
            && let Err(why) = session.settings.passages.check(Some(Passage::Tasks))
        {
            return Err(self.refused_here(why).await);
        }
        let user_turn = match &self.user_turn {
            Ok(user_turn) => user_turn.clone(),
            Err(why) => return Err(self.refused_here(why.clone()).await),
        };
        let text = match &read {
            Ok(call) => call_text(&self.name, call.args()),
            Err(_) => refused_text(&self.name, message.raw_arguments()),
        };
        let request = session.gate.request((*turn).clone(), text).of_session(session.client_session.clone());
        let request = match user_turn {
            Some(user_turn) => request.of_user_turn(user_turn),
            None => request,
        };
        let planned = match planned(request, read).await {
            Ok(planned) => planned,
            Err(why) => {
                self.count_refused().await;
                return Err(why.into());
            }
        };
        let call = planned.planned().clone();
        let conformant = planned.conform().await?;
        let id = self.id();
        let promises = session.upstream.promises(&self.name);
        let at = ReplyContext { id, turn, era: message.era(), promises, own: false, owed: String::new() };
        let refused = async |episodes: &Episodes, why: &NotNow| {
            let at = ReplyContext { owed: session.owed_line(), ..at.clone() };
            not_now(episodes, why, &call, &at).await
        };
        let mut facts = session.episodes.as_ref().map(|episodes| episodes.facts(turn, &call));
        // Checked before anyone is asked to confirm the call.
        if let (Some(episodes), Some(facts)) = (&session.episodes, &mut facts)
            && let Some(permissions) = session.gate.permissions(call.tool())
            && call.hash().is_some()
            && let Err(why) = episodes.may(facts.demanding(&permissions))
        {
            self.count_refused().await;
            return Ok(refused(episodes, &why).await);
        }
        let authorized = conformant.authorize().await?;
        // An episode is a turn, which makes one call at a time: the next call is judged once this one's result is recorded.
        let _one_call = match &session.episodes {
            Some(episodes) => episodes.one_call().await,
            None => None,
        };
        let begun = match (&session.episodes, facts) {
            (Some(episodes), Some(mut facts)) => {
                facts.demanding(&authorized.authorized().demand().permissions);
                match episodes.begin(facts).await {
                    Ok(begun) => begun,
                    Err(why) => return Ok(refused(episodes, &why).await),
                }
            }
            _ => None,
        };
        // Later audit log entries about the call name its directive.
        let authorized = match begun.as_ref().and_then(UnfinishedCall::packet) {
            Some((packet_id, correlation_id)) => authorized.of_packet(packet_id, correlation_id),
            None => authorized,
        };
        let dispatched = match begun.as_ref().zip(session.episodes.as_ref()) {
            Some((begun, episodes)) => match begun.run(authorized.dispatch()).await {
                Ok(dispatched) => dispatched,
                Err(why) => {
                    let why = begun.taken_back(why);
                    return Ok(refused(episodes, &why).await);
                }
            },
            None => authorized.dispatch().await,
        };
        let mut outcome = match &dispatched {
            Ok(request) if request.answer().is_interim() => Outcome::cancelled("the server asks for more input first"),
            Ok(request) => Outcome::from_answer(request.answer()),
            Err(stopped) => Outcome::stopped(stopped),
        };
        let line = match (dispatched, call.response()) {
            (Ok(request), Some(response)) => passed(session, turn, request, response, id).await,
            (Err(Stopped::Failed(fault @ Fault::Refused { .. })), Some(response)) => Ok(match session.errors {
                ServerErrors::Raw => response.with_id(id),
                _ => failed::refused(response, &fault, id, &session.settings.passages),
            }),
            (Err(stopped), _) => Err(stopped.into()),
            // INVARIANT: an answer from the gate comes from the server.
            (Ok(_), None) => Err(Stopped::Failed(Fault::malformed("no answer was recorded")).into()),
        };
        let Some(begun) = begun else { return line };
        if let (Outcome::Answered(_), Err(withheld)) = (&outcome, &line) {
            outcome = Outcome::refused(withheld.code.as_str(), &withheld.reason, &withheld.unquoted, withheld.ran);
        }
        match (begun.end(&outcome).await, &session.episodes) {
            (Err(why), Some(episodes)) => {
                let why = episodes.unrecorded(turn, why);
                Ok(refused(episodes, &why).await)
            }
            _ => line,
        }
    }

    /// Refuses a call before the gate has it: that is recorded, counts for the order rules, and says what is owed.
    async fn refused_here(&self, why: Blocked) -> CallRefusal {
        self.count_refused().await;
        let why = self.session.recorded(self.turn, why).await;
        self.session.gate.with_debts(&self.session.client_session, why).into()
    }

    /// Counts a refusal in the user's turn, in which the gate counts too.
    async fn count_refused(&self) {
        if let Some(tool) = self.tool() {
            let turn = self.user_turn.as_ref().ok().and_then(Option::as_ref).unwrap_or(self.turn);
            let (session, args) = (&self.session.client_session, &*self.args());
            self.session.gate.count_refused(RefusedCall { session, turn, tool: &tool, args }).await;
        }
    }
}

/// Takes a request to its planned call.
async fn planned(request: Request<Received>, call: Result<ToolCall, Blocked>) -> Result<Request<Planned>, Blocked> {
    request.screen().await?.with_call(call).await
}

/// Performs the action of an episode's tool, once the reported text has been screened.
async fn drive(
    episodes: &Arc<Episodes>,
    own: OwnTool,
    request: &CallToolRequest,
    session: &ServerSession,
    turn: &TurnId,
) -> Vec<u8> {
    let (id, era, args) = (request.frame().raw_id(), request.era(), request.raw_arguments());
    if let Err(why) = observed(session, turn, own, args).await {
        let refusal = CallRefusal::from(why);
        warn!(code = %refusal.code, tool = own.name(), %turn, "refused `{}`: {}: {}", own.name(), refusal.code, refusal.unquoted);
        let call = episodes.own_id(own).and_then(|own| hash(turn, own, args));
        return refusal::result(&refusal, &RefusalContext { id, turn, call, era, promises: false });
    }
    episodes
        .drive(own, args, &ReplyContext { id, turn, era, promises: false, own: true, owed: session.owed_line() })
        .await
}

/// Screens what a model reports in its episode, which is where it states what its user has asked for (PG-0).
async fn observed(session: &ServerSession, turn: &TurnId, own: OwnTool, args: &str) -> Result<(), Blocked> {
    let is_screened = own == OwnTool::Observe && session.gate.has_patterns();
    let Some(stated) = reported(args).filter(|_| is_screened) else { return Ok(()) };
    let request = session.gate.request(turn.clone(), stated).of_session(session.client_session.clone());
    request.screen().await.map(drop)
}

/// Returns the hash of a call that is refused before the gate judges it.
fn hash(turn: &TurnId, tool: ToolId, raw_args: &str) -> Option<CallHash> {
    let permissions = Permissions::new([Permission::Read]).ok()?;
    let demand = Demand { tool, permissions, always_confirm: false };
    Some(Call::new(turn.clone(), demand, args(raw_args)).ok()?.hash())
}

/// Returns the line for a call that the episode refuses, or whose outcome it cannot record. The refusal is in the audit log.
async fn not_now(episodes: &Episodes, why: &NotNow, call: &ToolCall, at: &ReplyContext<'_>) -> Vec<u8> {
    let (code, tool) = (why.why.code(), call.tool());
    warn!(%code, %tool, turn = %at.turn, "the episode refuses a call: {code}: {}", why.why.unquoted());
    match episodes.record(why, at.turn, tool, call.hash(), None).await {
        Ok(()) => why.result(at),
        Err(unrecorded) => unrecorded_result(unrecorded, why, at),
    }
}

/// Returns the answer if it matches what the tool promises and requests nothing that the policy does not let pass.
async fn passed(
    session: &ServerSession,
    turn: &TurnId,
    request: Request<omen_gate::Dispatched>,
    response: &Frame,
    id: &str,
) -> Result<Vec<u8>, CallRefusal> {
    if request.answer().is_interim() {
        if let Some(requests) = request.answer().more.get("inputRequests")
            && let Err(why) = session.settings.passages.input_requests(requests)
        {
            let why = session.recorded(turn, why).await;
            return Err(CallRefusal { ran: Ran::Unknown, ..why.into() });
        }
        return Ok(response.with_id(id));
    }
    let request = request.as_promised().await.map_err(|untyped| as_text(&untyped))?;
    match (request.answer().fault(), session.errors) {
        (None, _) | (_, ServerErrors::Raw) => Ok(response.with_id(id)),
        (Some(fault), _) => Ok(failed::reported(response, request.answer(), &fault, id)),
    }
}

/// An answer that is not as its tool promises, as text. One whose refusal is not in the log is withheld (A1).
fn as_text(untyped: &Request<Untyped>) -> CallRefusal {
    let (answer, why) = (untyped.raw(), untyped.why());
    let refusal = CallRefusal { ran: Ran::Yes, ..why.clone().into() };
    if why.code != GateCode::Pg4 {
        return refusal;
    }
    CallRefusal { reason: failed::typing_blocked(why), untyped: Some(failed::untyped(answer)), ..refusal }
}

/// Returns the arguments as written; empty if they are not an object.
fn args(raw: &str) -> Map<String, Value> {
    serde_json::from_str(raw).unwrap_or_default()
}
