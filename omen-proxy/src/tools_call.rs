//! A `tools/call` of the client, from its frame to what the client gets: the steps of a request, as any program takes them.

use std::sync::Arc;

use omen_gate::arguments::Recordable;
use omen_gate::pipeline::{Request, Untyped};
use omen_gate::{
    Blocked, Call as Judged, CallHash, Demand, Fault, GateCode, Permission, Permissions, Ran, Stopped, ToolId,
    ToolName, TurnId, bounded,
};
use serde_json::{Map, Value};

use crate::answer;
use crate::episode::{At, Begun, NotNow, Outcome, blocked};
use crate::frame::{Frame, similar};
use crate::json;
use crate::policy::{self, Passage, Passages};
use crate::refusal::{Place, Refusal};
use crate::screened::screened;
use crate::session::Era;
use crate::shared::Shared;
use crate::upstream::Call;

/// A call that was read, and not judged.
#[derive(Debug)]
pub(crate) struct Asked {
    frame: Frame,
    era: Era,
    is_task: bool,
    /// The name of the tool, and its arguments, as they are written.
    name: String,
    args: String,
}

impl Asked {
    /// Reads the parameters.
    ///
    /// # Errors
    /// If they are not those of a call: then nothing was judged, and the error is one of the protocol.
    pub(crate) fn read(frame: Frame, era: Era) -> Result<Self, String> {
        let members = frame.members().map_err(|flaw| flaw.to_string())?;
        if let Some(why) = members.iter().find_map(|member| similar(&member.key, &PARAMS)) {
            return Err(why);
        }
        let get =
            |key: &str| members.iter().find(|member| member.key == key).map(|member| frame.raw(member.span.clone()));
        let name = get("name").filter(|raw| raw.starts_with('"')).ok_or("expected a string for `name`")?.to_owned();
        let args = get("arguments").unwrap_or("{}").to_owned();
        let is_task = get("task").is_some();
        drop(members);
        Ok(Self { frame, era, is_task, name, args })
    }

    /// Takes the call through the gate, and gives the line for the client.
    pub(crate) async fn judge(self, shared: &Shared, turn: &TurnId) -> Vec<u8> {
        let tool = json::text(&self.name, 0..self.name.len()).unwrap_or_default();
        let hash = self.hash(shared, &tool);
        let (id, era) = (self.frame.raw_id().to_owned(), self.era);
        if let Some((episodes, own)) = shared.episodes.as_ref().and_then(|all| Some((all, all.own(&tool)?))) {
            return episodes.drive(own, &self.args, &At { id: &id, turn, era, promises: false, own: true }).await;
        }
        let given = args(&self.args);
        let refused = match self.in_rounds(shared, turn, &tool, hash).await {
            Ok(line) => return line,
            Err(refusal) => refusal,
        };
        let promises = shared.upstream.promises(&tool);
        // A name that is none has no rules, and nothing is known of its arguments.
        let named = ToolName::new(&tool).map(|tool| ToolId { server: shared.server.clone(), tool });
        let recordable = named.map_or_else(|_| Recordable::default(), |tool| shared.gate.recordable(&tool, &given));
        let noted = refused.noted(&recordable);
        if let Some(episodes) = &shared.episodes {
            episodes.refused(turn, &tool, recordable.arguments(), refused.code.as_str(), noted).await;
        }
        shared.note(format_args!("refused a call of `{}`: {}: {noted}", bounded(&tool), refused.code));
        refused.result(&Place { id: &id, turn, call: hash, era, promises })
    }

