//! What an episode is under its type: the machine, the envelope, and where packets go.

use std::collections::BTreeMap;
use std::sync::Arc;

use omen_invariants::facts::MayAsk;
use omen_invariants::ledger::{Fingerprint, Kind};
use omen_types::limits::MAX_ID_BYTES;
use omen_types::{
    AlertSeverity, CampaignId, Code, CorrelationId, DecisionOutcome, Diagnostic, EpistemicStatus, ExecutionMethod,
    Instant, Invalid, LayerSource, McpEnvelope, Packet, PacketFacts, PacketHeader, PacketId, PacketType, Payload,
    TaskId, Text, Timestamp, TokenId, serde_json,
};

use super::asked::Asked;
use super::checks;
use super::claim::Claims;
use super::ending::{Hook, OnDrop};
use super::fit::{self, Written};
use super::lease::{Leases, Over};
use super::proved;
use super::refused::Refusal;
use super::setup::{IdSource, Line, Log, TimeSource};
use super::values::{Alarm, Alert, PacketHeaderExtras, info_alert};
use super::{Authority, Pending};
use crate::machine::{Machine, Verdict};
use crate::table::{Event, LOOP_NODE, NodeSet, Obligation, sender};

pub(crate) struct Core {
    pub(crate) machine: Machine,
    /// The envelope of the packets to come.
    pub(crate) mcp: Arc<McpEnvelope>,
    /// The latest envelope that keeps INV-004: its evidence stands in for that of a hypothesis, where a packet claims
    /// something.
    pub(crate) grounded: Arc<McpEnvelope>,
    pub(crate) origin: Origin,
    pub(crate) clock: Arc<dyn TimeSource>,
    pub(crate) ids: Box<dyn IdSource>,
    pub(crate) log: Box<dyn Log>,
    pub(crate) last: Option<PacketId>,
    pub(crate) sent: u64,
    /// The latest decision, which a verification plan names.
    pub(crate) decision: Option<PacketId>,
    pub(crate) looped: LoopNotes,
    /// The open directives, by packet id.
    pub(crate) tasks: BTreeMap<String, OpenTask>,
    /// The tokens that were issued, in the order of issue. The ledger knows them by fingerprint alone.
    pub(crate) tokens: Vec<TokenId>,
    /// Values of another episode do not carry this.
    pub(crate) mark: Mark,
    pub(crate) trouble: Option<Arc<Refusal>>,
    /// Which tasks may run; all handles of them share it.
    pub(crate) leases: Arc<Leases>,
    /// What the user has asked for; all handles of tasks share it.
    pub(crate) asked: Arc<Asked>,
    pub(crate) claims: Claims,
    pub(crate) on_drop: OnDrop,
    pub(crate) on_lost: Option<Hook>,
    /// Whether it has closed, or has never started: then nothing is to be done when it is dropped.
    pub(crate) is_over: bool,
}

/// Where an episode's packets come from.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) correlation_id: CorrelationId,
    pub(crate) campaign_id: Option<CampaignId>,
    /// Members of headers that no rule owns.
    pub(crate) header: PacketHeaderExtras,
}

/// What an episode notes of its verification loop.
#[derive(Debug, Default)]
pub(crate) struct LoopNotes {
    pub(crate) stage: Stage,
    /// Results and observations, which the closing belief update cites.
    pub(crate) evidence: Vec<PacketId>,
    /// The latest observation with status OBSERVED.
    pub(crate) observed: Option<PacketId>,
    /// The plans that were sent.
    pub(crate) plans: Vec<Mark>,
    /// What those of the log are to verify.
    pub(crate) targets: Vec<String>,
}

/// How far a verification loop has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Stage {
    /// None has begun, or it was left otherwise than by its belief update: by an emergency halt.
    #[default]
    None,
    /// It runs.
    Running,
    /// Its belief update has closed it.
    Closed,
}

/// A directive that has no result yet.
#[derive(Clone, Debug)]
pub(crate) struct OpenTask {
    pub(crate) directive: PacketId,
    pub(crate) task_id: TaskId,
    pub(crate) method: ExecutionMethod,
    pub(crate) authority: Option<Authority>,
    /// From when on it is late.
    pub(crate) due: Instant,
    /// How many packets came before it.
    order: u64,
}

/// Tells things apart by who made them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mark(Arc<u8>);

