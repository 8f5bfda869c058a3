//! Messages that are not calls: filtered tool lists, records of refusals, and the end of a turn.

use std::collections::BTreeMap;
use std::sync::Arc;

use omen_fsm::Event;
use omen_types::{Code, CorrelationId};
use serde_json::{Map, Value, json};

use crate::base::{Blocked, GateCode, ServerName, ToolId, ToolName, TurnId};
use crate::call::{CallHash, Ran, Tool};
use crate::catalog::{BadCatalog, Catalog, Listed};
use crate::request::audit_queue::{EpisodePacket, data};
use crate::request::context::RequestContext;
use crate::request::gate::Gate;
use crate::request::order::{CallOrigin, named};
use omen_audit::Kind;
use omen_order::{Owed, text};

impl Gate {
    /// Returns the reason why each tool in a server's list may not be called, or `None` if it may: its form is allowed (PG-3),
    /// and its schema is usable (PG-2). Nothing is recorded, and each call is checked again against the list at that time.
    ///
    /// # Errors
    /// If the list is too long.
    pub fn listed(
        &self,
        server: &ServerName,
        tools: Vec<Tool>,
    ) -> Result<BTreeMap<ToolName, Option<Blocked>>, BadCatalog> {
        let mut catalog = Catalog::default();
        catalog.list(server.clone(), tools)?;
        Ok(catalog.iter().map(|listed| (listed.id().tool.clone(), self.may_be_called(listed).err())).collect())
    }

    /// Returns the tools of a server that are on the allowlist, whether or not the server lists them.
    #[must_use]
    pub fn allowed_tools(&self, server: &ServerName) -> Vec<ToolName> {
        let allowed = self.allowed();
        let of_server = allowed.iter().filter(|allowed| allowed.demand.tool.server == *server);
        of_server.map(|allowed| allowed.demand.tool.tool.clone()).collect()
    }

    /// Returns whether the policy in force has patterns that screen queries (PG-0).
    #[must_use]
    pub fn has_patterns(&self) -> bool {
        self.policy().has_patterns()
    }

    fn may_be_called(&self, listed: &Listed) -> Result<(), Blocked> {
        self.allowed().permit(listed)?;
        match listed.problem() {
            None => Ok(()),
            Some(why) => {
                let message = format!("the tool `{}` cannot be called: {why}", listed.id());
                let help = "its server must list it once, with an `inputSchema` that the gate supports";
                Err(Blocked::new(GateCode::Pg2, message, help).quoting_nothing())
            }
        }
    }

    /// Records a refusal of something other than a call, such as a message from a server to its client (G4).
    ///
    /// # Errors
    /// If the refusal cannot be recorded (A1).
    pub async fn refused(&self, turn: &TurnId, why: &Blocked) -> Result<(), Blocked> {
        let entry = json!({ "code": why.code.as_str(), "outcome": "denied", "why": why.unquoted() });
        self.context(turn).record(Kind::Decision, data(entry)).await
    }

    /// Records a refusal by the rules of an episode, under the protocol's code rather than one of the gate's (G4, D76).
    ///
    /// # Errors
    /// If the refusal cannot be recorded (A1).
    pub async fn refused_by_episode(&self, turn: &TurnId, refused: EpisodeRefusal<'_>) -> Result<(), Blocked> {
        let EpisodeRefusal { code, also, episode, tool, call, proposal, ran, why } = refused;
        let mut entry = data(json!({
            "code": code.as_str(), "outcome": "denied", "stage": EPISODE, "tool": tool, "ran": ran, "why": why,
        }));
        let also: Vec<_> = also.iter().map(|code| code.as_str()).collect();
        entry.extend((!also.is_empty()).then(|| ("also".to_owned(), json!(also))));
        entry.extend(call.map(|call| ("call".to_owned(), json!(call))));
        entry.extend(proposal.map(|event| ("proposal".to_owned(), event.as_str().into())));
        let episode = episode.map(|id| Arc::new(EpisodePacket { packet_id: None, correlation_id: id.clone() }));
        self.audit_queue().append(Kind::Decision, turn, episode.as_ref(), entry).await.map(drop)
    }

