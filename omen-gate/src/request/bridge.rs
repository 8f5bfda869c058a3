//! Bridge from an episode to the gate: runs a task and returns its result.

use std::sync::Arc;

use omen_fsm::episode::{Closed, Json, Lapsed, NotStarted, Pending, Running, Settled, Watch};
use omen_types::fit::cut;
use omen_types::{ErrorDetails, MethodKind};
use serde_json::{Map, Value, json};

use crate::base::{Blocked, GateCode, Permission, ToolId, ToolName, TurnId};
use crate::call::{Answer, Ran, ToolCall};
use crate::request::audit_queue::EpisodePacket;
use crate::request::context::RequestContext;
use crate::request::directive::{Directive, lapsed};
use crate::request::gate::Gate;
use crate::request::pipeline::Request;
use crate::request::state::{Dispatched, Planned};
use crate::request::stopped::Stopped;
use crate::request::user_inputs;

impl Gate {
    /// Runs a task of an episode through the gate, and returns its result. The episode is the turn: its correlation id
    /// is the turn id, and the audit log entries also contain the packet id of the directive.
    ///
    /// The types guarantee that a directive that writes was sent with a permit. Its token, the operator's grants and,
    /// if required, a confirmation are checked together here: a tool that may do more than read needs an unexpired
    /// token, whatever the agent says about the tool.
    ///
    /// The tool is called only while the directive is open in its episode. This is checked at the start, right before
    /// the call and until the call ends: safe mode, a revoked token or a result from elsewhere cancels the call (D52).
    ///
    /// A directive allows one call, across all handles of its task and all gates, so a resumed task does not run twice
    /// (PG-6). This also holds after a restart: the audit log shows which directives have had their call.
    /// [`Gate::closed`] forgets the turn of a closed episode.
    ///
    /// User requests arrive as observations. If the policy has patterns, the user inputs that the directive depends on
    /// ([`Pending::user_inputs`]) are screened before any server is contacted, and again right before the call; without
    /// user inputs there is no call (PG-0, D68). There is no planner text for PG-1 to check: the rules of the episode
    /// have checked the directive. PG-2 to PG-4 and PG-6 apply as for any request.
    ///
    /// A tool is named `server/tool`, or just by its own name if only one allowed server has it.
    ///
    /// The result is SUCCESS with the answer's structured content if an output type is registered for the tool and the answer
    /// has that type (PG-4). Without a registered type, it is SUCCESS with the whole answer, marked `"typed": false`.
    /// Everything else is FAILURE, with the code of the rule or the class of the fault as `error_code`; `tool_calls_used` says
    /// whether the tool was called. An answer without the registered type is a FAILURE with the code PG-4 and the raw answer,
    /// marked `"typed": false`, as `result_data`. A raw answer longer than [`MAX_RAW_ANSWER`] bytes of JSON is reduced to the
    /// two ends of its text, in `cut`, with its length in `bytes` (D68).
    pub async fn run(&self, task: Pending) -> Settled {
        // The only place where a handle of the task becomes the one that may call its tool (D52).
        let task = match task.start() {
            Ok(task) => task,
            Err(NotStarted { task, why }) => {
                let stopped = self.not_started(&task, why).await;
                return task.failed(stopped.details()).used(0, 0);
            }
        };
        match self.carry_out(&task).await {
            Ok(data) => task.success(data).used(0, 1),
            Err(not_done) => {
                let details = not_done.details();
                match not_done {
                    NotDone { raw: Some(raw), .. } => task.failed(details).raw(raw).used(0, 1),
                    NotDone { was_called: true, .. } => task.failed(details).used(0, 1),
                    NotDone { .. } => task.not_called().failed(details).used(0, 0),
                }
            }
        }
    }

    /// Forgets the turn of a closed episode, which sends no more directives. A gate remembers at most
    /// [`MAX_TURNS`](crate::MAX_TURNS) turns.
    pub fn closed(&self, episode: &Closed) {
        // An id that is not a valid turn id never had a turn here.
        if let Ok(turn) = TurnId::new(episode.correlation_id().as_str()) {
            self.end_turn(&turn);
        }
    }

