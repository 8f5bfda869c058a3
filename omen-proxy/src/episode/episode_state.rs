//! State that the proxy keeps for an episode: what is stated, what was cited, and what the proxy has seen.

use std::collections::VecDeque;

use omen_fsm::episode::Allow;
use omen_fsm::{Event, Node, NodeSet};
use omen_invariants::ledger::Overrun;
use omen_types::packet::{
    AlertSeverity, AlertType, EvidenceRef, IntegrityAlertPayload, PacketId, PacketType, RefType, TaskId, Text,
    Timestamp, TokenId, ToolsState,
};
use omen_types::{Code, Diagnostic};
use serde_json::{Map, Value, json};

use super::budgets::Budgets;
use super::call_facts::CallFacts;
use super::call_record::CallRecord;
use super::decided_tools::{DecidedTools, Scope};
use super::drafts;
use super::envelope::{StatedParts, reference};
use super::not_stated::not_stated;
use super::outcome::Outcome;
use super::recorder::{Recorder, SentPacket, unused};
use super::step_refusal::StepRefusal;

/// State that the proxy keeps for one episode, with the recorder of its packets.
pub(super) struct EpisodeState {
    pub(super) recorder: Recorder,
    pub(super) budgets: Budgets,
    /// Envelope parts in force; none before the first packet.
    stated: Option<StatedParts>,
    /// Evidence in force, until other evidence is named.
    pub(super) cited: Vec<EvidenceRef>,
    /// Citable packets, the latest last.
    seen: VecDeque<CitablePacket>,
    /// Whether tools work, as far as the proxy knows.
    pub(super) tools: ToolsState,
    /// Latest decision.
    pub(super) decision: Option<PacketId>,
    /// Tools named by the decision; `None` if only the gate decides on each call.
    pub(super) chosen: Option<DecidedTools>,
    calls: u64,
    pub(super) calls_used: u64,
    /// Reason why the episode was last halted.
    halted_because: Option<String>,
}

/// Packet that may be cited because the proxy has seen its content.
#[derive(Clone, Debug)]
pub(super) struct CitablePacket {
    pub(super) packet_id: PacketId,
    pub(super) ref_type: RefType,
    pub(super) at: Timestamp,
    /// Tool that produced the content.
    pub(super) from: String,
}

/// How a call is recorded in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// As a directive with its own token.
    Token,
    Directive,
    /// As an observation of its output.
    Observation,
}

impl EpisodeState {
    pub(super) fn new(recorder: Recorder, budgets: Budgets) -> Self {
        Self {
            recorder,
            budgets,
            stated: None,
            cited: Vec::new(),
            seen: VecDeque::new(),
            tools: ToolsState::ToolsOk,
            decision: None,
            chosen: None,
            calls: 0,
            calls_used: 0,
            halted_because: None,
        }
    }

    /// Returns the envelope parts in force, updated with those given now.
    pub(super) fn stating(&self, mcp: Option<&Value>) -> Result<StatedParts, StepRefusal> {
        self.stated.clone().unwrap_or_default().with(mcp)
    }

    /// Returns references to the packets named as evidence.
    pub(super) fn citing(&self, named: &[String]) -> Result<Vec<EvidenceRef>, StepRefusal> {
        let find = |(at, id): (usize, &String)| {
            let seen = self.seen.iter().find(|seen| seen.packet_id.as_str() == id);
            let found = seen.and_then(|seen| reference(seen.ref_type, id, &seen.at));
            found.ok_or_else(|| {
                let problem = format!("`{id}` is not an output of a tool or an answer of the user in this episode");
                let finding = Diagnostic::error(Code::Inv004, problem).at(format!("/evidence/{at}"));
                StepRefusal::finding(finding.help(self.citable()))
            })
        };
        named.iter().enumerate().map(find).collect()
    }