    /// Counts a call that the gate's caller refuses itself, for order rules about calls that were requested or
    /// refused. Nothing else is recorded about it.
    pub async fn count_refused(&self, call: RefusedCall<'_>) {
        let RefusedCall { session, turn, tool, args } = call;
        self.order().refused(CallOrigin { session, turn }, tool, args).await;
    }

    /// Returns a sentence for a tool's description on what the order rules say about its calls; `None` if it has no rules.
    #[must_use]
    pub fn order_sentence(&self, tool: &ToolId) -> Option<String> {
        self.0.rules.with(|rules| text::sentence(&rules.order, &named(tool)))
    }

    /// Records the tools that were removed from a list because they may not be called, with the reasons (G4).
    ///
    /// # Errors
    /// If an entry cannot be recorded (A1).
    pub async fn left_out(&self, turn: &TurnId, tools: &[(String, Blocked)]) -> Result<(), Blocked> {
        for some in tools.chunks(TOOLS_AN_ENTRY) {
            let of = |(tool, why): &(String, Blocked)| json!({ "code": why.code.as_str(), "tool": crate::base::bounded(tool), "why": why.unquoted() });
            let entry = json!({ "outcome": "left_out", "tools": some.iter().map(of).collect::<Vec<_>>() });
            self.context(turn).record(Kind::Decision, data(entry)).await?;
        }
        Ok(())
    }

    /// Records that a turn is over and why, and forgets it as [`Gate::end_turn`] does, with the same result. When this
    /// returns, all earlier entries of the gate are in the log, including outcomes of calls that nobody waited for.
    ///
    /// # Errors
    /// If the end of the turn cannot be recorded (A1).
    pub async fn turn_is_over(&self, turn: &TurnId, why: &str) -> Result<Vec<Owed>, Blocked> {
        let owed = self.end_turn(turn);
        let entry = json!({ "outcome": "over", "why": crate::base::bounded(why) });
        self.context(turn).record(Kind::Turn, data(entry)).await?;
        Ok(owed)
    }

    fn context(&self, turn: &TurnId) -> RequestContext {
        RequestContext::new(turn.clone(), None, self.audit_queue().clone())
    }
}

/// Refusal by the rules of an episode: of a tool call, or of a packet proposed through a tool of the episode.
#[derive(Clone, Copy, Debug)]
pub struct EpisodeRefusal<'r> {
    /// First violated rule of the protocol.
    pub code: Code,
    /// Further rules that refuse for the same reason.
    pub also: &'r [Code],
    /// Episode that refuses, if any.
    pub episode: Option<&'r CorrelationId>,
    /// Called tool, which belongs to a server or to the episode.
    pub tool: &'r ToolId,
    /// Hash of the call, if a server's tool was called.
    pub call: Option<CallHash>,
    /// Event of the proposed packet, such as `decide_act`; `None` if unknown or if a call is refused.
    pub proposal: Option<Event>,
    /// Whether the tool ran.
    pub ran: Ran,
    /// Reason. It is recorded verbatim and must not quote a model's text.
    pub why: &'r str,
}

/// Call that the gate's caller refuses itself.
#[derive(Clone, Copy, Debug)]
pub struct RefusedCall<'c> {
    /// Session of the requesting client.
    pub session: &'c TurnId,
    /// Turn of the call: the user's turn, if the call is part of one.
    pub turn: &'c TurnId,
    /// Called tool.
    pub tool: &'c ToolId,
    /// Arguments.
    pub args: &'c Map<String, Value>,
}

/// Stage of an episode's decisions.
pub(crate) const EPISODE: &str = "episode";

/// Number of tools in one entry, which keeps an entry within the limit even with the longest tool names.
const TOOLS_AN_ENTRY: usize = 256;
