//! A `tools/call` of the client, from its frame to what the client gets: the steps of a request, as any program takes them.

use std::sync::Arc;

use omen_gate::config::ServerErrors;
use omen_gate::pipeline::{Request, Untyped};
use omen_gate::{
    Blocked, Call as Judged, CallHash, Demand, Fault, GateCode, Permission, Permissions, Ran, Stopped, ToolId, TurnId,
    bounded,
};
use serde_json::{Map, Value};
use tracing::{Span, warn};

use super::expected::Call;
use super::failed;
use super::screened::{reported, screened};
use super::session::ServerSession;
use crate::episode::{At, Begun, Episodes, NotNow, Outcome, OwnTool, unrecorded_result};
use crate::passage::Passage;
use crate::refusal::{Place, Refusal};
use omen_mcp::frame::{Frame, similar};
use omen_mcp::handshake::Era;
use omen_mcp::json;

/// A call that was read, and not judged.
#[derive(Debug)]
pub(crate) struct ToolCall {
    frame: Frame,
    era: Era,
    is_task: bool,
    /// The name of the tool, its arguments, and what stands beside them, as they are written.
    name: String,
    args: String,
    meta: Option<String>,
    /// Whether a tool of the episode may be meant: it has no prefix, where others have one.
    may_be_own: bool,
}

impl ToolCall {
    /// Reads the parameters.
    ///
    /// # Errors
    /// If they are not those of a call: then nothing was judged, and the error is one of the protocol.
    pub(crate) fn read(frame: Frame, era: Era, may_be_own: bool) -> Result<Self, String> {
        let members = frame.members().map_err(|flaw| flaw.to_string())?;
        if let Some(why) = members.iter().find_map(|member| similar(&member.key, &PARAMS)) {
            return Err(why);
        }
        let get =
            |key: &str| members.iter().find(|member| member.key == key).map(|member| frame.raw(member.span.clone()));
        let name = get("name").filter(|raw| raw.starts_with('"')).ok_or("expected a string for `name`")?.to_owned();
        let args = get("arguments").unwrap_or("{}").to_owned();
        let is_task = get("task").is_some();
        let meta = get("_meta").map(str::to_owned);
        drop(members);
        Ok(Self { frame, era, is_task, name, args, meta, may_be_own })
    }

    /// Takes the call through the gate, and gives the line for the client.
    pub(crate) async fn judge(self, session: &ServerSession, turn: &TurnId) -> Vec<u8> {
        let tool = json::text(&self.name, 0..self.name.len()).unwrap_or_default();
        Span::current().record("tool", bounded(&tool));
        let id_of = |tool: &str| Some(ToolId { server: session.server.clone(), tool: tool.parse().ok()? });
        let (id, era) = (self.frame.raw_id().to_owned(), self.era);
        let episodes = session.episodes.as_ref().filter(|_| self.may_be_own);
        if let Some((episodes, own)) = episodes.and_then(|all| Some((all, all.own(&tool)?))) {
            if let Err(why) = observed(session, turn, own, &self.args).await {
                let refusal = Refusal::from(why);
                warn!(code = %refusal.code, tool = own.name(), %turn, "refused `{}`: {}: {}", own.name(), refusal.code, refusal.unquoted);
                let call = episodes.own_id(own).and_then(|own| self.hash(session, own));
                return refusal.result(&Place { id: &id, turn, call, era, promises: false });
            }
            return episodes.drive(own, &self.args, &At { id: &id, turn, era, promises: false, own: true }).await;
        }
        let hash = id_of(&tool).and_then(|tool| self.hash(session, tool));
        let given = args(&self.args);
        let refused = match self.in_rounds(session, turn, &tool, hash).await {
            Ok(line) => return line,
            Err(refusal) => refusal,
        };
        let promises = session.upstream.promises(&tool);
        // A name that is none has no rules, and nothing is known of its arguments.
        let recordable = id_of(&tool).map(|tool| session.gate.recordable(&tool, &given)).unwrap_or_default();
        let noted = refused.noted(&recordable);
        if let Some(episodes) = &session.episodes {
            episodes
                .refused(turn, (&session.server, &tool), recordable.arguments(), refused.code.as_str(), noted)
                .await;
        }
        let tool = bounded(&tool);
        warn!(code = %refused.code, tool, %turn, "refused a call of `{tool}`: {}: {noted}", refused.code);
        refused.result(&Place { id: &id, turn, call: hash, era, promises })
    }