    /// Returns the packets that can be cited, as text.
    fn citable(&self) -> String {
        match self.seen.len() {
            0 => "call a tool that reads: its output can be cited".to_owned(),
            _ => {
                let all: Vec<_> = self.seen().map(|seen| format!("`{}` ({})", seen.packet_id, seen.from)).collect();
                format!("name one of {}", all.join(", "))
            }
        }
    }

    pub(super) fn seen(&self) -> impl Iterator<Item = &CitablePacket> {
        self.seen.iter()
    }

    /// Sends a packet from the model, and keeps what it states if it was accepted.
    pub(super) fn send(
        &mut self,
        packet_type: PacketType,
        payload: &Value,
        stated: StatedParts,
        cited: Vec<EvidenceRef>,
    ) -> Result<SentPacket, StepRefusal> {
        let mcp = stated.envelope(self.budgets, &cited, self.tools);
        let sent = self.recorder.propose(Allow::moves(), packet_type, payload, &mcp)?;
        if packet_type == PacketType::DecisionPacket {
            self.decision = Some(sent.packet_id.clone());
        }
        (self.stated, self.cited) = (Some(stated), cited);
        Ok(sent)
    }

    /// Judges a packet from the model without sending it.
    pub(super) fn judge(
        &self,
        packet_type: PacketType,
        payload: &Map<String, Value>,
        stated: &StatedParts,
        cited: &[EvidenceRef],
    ) -> Result<(), StepRefusal> {
        let mcp = stated.envelope(self.budgets, cited, self.tools);
        self.recorder.probe(&[(packet_type, Value::Object(payload.clone()))], &mcp)
    }

    /// Sends one of the proxy's own packets, in the envelope in force.
    fn send_own(&mut self, packet_type: PacketType, payload: &Value) -> Result<SentPacket, StepRefusal> {
        let mcp = self.mcp();
        self.recorder.propose(Allow::everything(), packet_type, payload, &mcp)
    }

    /// Sends a packet about something that the proxy itself has seen.
    fn send_seen(
        &mut self,
        packet_type: PacketType,
        payload: &Value,
        ref_type: RefType,
        source: &str,
    ) -> Result<SentPacket, StepRefusal> {
        let own = reference(ref_type, source, &self.recorder.origin.timestamp());
        let stated = self.stated.clone().unwrap_or_else(not_stated);
        let mcp = stated.witnessed(self.budgets, own.as_slice(), self.tools);
        self.recorder.propose(Allow::everything(), packet_type, payload, &mcp)
    }

    /// Returns the envelope in force. Before the first packet there is none, so a packet in its place is only judged.
    fn mcp(&self) -> Value {
        let stated = self.stated.clone().unwrap_or_else(not_stated);
        stated.envelope(self.budgets, &self.cited, self.tools)
    }

    /// Checks whether a call may be made here and now.
    pub(super) fn may(&self, call: &CallFacts) -> Result<(), StepRefusal> {
        self.way(call).map(drop)
    }

    fn way(&self, call: &CallFacts) -> Result<Way, StepRefusal> {
        let nodes = self.recorder.nodes();
        let (task, token) = self.next_ids()?;
        let in_loop = nodes == NodeSet::of(Node::Verify);
        let directive = drafts::directive(&task, call, call.judged(), call.writes.then_some(&token), in_loop);
        let directive = (PacketType::TaskDirectivePacket, directive);
        // The results of open directives come first, because they count against the budget too.
        let open = self.recorder.ledger(|ledger| {
            let open = ledger.open().in_order();
            open.iter().filter_map(|one| drafts::counted(&one.task_id, &one.packet_id)).collect::<Vec<_>>()
        });
        let probe = |packets: Vec<(PacketType, Value)>| {
            let number = open.len() + packets.len() - 1;
            let own = drafts::counted(task.as_str(), &unused(number));
            let all: Vec<_> = open.iter().cloned().chain(packets).chain(own).collect();
            self.recorder.probe(&all, &self.mcp())
        };
        if call.writes && !nodes.after(Event::Authorize).is_empty() {
            let issued = (PacketType::ToolAuthorizationToken, self.token(&token, call, ""));
            let judged = probe(vec![issued, directive]);
            return match (judged, &self.chosen) {
                (Err(why), Some(chosen)) if why.code() == Code::Inv007.as_str() => Err(chosen.outside(call)),
                (Ok(()), Some(chosen)) if !chosen.names(&call.tool) => Err(chosen.outside(call)),
                (judged, _) => judged.map(|()| Way::Token),
            };
        }
        if call.writes {
            probe(vec![directive])?;
            // The token was not issued, so this is not reached; a call that writes is never made without its own token.
            return Err(StepRefusal::new(Code::E4, "no token can be issued here", "decide to act first"));
        }
        if !nodes.after(Event::DirectRead).is_empty() || nodes.after(Event::Observe).is_empty() {
            probe(vec![directive])?;
            return Ok(Way::Directive);
        }
        // Before a decision, a tool's output is an observation.
        if self.stated.is_none() {
            let problem = "nothing is stated about this episode yet: its intent, its stakes, how its claims are known";
            let help = "call `omen_observe` first, with `mcp`";
            return Err(StepRefusal::new(Code::Inv001, problem, help));
        }
        Ok(Way::Observation)
    }