    /// Builds the context of a task; the episode is the turn.
    fn context_of(&self, task: &Pending, watch: Option<Watch>) -> Result<RequestContext, Blocked> {
        let id = TurnId::new(task.correlation_id().as_str());
        let id = id.map_err(|error| Blocked::new(GateCode::A2, error.to_string(), "give the episode another id"))?;
        let directive = Directive {
            packet: Arc::new(EpisodePacket {
                packet_id: Some(task.directive().clone()),
                correlation_id: task.correlation_id().clone(),
            }),
            authority: task.authority().cloned(),
            deadline: task.deadline(),
            watch,
        };
        Ok(RequestContext::new(id, Some(directive), self.audit_queue().clone()).owing(self.order()))
    }

    /// Refuses a task that its episode does not allow to start, and records the attempt.
    async fn not_started(&self, task: &Pending, why: Lapsed) -> NotDone {
        match self.context_of(task, None) {
            Ok(context) => {
                match context
                    .with_request_data(user_inputs::inputs(&task.user_inputs()))
                    .check::<Value>(Err(lapsed(why)))
                    .await
                {
                    Err(blocked) => blocked.into(),
                    Ok(_) => lapsed(why).into(),
                }
            }
            Err(blocked) => blocked.into(),
        }
    }

    async fn carry_out(&self, task: &Running) -> Result<Value, NotDone> {
        let context = self.context_of(task, Some(task.watch().clone()))?;
        let context = context.with_request_data(user_inputs::inputs(&task.user_inputs()));
        context.check(context.stands(self.clock())).await?;
        context.check_or_try(self.is_shadow(), context.screened(&self.policy())).await?;
        let call = context.check(self.call_of(task)).await?;
        let context = context.planning(call.tool(), self.recorded(call.tool(), call.args(), None));
        let authorized = self.authorized_by(task, call.tool());
        if authorized.is_err() {
            self.order().refused(context.origin(), call.tool(), call.args()).await;
        }
        context.check(authorized).await?;
        let request = Request { gate: self.clone(), context, state: Planned { call } };
        let request = request.conform().await?.authorize().await?.dispatch().await?;
        result(request).await
    }

    fn call_of(&self, task: &Pending) -> Result<ToolCall, Blocked> {
        let method = task.method();
        let (MethodKind::Tool, Some(name)) = (method.method, &method.tool_id) else {
            let message = format!("the task `{}` calls no tool", task.task_id());
            return Err(Blocked::new(
                GateCode::Pg2,
                message,
                "run a task without a tool call outside of the gate, and settle it",
            ));
        };
        let args = method.tool_params.clone().unwrap_or_default();
        Ok(ToolCall::new(self.tool_of(name)?, args))
    }

    fn tool_of(&self, name: &str) -> Result<ToolId, Blocked> {
        let allowed = self.allowed();
        let found = |fits: &dyn Fn(&ToolId) -> bool| {
            let mut tools = allowed.iter().map(|allowed| &allowed.demand.tool).filter(|tool| fits(tool));
            (tools.next(), tools.next())
        };
        // Names may contain `/`, so a name may be ambiguous even with its server.
        let by_both = found(&|tool| tool.to_string() == name);
        let by_either = if by_both.0.is_some() { by_both } else { found(&|tool| tool.tool.as_str() == name) };
        match by_either {
            (Some(tool), None) => Ok(tool.clone()),
            (Some(one), Some(other)) => {
                let message = format!("`{name}` is ambiguous: it may be `{one}` or `{other}`");
                let reason = "the name of the tool is ambiguous";
                Err(Blocked::new(GateCode::Pg3, message, "qualify the name of the tool with its server")
                    .unquoted_as(reason))
            }
            (None, _) => {
                let message = format!("the tool `{name}` is not allowed");
                // A directive may contain any text in place of a tool name.
                let reason = match name.split('/').all(|part| ToolName::new(part).is_ok()) {
                    true => message.clone(),
                    false => "the tool of the directive is not allowed".to_owned(),
                };
                let help = "ask the operator to add the tool and its server to the allowlist";
                Err(Blocked::new(GateCode::Pg3, message, help).unquoted_as(reason))
            }
        }
    }