    /// In the era without a handshake, a call that has to be confirmed may be one of two: the first is answered with the
    /// question, and the second has the answer.
    async fn in_rounds(
        mut self,
        shared: &Shared,
        turn: &TurnId,
        tool: &str,
        hash: Option<CallHash>,
    ) -> Result<Vec<u8>, Refusal> {
        let rounds = shared.rounds.as_ref().filter(|_| self.era == Era::Stateless);
        let Some(rounds) = rounds else { return self.pass(shared, turn, tool).await };
        let begun = match rounds.begin(turn, &self.frame, hash) {
            Ok(begun) => begun,
            Err(why) => return Err(recorded(shared, turn, why).await.into()),
        };
        let id = self.frame.raw_id().to_owned();
        self.frame = begun.frame.clone();
        match (self.pass(shared, turn, tool).await, begun.question()) {
            (Err(refusal), Some(question)) if refusal.code == GateCode::G3 => {
                Ok(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{question}}}").into_bytes())
            }
            (outcome, _) => outcome,
        }
    }

    async fn pass(self, shared: &Shared, turn: &TurnId, tool: &str) -> Result<Vec<u8>, Refusal> {
        if self.is_task
            && let Err(why) = shared.passages.check(Some(Passage::Tasks))
        {
            return Err(recorded(shared, turn, why).await.into());
        }
        let plan = format!(
            "{{\"type\":\"call_tool\",\"server\":{},\"tool\":{},\"args\":{}}}",
            Value::from(shared.server.as_str()),
            self.name,
            self.args
        );
        let request = shared.gate.request(turn.clone(), screened(tool, &self.args));
        let request = request.of_session(shared.client_session.clone()).screen().await?;
        let planned = match request.plan(&plan).await?.call() {
            Ok(planned) => planned,
            // INVARIANT: the plan calls a tool.
            Err(_) => return Err(Blocked::new(GateCode::PgT, "the plan calls no tool", "call a tool").into()),
        };
        let id = self.frame.raw_id().to_owned();
        let call =
            Call::new(self.frame, self.era, self.is_task, planned.planned().tool().tool.clone(), args(&self.args));
        let call = Arc::new(call);
        let expected = shared.upstream.expected.expect(turn, Arc::clone(&call));
        let planned_tool = planned.planned().tool().clone();
        let conformant = planned.conform().await?;
        let at = At { id: &id, turn, era: call.era, promises: shared.upstream.promises(tool), own: false };
        // Before anybody is asked to confirm it.
        if let Some(episodes) = &shared.episodes
            && let Some(permissions) = shared.gate.permissions(&planned_tool)
            && let Some(asked) = judged(turn, &planned_tool, permissions, &self.args)
            && let Err(why) = episodes.may(&episodes.facts(&asked))
        {
            return Ok(not_now(shared, &why, &at).await);
        }
        let authorized = conformant.authorize().await?;
        let begun = match &shared.episodes {
            Some(episodes) => match episodes.begin(episodes.facts(authorized.authorized())).await {
                Ok(begun) => begun,
                Err(why) => return Ok(not_now(shared, &why, &at).await),
            },
            None => None,
        };
        // What the audit log says of the call from here on names its directive.
        let authorized = match begun.as_ref().and_then(Begun::packet) {
            Some((packet_id, correlation_id)) => authorized.of_packet(packet_id, correlation_id),
            None => authorized,
        };
        let dispatched = match &begun {
            Some(begun) => match begun.run(authorized.dispatch()).await {
                Ok(dispatched) => dispatched,
                Err(why) => return Ok(not_now(shared, &begun.taken_back(why), &at).await),
            },
            None => authorized.dispatch().await,
        };
        drop(expected);
        let response = call.answer();
        let mut outcome = match &dispatched {
            Ok(request) if answer::is_interim(request.answer()) => Outcome::cancelled("the server asks for more first"),
            Ok(request) => Outcome::of(request.answer()),
            Err(stopped) => Outcome::stopped(stopped),
        };
        let line = match (dispatched, response) {
            (Ok(request), Some(response)) => passed(shared, turn, request, &response, &id).await,
            // The server's own error is what the client would have without the proxy.
            (Err(Stopped::Failed(Fault::Refused { .. })), Some(response)) => Ok(response.with_id(&id)),
            (Err(stopped), _) => Err(stopped.into()),
            // INVARIANT: an answer of the gate is one that the server gave.
            (Ok(_), None) => Err(Stopped::Failed(Fault::malformed("the answer is not there")).into()),
        };
        let Some(begun) = begun else { return line };
        if let (Outcome::Answered(_), Err(withheld)) = (&outcome, &line) {
            outcome = Outcome::refused(withheld.code.as_str(), &withheld.reason, &withheld.unquoted, withheld.ran);
        }
        match (begun.end(&outcome).await, &shared.episodes) {
            (Err(why), Some(episodes)) => Ok(not_now(shared, &episodes.unrecorded(turn, why), &at).await),
            _ => line,
        }
    }

    /// The hash of the call, if it has one: it does not depend on what the tool needs.
    fn hash(&self, shared: &Shared, tool: &str) -> Option<CallHash> {
        let tool = ToolId { server: shared.server.clone(), tool: tool.parse().ok()? };
        let permissions = Permissions::new([Permission::Read]).ok()?;
        let demand = Demand { tool, permissions, always_confirm: false };
        Some(Judged::new(shared.session_turn.clone(), demand, args(&self.args)).ok()?.hash())
    }
}