    fn token(&self, token: &TokenId, call: &CallFacts, rationale: &str) -> Value {
        let now = self.recorder.ledger(|ledger| ledger.clock_at(self.recorder.origin.now()));
        // The call may begin a moment after its token is issued, and takes no longer than its timeout.
        let expiry = Timestamp::from(now.plus_seconds(call.timeout.get().saturating_add(SLACK_SECONDS)));
        let scope = self.chosen.as_ref().and_then(|chosen| chosen.scope(&call.tool));
        drafts::token(token, scope.unwrap_or_else(|| Scope::whole(&call.tool)), expiry, rationale)
    }

    fn next_ids(&self) -> Result<(TaskId, TokenId), StepRefusal> {
        let number = self.calls + 1;
        let broken =
            |error: omen_types::scalar::Invalid| StepRefusal::new(Code::Id, error.to_string(), "start the proxy again");
        Ok((
            TaskId::new(format!("task_{number}")).map_err(broken)?,
            TokenId::new(format!("token_{number}")).map_err(broken)?,
        ))
    }

    /// Records a call before it is made.
    pub(super) fn begin(&mut self, call: &CallFacts, rationale: &str) -> Result<CallRecord, StepRefusal> {
        let way = self.way(call)?;
        let (task_id, token) = self.next_ids()?;
        self.calls += 1;
        if way == Way::Observation {
            return Ok(CallRecord::Observation);
        }
        let token = match way {
            Way::Token => {
                let payload = self.token(&token, call, &drafts::short(rationale));
                self.send_own(PacketType::ToolAuthorizationToken, &payload)?;
                Some(token)
            }
            _ => None,
        };
        let in_loop = self.recorder.nodes() == NodeSet::of(Node::Verify);
        let params = call.recordable.arguments().cloned();
        let directive = drafts::directive(&task_id, call, params, token.as_ref(), in_loop);
        match self.send_own(PacketType::TaskDirectivePacket, &directive)?.task {
            Some(task) => CallRecord::directive(task_id, task),
            // INVARIANT: a directive that was sent has a task.
            None => Err(StepRefusal::new(Code::E6, "the directive has no task", "call the tool again")),
        }
    }