    /// Requires a token for a tool that may do more than read.
    fn authorized_by(&self, task: &Pending, tool: &ToolId) -> Result<(), Blocked> {
        let allowed = self.allowed();
        let demand = allowed.get(tool).map(|allowed| &allowed.demand);
        let beyond =
            demand.and_then(|demand| demand.permissions.iter().find(|permission| *permission != Permission::Read));
        match (beyond, task.authority()) {
            (Some(permission), None) => {
                let message = format!("`{tool}` needs `{permission}`, and its directive was sent without a token");
                let help = "declare the tool as one that writes, and send its directive `.with(permit)`";
                Err(Blocked::new(GateCode::G1, message, help))
            }
            _ => Ok(()),
        }
    }
}

/// Returns the result of a task. If a type is registered, the answer must have that type.
async fn result(request: Request<Dispatched>) -> Result<Value, NotDone> {
    let after = |stopped: Stopped| NotDone { stopped, was_called: true, raw: None };
    if let Some(fault) = request.answer().fault() {
        return Err(after(fault.into()));
    }
    let Request { gate, context, state: Dispatched { tool, listed, answer } } = request;
    if gate.outputs().has(&tool) {
        return match gate.outputs().check_output(&listed, answer) {
            Ok(value) => Ok(value),
            Err(untyped) => {
                let (answer, why) = untyped.into_parts();
                // If the refusal cannot be recorded, the answer is withheld (A1).
                context.check::<Value>(Err(why)).await.map_err(|why| match why.code {
                    GateCode::Pg4 => {
                        let why = Blocked { message: format!("{TYPING_BLOCKED}: {}", why.message), ..why };
                        NotDone { raw: Some(bounded_raw(&answer)), ..after(why.into()) }
                    }
                    _ => after(why.into()),
                })
            }
        };
    }
    Ok(marked(&answer))
}

/// Returns the members of an answer, marked as not typed.
fn marked(answer: &Answer) -> Value {
    let mut data = Map::new();
    if let Ok(Value::Object(answer)) = serde_json::to_value(answer) {
        data.extend(answer);
    }
    // Inserted last, because the answer may have a member of this name.
    data.insert("typed".to_owned(), Value::Bool(false));
    Value::Object(data)
}

/// Returns the raw answer, shortened to fit on a line of the episode's log.
fn bounded_raw(answer: &Answer) -> Json {
    let whole = marked(answer);
    let mut text = whole.to_string();
    let bytes = text.len();
    if bytes <= MAX_RAW_ANSWER
        && let Ok(fits) = Json::new(whole)
    {
        return fits;
    }
    cut(&mut text, MAX_RAW_ANSWER);
    Json::new(json!({ "bytes": bytes, "cut": text, "typed": false })).unwrap_or(Json::NULL)
}

/// Maximum length of the raw answer in the `result_data` of a FAILURE (PG-4), in bytes of JSON.
pub const MAX_RAW_ANSWER: usize = 65_536;

const TYPING_BLOCKED: &str = "typed parsing blocked";

/// Failed task.
struct NotDone {
    stopped: Stopped,
    /// Whether the tool was called, so that the call counts against the episode's budget.
    was_called: bool,
    /// Answer, if it does not have the promised type.
    raw: Option<Json>,
}

impl NotDone {
    fn details(&self) -> ErrorDetails {
        let class = match &self.stopped {
            Stopped::Failed(fault) => Some(fault.class()),
            _ => None,
        };
        let code = class.map_or(self.stopped.code().as_str(), |class| class.as_str());
        ErrorDetails::builder()
            .error_code(code)
            .error_message(self.stopped.to_string())
            .maybe_is_transient(class.map(|class| class.is_transient()))
            .retry_recommended(class.is_some_and(|class| class.is_retryable()))
            .build()
    }
}

impl From<Stopped> for NotDone {
    fn from(stopped: Stopped) -> Self {
        Self { was_called: stopped.ran() != Ran::No, stopped, raw: None }
    }
}

impl From<Blocked> for NotDone {
    fn from(blocked: Blocked) -> Self {
        Stopped::from(blocked).into()
    }
}