/// A call that the gate has not authorized yet.
fn judged(turn: &TurnId, tool: &ToolId, permissions: Permissions, args_text: &str) -> Option<Judged> {
    let demand = Demand { tool: tool.clone(), permissions, always_confirm: false };
    Judged::new(turn.clone(), demand, args(args_text)).ok()
}

/// The line for a call that the episode does not let be made, or whose outcome it cannot record. It is in the audit log.
async fn not_now(shared: &Shared, why: &NotNow, at: &At<'_>) -> Vec<u8> {
    shared.note(format_args!("the episode refuses a call: {}: {}", why.why.code(), why.why.unquoted()));
    match shared.gate.refused(at.turn, &blocked(why)).await {
        Ok(()) => why.result(at),
        Err(unrecorded) => {
            let refusal = Refusal { ran: why.ran, ..unrecorded.into() };
            refusal.result(&Place { id: at.id, turn: at.turn, call: None, era: at.era, promises: at.promises })
        }
    }
}

/// The answer, if it is as the tool promises, and asks for nothing that the policy does not let pass.
async fn passed(
    shared: &Shared,
    turn: &TurnId,
    request: Request<omen_gate::Dispatched>,
    response: &Frame,
    id: &str,
) -> Result<Vec<u8>, Refusal> {
    if answer::is_interim(request.answer()) {
        if let Some(requests) = request.answer().more.get("inputRequests")
            && let Err(why) = input_requests(&shared.passages, requests)
        {
            let why = recorded(shared, turn, why).await;
            return Err(Refusal { ran: Ran::Unknown, ..why.into() });
        }
        return Ok(response.with_id(id));
    }
    let withheld = |untyped: Request<Untyped>| Refusal { ran: Ran::Yes, ..untyped.why().clone().into() };
    request.as_promised().await.map(|_| response.with_id(id)).map_err(withheld)
}

/// Whether what a result asks of the client may pass.
pub(crate) fn input_requests(passages: &Passages, requests: &Value) -> Result<(), Blocked> {
    match policy::of_input_requests(requests) {
        Ok(asked) => asked.into_iter().try_for_each(|passage| passages.check(passage)),
        Err(why) => passages.judge(Err(why)),
    }
}

async fn recorded(shared: &Shared, turn: &TurnId, why: Blocked) -> Blocked {
    match shared.gate.refused(turn, &why).await {
        Ok(()) => why,
        Err(unrecorded) => unrecorded,
    }
}

/// The arguments as a value; the gate has refused those that are not one before they are used.
fn args(raw: &str) -> Map<String, Value> {
    serde_json::from_str(raw).unwrap_or_default()
}

/// The keys of parameters that are judged, or that others give a meaning.
const PARAMS: [&str; 6] = ["name", "arguments", "_meta", "task", "inputResponses", "requestState"];