    /// In the era without a handshake, a call that has to be confirmed may be one of two: the first is answered with the
    /// question, and the second has the answer.
    async fn in_rounds(
        mut self,
        session: &ServerSession,
        turn: &TurnId,
        tool: &str,
        hash: Option<CallHash>,
    ) -> Result<Vec<u8>, Refusal> {
        let rounds = session.rounds.as_ref().filter(|_| self.era == Era::Stateless);
        let Some(rounds) = rounds else { return self.pass(session, turn, tool, hash).await };
        let begun = match rounds.begin(turn, &self.frame, hash) {
            Ok(begun) => begun,
            Err(why) => return Err(session.recorded(turn, why).await.into()),
        };
        let id = self.frame.raw_id().to_owned();
        self.frame = begun.frame.clone();
        match (self.pass(session, turn, tool, hash).await, begun.question()) {
            (Err(refusal), Some(question)) if refusal.code == GateCode::G3 => {
                Ok(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{question}}}").into_bytes())
            }
            (outcome, _) => outcome,
        }
    }

    async fn pass(
        self,
        session: &ServerSession,
        turn: &TurnId,
        tool: &str,
        hash: Option<CallHash>,
    ) -> Result<Vec<u8>, Refusal> {
        if self.is_task
            && let Err(why) = session.settings.passages.check(Some(Passage::Tasks))
        {
            return Err(session.recorded(turn, why).await.into());
        }
        let plan = format!(
            "{{\"type\":\"call_tool\",\"server\":{},\"tool\":{},\"args\":{}}}",
            Value::from(session.server.as_str()),
            self.name,
            self.args
        );
        let user_turn = match &session.episodes {
            // There, the episode is the turn.
            Some(episodes) if episodes.is_turn() => episodes.user_turn(),
            _ => match session.user_turns.of(self.meta.as_deref()) {
                Ok(user_turn) => user_turn,
                Err(why) => return Err(session.recorded(turn, why).await.into()),
            },
        };
        let request = session.gate.request(turn.clone(), screened(tool, &self.args));
        let request = request.of_session(session.client_session.clone());
        let request = match user_turn {
            Some(user_turn) => request.of_user_turn(user_turn),
            None => request,
        };
        let request = request.screen().await?;
        let planned = match request.plan(&plan).await?.call() {
            Ok(planned) => planned,
            // INVARIANT: the plan calls a tool.
            Err(_) => return Err(Blocked::new(GateCode::PgT, "the plan calls no tool", "call a tool").into()),
        };
        let id = self.frame.raw_id().to_owned();
        let call =
            Call::new(self.frame, self.era, self.is_task, planned.planned().tool().tool.clone(), args(&self.args));
        let call = Arc::new(call);
        let expected = session.upstream.expected.expect(turn, Arc::clone(&call));
        let planned_tool = planned.planned().tool().clone();
        let conformant = planned.conform().await?;
        let at = At { id: &id, turn, era: call.era, promises: session.upstream.promises(tool), own: false };
        // Before anybody is asked to confirm it.
        if let Some(episodes) = &session.episodes
            && let Some(permissions) = session.gate.permissions(&planned_tool)
            && let Some(asked) = judged(turn, &planned_tool, permissions, &self.args)
            && let Err(why) = episodes.may(&episodes.facts(&asked))
        {
            return Ok(not_now(episodes, &why, (&planned_tool, hash), &at).await);
        }
        let authorized = conformant.authorize().await?;
        // An episode is a turn, which makes one call at a time: the next one is judged when its result is recorded.
        let _one_call = match &session.episodes {
            Some(episodes) => episodes.one_call().await,
            None => None,
        };
        let begun = match &session.episodes {
            Some(episodes) => match episodes.begin(episodes.facts(authorized.authorized())).await {
                Ok(begun) => begun,
                Err(why) => return Ok(not_now(episodes, &why, (&planned_tool, hash), &at).await),
            },
            None => None,
        };
        // What the audit log says of the call from here on names its directive.
        let authorized = match begun.as_ref().and_then(Begun::packet) {
            Some((packet_id, correlation_id)) => authorized.of_packet(packet_id, correlation_id),
            None => authorized,
        };
        let dispatched = match begun.as_ref().zip(session.episodes.as_ref()) {
            Some((begun, episodes)) => match begun.run(authorized.dispatch()).await {
                Ok(dispatched) => dispatched,
                Err(why) => {
                    let why = begun.taken_back(why);
                    return Ok(not_now(episodes, &why, (&planned_tool, hash), &at).await);
                }
            },
            None => authorized.dispatch().await,
        };
        drop(expected);
        let response = call.answer();
        let mut outcome = match &dispatched {
            Ok(request) if request.answer().is_interim() => Outcome::cancelled("the server asks for more first"),
            Ok(request) => Outcome::of(request.answer()),
            Err(stopped) => Outcome::stopped(stopped),
        };
        let line = match (dispatched, response) {
            (Ok(request), Some(response)) => passed(session, turn, request, &response, &id).await,
            (Err(Stopped::Failed(fault @ Fault::Refused { .. })), Some(response)) => Ok(match session.errors {
                ServerErrors::Raw => response.with_id(&id),
                _ => failed::refused(&response, &fault, &id, &session.settings.passages),
            }),
            (Err(stopped), _) => Err(stopped.into()),
            // INVARIANT: an answer of the gate is one that the server gave.
            (Ok(_), None) => Err(Stopped::Failed(Fault::malformed("the answer is not there")).into()),
        };
        let Some(begun) = begun else { return line };
        if let (Outcome::Answered(_), Err(withheld)) = (&outcome, &line) {
            outcome = Outcome::refused(withheld.code.as_str(), &withheld.reason, &withheld.unquoted, withheld.ran);
        }
        match (begun.end(&outcome).await, &session.episodes) {
            (Err(why), Some(episodes)) => {
                let why = episodes.unrecorded(turn, why);
                Ok(not_now(episodes, &why, (&planned_tool, hash), &at).await)
            }
            _ => line,
        }
    }

    /// The hash of the call, if it has one: it does not depend on what the tool needs.
    fn hash(&self, session: &ServerSession, tool: ToolId) -> Option<CallHash> {
        let permissions = Permissions::new([Permission::Read]).ok()?;
        let demand = Demand { tool, permissions, always_confirm: false };
        Some(Judged::new(session.turn.clone(), demand, args(&self.args)).ok()?.hash())
    }
}