impl PartialEq for Mark {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// A packet to be.
pub(crate) struct Draft {
    pub(crate) payload: Payload,
    /// How its content is known, if not as the envelope says.
    pub(crate) status: Option<EpistemicStatus>,
    /// The layer that it comes from, if not the one that sends such packets.
    pub(crate) layer: Option<LayerSource>,
}

impl Draft {
    pub(crate) fn new(payload: impl Into<Payload>) -> Self {
        Self { payload: payload.into(), status: None, layer: None }
    }
}

fn no_id(invalid: Invalid) -> Refusal {
    Refusal::rule(Diagnostic::error(Code::Schema, format!("the id source gave no id: {invalid}")))
}

impl Machine {
    /// Whether the verification loop, or the latest one if none runs, has its SUCCESS.
    pub(crate) fn has_succeeded(&self) -> bool {
        self.ledger().verification().met & Obligation::Success.bit() != 0
    }

    /// The first id from a source that the episode has not used. An episode that is taken up again may
    /// number from the start; a source that repeats itself for ever is found out, as the machine
    /// refuses what it gave last.
    fn fresh<T: TryFrom<String, Error = Invalid>>(
        &self,
        sent: u64,
        kind: Kind,
        mut next: impl FnMut() -> String,
    ) -> Result<T, Invalid> {
        let mut id = next();
        for _ in 0..=sent {
            let used = match kind {
                Kind::Token => self.ledger().tokens().get(&id).is_some(),
                _ => self.ledger().has_seen(Fingerprint::of(kind, &id)),
            };
            if !used {
                break;
            }
            id = next();
        }
        if id.len() > MAX_ID_BYTES {
            return Err(Invalid::new("id", "at most 4096 bytes", id));
        }
        T::try_from(id)
    }
}

impl Core {
    /// Sends packets: all, or none if one is refused.
    pub(crate) fn send(&mut self, drafts: Vec<Draft>) -> Result<Vec<PacketId>, Arc<Refusal>> {
        self.step(|core| match <[Draft; 1]>::try_from(drafts) {
            Ok([draft]) => {
                let packet = core.make(draft, core.last.clone())?;
                Ok(vec![core.send_packet(&packet, |_| Ok(()))?])
            }
            Err(drafts) => core.send_all(drafts),
        })
    }

    /// Takes a step, unless something keeps the episode from taking any. After an error of the log that is so for
    /// ever: nobody but the log's medium knows how much of the step it holds, so what would be written next
    /// might stand behind half a line, or say the same twice.
    pub(crate) fn step<T>(&mut self, step: impl FnOnce(&mut Self) -> Result<T, Refusal>) -> Result<T, Arc<Refusal>> {
        if let Some(trouble) = &self.trouble {
            return Err(Arc::clone(trouble));
        }
        let leases = Arc::clone(&self.leases);
        // Until the step has ended, nobody takes the episode over.
        let taken = leases.step().map_err(|_| Refusal::Superseded);
        taken.and_then(|_under_way| step(self)).map_err(|why| {
            let why = Arc::new(why);
            if why.is_final() {
                self.leases.end(Over::Log);
                self.trouble = Some(Arc::clone(&why));
            }
            why
        })
    }

    /// Sends a packet that stands as it is, if nothing else is against it than the protocol.
    pub(crate) fn send_packet(
        &mut self,
        packet: &Packet,
        allowed: impl FnOnce(Event) -> Result<(), Refusal>,
    ) -> Result<PacketId, Refusal> {
        self.send_written(packet, &fit::text(packet)?, allowed)
    }

    fn send_written(
        &mut self,
        packet: &Packet,
        text: &str,
        allowed: impl FnOnce(Event) -> Result<(), Refusal>,
    ) -> Result<PacketId, Refusal> {
        let id = packet.header().packet_id.clone();
        let (log, leases, stage) = (&mut self.log, &self.leases, self.looped.stage);
        take(&mut self.machine, text, |machine, verdict| {
            allowed(verdict.event)?;
            proved::check(packet, machine, stage)?;
            Self::withdraw(leases, packet);
            let correlation_id = &packet.header().correlation_id;
            log.append(&[Line { packet_id: &id, correlation_id, text }]).map_err(Refusal::Log)?;
            verdict.invariants.iter().for_each(|warning| log.warn(warning));
            Ok(())
        })?;
        self.note(packet);
        Ok(id)
    }

    /// Sends several packets: each is judged after those before it, and all before one is written.
    fn send_all(&mut self, drafts: Vec<Draft>) -> Result<Vec<PacketId>, Refusal> {
        let before = self.machine.clone();
        let written = self.write_all(drafts);
        match written {
            Ok(packets) => {
                packets.iter().for_each(|packet| self.note(packet));
                Ok(packets.iter().map(|packet| packet.header().packet_id.clone()).collect())
            }
            Err(why) => {
                self.machine = before;
                Err(why)
            }
        }
    }