    /// Records the outcome of a call.
    pub(super) fn end(
        &mut self,
        call: &CallFacts,
        mut recorded: CallRecord,
        outcome: &Outcome,
    ) -> Result<(), StepRefusal> {
        recorded.stop();
        let source = call.hash.as_ref().map_or_else(|| call.turn.to_string(), |hash| format!("call:{hash}"));
        let result = match &recorded {
            CallRecord::Directive { task_id, directive, .. } => {
                if self.recorder.nodes() == NodeSet::of(Node::SafeMode) {
                    // A directive that is open when safe mode begins gets no result (D13).
                    return Ok(());
                }
                let payload = drafts::result(task_id, directive, outcome);
                if outcome.counts() {
                    self.calls_used += 1;
                }
                Some(self.send_seen(PacketType::TaskResultPacket, &payload, RefType::ToolOutput, &source)?.packet_id)
            }
            CallRecord::Observation => None,
        };
        if !outcome.was_seen() {
            return Ok(());
        }
        if self.recorder.nodes().after(Event::Observe).is_empty() {
            let note =
                format!("the output of `{}` came after the episode had continued, and is not recorded", call.tool);
            return self.alert(AlertType::Other, AlertSeverity::Info, &note);
        }
        let payload = drafts::output(call, outcome, result.as_ref());
        let sent = self.send_seen(PacketType::ObservationPacket, &payload, RefType::ToolOutput, &source)?;
        self.keep(sent.packet_id, RefType::ToolOutput, &call.tool);
        Ok(())
    }

    /// Records an observation that the proxy has made of someone.
    pub(super) fn observed(&mut self, payload: &Value, ref_type: RefType, from: &str) -> Result<PacketId, StepRefusal> {
        let sent = self.send_seen(PacketType::ObservationPacket, payload, ref_type, from)?;
        self.keep(sent.packet_id.clone(), ref_type, from);
        Ok(sent.packet_id)
    }

    fn keep(&mut self, packet_id: PacketId, ref_type: RefType, from: &str) {
        if self.seen.len() >= MOST_SEEN {
            self.seen.pop_front();
        }
        let at = self.recorder.origin.timestamp();
        self.seen.push_back(CitablePacket { packet_id, ref_type, at, from: from.to_owned() });
    }

    /// Writes a call that nothing permits, with its result, as both happened. Returns the directive.
    pub(super) fn write_anyway(&self, call: &CallFacts, outcome: &Outcome) -> Result<PacketId, StepRefusal> {
        let invalid =
            |error: omen_types::scalar::Invalid| StepRefusal::new(Code::Id, error.to_string(), "this is a bug");
        let [directive, result] = ["pkt_anyway_1", "pkt_anyway_2"].map(|id| PacketId::new(id).map_err(invalid));
        let (directive, result) = (directive?, result?);
        let task = TaskId::new("task_anyway").map_err(invalid)?;
        let packets = [
            (directive.clone(), PacketType::TaskDirectivePacket, drafts::unpermitted(&task, call)),
            (result, PacketType::TaskResultPacket, drafts::result(&task, &directive, outcome)),
        ];
        self.recorder.write_anyway(&packets, &self.mcp())?;
        Ok(directive)
    }

    /// Sends an alert, which is legal in every state.
    pub(super) fn alert(
        &mut self,
        alert_type: AlertType,
        severity: AlertSeverity,
        summary: &str,
    ) -> Result<(), StepRefusal> {
        let summary = Text::new(drafts::short(summary));
        let summary = summary.map_err(|error| StepRefusal::new(Code::Schema, error.to_string(), "give a reason"))?;
        let payload =
            IntegrityAlertPayload::builder().alert_type(alert_type).severity(severity).summary(summary).build();
        self.send_own(PacketType::IntegrityAlertPacket, &json!(payload))?;
        if severity == AlertSeverity::Critical {
            self.halted_because = Some(payload.summary.as_str().to_owned());
        }
        Ok(())
    }

    /// Returns the reason why the episode is in safe mode.
    pub(super) fn halted_because(&self) -> Option<&str> {
        self.halted_because.as_deref()
    }

    /// Returns the budgets that are currently exceeded without approval.
    pub(super) fn overruns(&self) -> Vec<Overrun> {
        let now = self.recorder.origin.now();
        self.recorder.ledger(|ledger| ledger.overruns(ledger.clock_at(now)))
    }
}

/// Validity of a token beyond the maximum duration of its call.
const SLACK_SECONDS: u64 = 60;

/// Maximum number of outputs that can be cited; the earliest are forgotten.
const MOST_SEEN: usize = 64;