/// Screens what a model reports in its episode, which is where it states what its user has asked for (PG-0).
async fn observed(session: &ServerSession, turn: &TurnId, own: OwnTool, args: &str) -> Result<(), Blocked> {
    let is_screened = own == OwnTool::Observe && session.gate.has_patterns();
    let Some(stated) = reported(args).filter(|_| is_screened) else { return Ok(()) };
    let request = session.gate.request(turn.clone(), stated).of_session(session.client_session.clone());
    request.screen().await.map(drop)
}

/// A call that the gate has not authorized yet.
fn judged(turn: &TurnId, tool: &ToolId, permissions: Permissions, args_text: &str) -> Option<Judged> {
    let demand = Demand { tool: tool.clone(), permissions, always_confirm: false };
    Judged::new(turn.clone(), demand, args(args_text)).ok()
}

/// The line for a call that the episode does not let be made, or whose outcome it cannot record. It is in the audit log.
async fn not_now(episodes: &Episodes, why: &NotNow, (tool, call): (&ToolId, Option<CallHash>), at: &At<'_>) -> Vec<u8> {
    let code = why.why.code();
    warn!(%code, %tool, turn = %at.turn, "the episode refuses a call: {code}: {}", why.why.unquoted());
    match episodes.record(why, at.turn, tool, call, None).await {
        Ok(()) => why.result(at),
        Err(unrecorded) => unrecorded_result(unrecorded, why, at),
    }
}

/// The answer, if it is as the tool promises, and asks for nothing that the policy does not let pass.
async fn passed(
    session: &ServerSession,
    turn: &TurnId,
    request: Request<omen_gate::Dispatched>,
    response: &Frame,
    id: &str,
) -> Result<Vec<u8>, Refusal> {
    if request.answer().is_interim() {
        if let Some(requests) = request.answer().more.get("inputRequests")
            && let Err(why) = session.settings.passages.input_requests(requests)
        {
            let why = session.recorded(turn, why).await;
            return Err(Refusal { ran: Ran::Unknown, ..why.into() });
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
fn as_text(untyped: &Request<Untyped>) -> Refusal {
    let (answer, why) = (untyped.raw(), untyped.why());
    let refusal = Refusal { ran: Ran::Yes, ..why.clone().into() };
    if why.code != GateCode::Pg4 {
        return refusal;
    }
    Refusal { reason: failed::typing_blocked(why), untyped: Some(failed::untyped(answer)), ..refusal }
}

/// The arguments as a value; the gate has refused those that are not one before they are used.
fn args(raw: &str) -> Map<String, Value> {
    serde_json::from_str(raw).unwrap_or_default()
}

/// The keys of parameters that are judged, or that others give a meaning.
const PARAMS: [&str; 6] = ["name", "arguments", "_meta", "task", "inputResponses", "requestState"];