    fn write_all(&mut self, drafts: Vec<Draft>) -> Result<Vec<Packet>, Refusal> {
        let mut last = self.last.clone();
        let (mut packets, mut texts, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
        for draft in drafts {
            let packet = self.make(draft, last.take())?;
            let text = fit::text(&packet)?;
            take(&mut self.machine, &text, |_, verdict| {
                warnings.extend_from_slice(&verdict.invariants);
                Ok(())
            })?;
            last = Some(packet.header().packet_id.clone());
            packets.push(packet);
            texts.push(text);
        }
        let ids = packets.iter().map(|packet| &packet.header().packet_id);
        let correlation_id = &self.origin.correlation_id;
        let lines: Vec<Line<'_>> =
            ids.zip(&texts).map(|(packet_id, text)| Line { packet_id, correlation_id, text }).collect();
        packets.iter().for_each(|packet| Self::withdraw(&self.leases, packet));
        self.log.append(&lines).map_err(Refusal::Log)?;
        warnings.iter().for_each(|warning| self.log.warn(warning));
        Ok(packets)
    }

    /// Sends a record. One that is too long is shortened, and an alert after it says so.
    fn send_record(&mut self, draft: Draft) -> Result<PacketId, Refusal> {
        let packet = self.make(draft, self.last.clone())?;
        let Written { packet, text, was } = fit::record(packet)?;
        let id = self.send_written(&packet, &text, |_| Ok(()))?;
        if let Some(was) = was {
            self.asked.shortened(&id);
            let note = format!("`{id}` was too long for a line ({was} bytes), and was shortened");
            if let Ok(note) = Text::new(note) {
                let note = self.make(info_alert(note), self.last.clone())?;
                self.send_packet(&note, |_| Ok(()))?;
            }
        }
        Ok(id)
    }

    /// Sends a packet that no rule can refuse; what goes wrong all the same is kept as trouble.
    pub(crate) fn must(&mut self, draft: Draft) -> Option<PacketId> {
        match self.step(|core| core.send_record(draft)) {
            Ok(id) => Some(id),
            Err(why) => {
                self.trouble.get_or_insert(why);
                None
            }
        }
    }

    /// Sends an alert, which is legal in every state (D14), and so from where the log has come to, too: that a step
    /// failed for want of an id keeps back no alarm. It says whether it was sent.
    pub(crate) fn alarm(&mut self, alert: impl FnOnce(Option<&Refusal>) -> Draft) -> bool {
        let before = self.trouble.take_if(|why| !why.is_final());
        let sent = self.must(alert(before.as_deref())).is_some();
        if let Some(why) = before {
            self.trouble.get_or_insert(why);
        }
        sent
    }

    /// Keeps what a step that cannot fail by its type was refused for, before anything was sent.
    pub(crate) fn keep(&mut self, why: Refusal) {
        self.trouble.get_or_insert(Arc::new(why));
    }

    /// Sends an alert that moves nothing.
    pub(crate) fn alert(&mut self, alert: Alert) {
        match alert.drafts() {
            Ok(drafts) => {
                for draft in drafts {
                    self.alarm(|_| draft);
                }
            }
            Err(why) => self.keep(why),
        }
    }

    /// Halts the episode. Where the log stands and where the type does is the same from then on.
    pub(crate) fn halt(&mut self, alarm: Alarm) {
        if self.alarm(|before| alarm.draft(before)) {
            self.trouble = None;
        }
    }

    /// Sends one packet.
    pub(crate) fn try_send(&mut self, draft: Draft) -> Result<(), Arc<Refusal>> {
        self.send(vec![draft]).map(drop)
    }

    /// A packet of payload and envelope as they are written, read as strictly as a line of a log.
    pub(crate) fn compose(
        &mut self,
        packet_type: PacketType,
        payload: &str,
        mcp: Option<&str>,
    ) -> Result<Packet, Refusal> {
        let broken = |error: serde_json::Error| Refusal::rule(Diagnostic::error(Code::Json, error.to_string()));
        let header = self.header(packet_type, None, self.last.clone())?;
        let header = serde_json::to_string(&header).map_err(broken)?;
        let own = match mcp {
            Some(_) => String::new(),
            None => serde_json::to_string(&self.envelope_of(packet_type)).map_err(broken)?,
        };
        let mcp = mcp.unwrap_or(&own);
        let text = format!(r#"{{"header":{header},"mcp":{mcp},"payload":{payload}}}"#);
        text.parse().map_err(|rejected: Box<omen_types::Rejected>| {
            let mut errors = rejected.errors;
            // Offsets into a text that nobody has seen would only mislead.
            errors.iter_mut().for_each(|error| error.span = None);
            Refusal::Rules(errors)
        })
    }

    /// Sends one packet in another envelope, which holds from then on if it was sent.
    pub(crate) fn try_send_under(&mut self, envelope: &impl MayAsk, draft: Draft) -> Result<(), Arc<Refusal>> {
        let before = (Arc::clone(&self.mcp), Arc::clone(&self.grounded));
        self.under(envelope);
        let sent = self.try_send(draft);
        if sent.is_err() {
            (self.mcp, self.grounded) = before;
        }
        sent
    }

    fn make(&mut self, draft: Draft, last: Option<PacketId>) -> Result<Packet, Refusal> {
        let Draft { mut payload, status, layer } = draft;
        let mut mcp = self.envelope_of(payload.packet_type());
        if let Payload::Decision(decision) = &mut payload {
            checks::fill(decision, &mcp);
        }
        if let Some(status) = status {
            mcp.epistemics.status = status;
        }
        let header = self.header(payload.packet_type(), layer, last)?;
        Ok(payload.into_packet(header, mcp))
    }

    fn header(
        &mut self,
        packet_type: PacketType,
        layer: Option<LayerSource>,
        last: Option<PacketId>,
    ) -> Result<PacketHeader, Refusal> {
        let ids = &mut self.ids;
        let mut header = PacketHeader::builder()
            .packet_id(self.machine.fresh(self.sent, Kind::Packet, || ids.packet_id()).map_err(no_id)?)
            .packet_type(packet_type)
            .created_at(Timestamp::from(self.clock.now()))
            .layer_source(layer.unwrap_or(sender(packet_type)))
            .correlation_id(self.origin.correlation_id.clone())
            .maybe_campaign_id(self.origin.campaign_id.clone())
            .maybe_previous_packet_id(last)
            .build();
        self.origin.header.clone().fill(&mut header);
        Ok(header)
    }

    /// Task ids that this episode has not used, each once.
    pub(crate) fn fresh_task_ids(&mut self, count: usize) -> Result<Vec<TaskId>, Refusal> {
        let ids = &mut self.ids;
        let mut all: Vec<TaskId> = Vec::with_capacity(count);
        // A source that repeats itself for ever is found out as the packets are sent (D21).
        let mut tries = self.sent.saturating_add(1);
        while all.len() < count {
            let id = self.machine.fresh(self.sent, Kind::Task, || ids.task_id()).map_err(no_id)?;
            if tries > 0 && all.contains(&id) {
                tries -= 1;
            } else {
                all.push(id);
            }
        }
        Ok(all)
    }

    /// A token id that this episode has not used.
    pub(crate) fn fresh_token_id(&mut self) -> Result<TokenId, Refusal> {
        let ids = &mut self.ids;
        self.machine.fresh(self.sent, Kind::Token, || ids.token_id()).map_err(no_id)
    }

    /// Whether the verification loop has its SUCCESS.
    pub(crate) fn has_succeeded(&self) -> bool {
        self.machine.has_succeeded()
    }

    /// Takes in a packet of a log that is written already.
    pub(crate) fn replay(&mut self, packet: Packet, text: &str) -> Result<(), Refusal> {
        let is_first = !self.machine.ledger().has_campaign();
        take(&mut self.machine, text, |_, _| Ok(()))?;
        if let Some(campaign) = packet.header().campaign_id.as_ref().filter(|_| is_first) {
            // The campaign of an episode is the first one that its log states (D65), whatever it is set up with.
            self.origin.campaign_id = Some(campaign.clone());
        }
        Self::withdraw(&self.leases, &packet);
        self.adopt(&packet);
        self.note(&packet);
        Ok(())
    }

    /// Notes what later moves need of a packet that is in the log.
    fn note(&mut self, packet: &Packet) {
        let id = &packet.header().packet_id;
        self.sent = self.sent.saturating_add(1);
        self.last = Some(id.clone());
        self.asked.note(packet);
        match packet {
            Packet::Decision(decision) => {
                self.decision = Some(id.clone());
                if decision.payload.decision_outcome == DecisionOutcome::VerifyFirst {
                    self.looped = LoopNotes { stage: Stage::Running, ..LoopNotes::default() };
                }
            }
            Packet::VerificationPlan(plan) => {
                self.looped.targets.extend(plan.payload.targets.iter().map(|target| target.assumption.to_string()))
            }
            Packet::Observation(observation) if self.looped.stage == Stage::Running => {
                if observation.mcp.epistemics.status == EpistemicStatus::Observed {
                    self.looped.observed = Some(id.clone());
                }
                self.looped.evidence.push(id.clone());
            }
            Packet::TaskDirective(directive) => {
                let payload = &directive.payload;
                let ledger = self.machine.ledger();
                let opened = ledger.open().get(id.as_str());
                let task = OpenTask {
                    directive: id.clone(),
                    task_id: payload.task_id.clone(),
                    method: payload.execution_method.clone(),
                    authority: payload.authorization_token_id.clone().map(|token_id| Authority {
                        expires: ledger
                            .tokens()
                            .get(token_id.as_str())
                            .and_then(|token| Some(token.grant.as_ref()?.expiry)),
                        token_id,
                    }),
                    // INVARIANT: the machine has just taken it in, so it is open.
                    due: opened.map_or_else(|| self.now(), |open| open.created_at.plus_seconds(open.timeout_seconds)),
                    order: self.sent,
                };
                let token = task.authority.as_ref().map(|authority| (authority.token_id.as_str(), authority.expires));
                self.leases.open(id.as_str(), token);
                self.tasks.insert(id.to_string(), task);
            }
            Packet::TaskResult(result) => {
                self.tasks.remove(result.payload.directive_packet_id.as_str());
                self.leases.settled(result.payload.directive_packet_id.as_str());
                if self.looped.stage == Stage::Running {
                    self.looped.evidence.push(id.clone());
                }
            }
            Packet::ToolAuthorizationToken(token) => {
                let token_id = &token.payload.token_id;
                let grant =
                    self.machine.ledger().tokens().get(token_id.as_str()).and_then(|token| token.grant.as_ref());
                if grant.is_some_and(|grant| *grant.issued_by == *id.as_str()) {
                    self.tokens.push(token_id.clone());
                }
                // Sent again, it may expire sooner (D24).
                if let Some(grant) = grant {
                    self.leases.expires(token_id.as_str(), grant.expiry);
                }
            }
            Packet::IntegrityAlert(alert) if alert.payload.severity == AlertSeverity::Clear => self.leases.clear(),
            _ => {}
        }
        if self.looped.stage == Stage::Running && self.machine.nodes() != NodeSet::of(LOOP_NODE) {
            // A belief update leaves a loop only as it closes it (E3); else it is an emergency halt.
            let closes = matches!(packet, Packet::BeliefUpdate(_));
            self.looped.stage = if closes { Stage::Closed } else { Stage::None };
        }
        if self.machine.ledger().open().is_empty() {
            // The end of safe mode cancels what was open (D13).
            self.tasks.clear();
        }
    }

    /// The open tasks, in the order of sending.
    pub(crate) fn pending_tasks(&self) -> Vec<Pending> {
        let mut tasks: Vec<&OpenTask> = self.tasks.values().collect();
        tasks.sort_unstable_by_key(|task| task.order);
        tasks.into_iter().map(|task| self.pending(task)).collect()
    }

    pub(crate) fn pending(&self, task: &OpenTask) -> Pending {
        let correlation_id = self.origin.correlation_id.clone();
        let (leases, clock) = (Arc::clone(&self.leases), Arc::clone(&self.clock));
        let (task, asked) = (Box::new(task.clone()), Arc::clone(&self.asked));
        Pending { task, correlation_id, episode: self.mark.clone(), leases, asked, clock }
    }

    /// The episode has closed.
    pub(crate) fn close(&mut self) {
        self.is_over = true;
        self.leases.end(Over::Closed);
        self.claims.end(&self.origin.correlation_id, &self.leases, true);
    }

    /// The time at which a token counts as issued: a clock that was set back makes none expire at once (D64).
    pub(crate) fn issues_at(&self) -> Instant {
        self.machine.ledger().clock_at(self.now())
    }

    pub(crate) fn now(&self) -> Instant {
        self.clock.now()
    }
}

/// Judges a packet by its text, as a validator would; if nothing is against it, commits it, and takes it into
/// the machine. What is judged is what is written.
fn take(
    machine: &mut Machine,
    text: &str,
    commit: impl FnOnce(&Machine, &Verdict) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let facts = PacketFacts::parse(text).map_err(|rejected| Refusal::Rules(rejected.errors))?;
    let verdict = machine.judge(&facts, None);
    let errors: Vec<Diagnostic> = verdict.errors().cloned().collect();
    if !errors.is_empty() {
        return Err(Refusal::Rules(errors));
    }
    // Without an error, what is left are warnings.
    commit(machine, &verdict)?;
    machine.accept(&facts, &verdict);
    Ok(())
}
