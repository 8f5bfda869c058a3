//! Single episode: packets proposed to it are either written or refused.

use std::sync::Arc;

use omen_fsm::episode::{Allow, AnyEpisode, Claims, Layer1, Line, Moved, NotMoved, OnDrop, Pending, Setup};
use omen_fsm::{Event, Node, NodeSet, sender};
use omen_gate::GateClock;
use omen_invariants::facts::DynEnvelope;
use omen_types::packet::{
    AlertSeverity, AlertType, CampaignId, CorrelationId, IntegrityAlertPayload, PacketHeader, PacketId, PacketType,
    Text, Timestamp,
};
use omen_types::scalar::Invalid;
use omen_types::{Code, Diagnostic, Instant, PacketFacts};
use serde_json::Value;

use super::log::{SharedLog, Tee};
use super::numbered_ids::NumberedIds;
use super::step_refusal::StepRefusal;

/// Identity of an episode, its clock, and how it ends.
#[derive(Clone)]
pub(super) struct Origin {
    /// Name from which the episode id is built.
    pub(super) name: String,
    /// Name from which the campaign id is built, if there is one.
    pub(super) campaign: Option<String>,
    pub(super) clock: Arc<dyn GateClock>,
    pub(super) on_drop: OnDrop,
    /// Claims of the session: its episodes have unique names, and its log knows those of other sessions.
    pub(super) claims: Claims,
}

impl Origin {
    pub(super) fn now(&self) -> Instant {
        self.clock.wall().into()
    }

    pub(super) fn correlation_id(&self) -> Result<CorrelationId, StepRefusal> {
        CorrelationId::new(format!("corr_{}", self.name)).map_err(unnamed)
    }

    /// The id of its campaign, if it has one.
    fn campaign_id(&self) -> Result<Option<CampaignId>, StepRefusal> {
        self.campaign.as_ref().map(|name| CampaignId::new(format!("camp_{name}")).map_err(unnamed)).transpose()
    }

    pub(super) fn timestamp(&self) -> Timestamp {
        Timestamp::from(self.now())
    }
}

/// Packet that was sent to an episode and accepted.
pub(super) struct SentPacket {
    pub(super) packet_id: PacketId,
    /// Task of the packet, if it is a directive.
    pub(super) task: Option<Pending>,
    /// Warnings of the rules.
    pub(super) warnings: Vec<Diagnostic>,
}

/// Episode that begins with its first packet.
pub(super) struct Recorder {
    pub(super) origin: Origin,
    log: Tee,
    episode: Option<AnyEpisode>,
}

impl Recorder {
    pub(super) fn new(origin: Origin, log: SharedLog) -> Self {
        Self { origin, log: Tee::new(log), episode: None }
    }

    /// Resumes an episode that another process has begun, from its lines.
    pub(super) fn resume(origin: Origin, log: SharedLog, lines: &[String], mcp: &Value) -> Result<Self, StepRefusal> {
        let (log, accepted) = Tee::after(log, lines);
        let mut recorder = Self { origin, log, episode: None };
        let setup = recorder.setup(mcp, NumberedIds::after(lines.len()))?;
        let resumed = AnyEpisode::resume(setup, accepted);
        let resumed = resumed.map_err(|error| StepRefusal::new(Code::Id, error.to_string(), "check the log"))?;
        recorder.episode = Some(resumed);
        Ok(recorder)
    }

    /// Proposes a packet: payload and envelope as JSON.
    pub(super) fn propose(
        &mut self,
        allow: Allow,
        packet_type: PacketType,
        payload: &Value,
        mcp: &Value,
    ) -> Result<SentPacket, StepRefusal> {
        let episode = match self.episode.take() {
            Some(episode) => episode,
            None => self.begin(mcp)?,
        };
        let proposal = serde_json::json!({ "packet_type": packet_type, "payload": payload, "mcp": mcp });
        let (episode, moved) = match episode.propose_with(allow, &proposal.to_string()) {
            Ok(Moved { episode, packet_id, task }) => (episode, Ok((packet_id, task))),
            Err(NotMoved { episode, why }) => (episode, Err(StepRefusal::from(why))),
        };
        // An episode that has written nothing has not begun, so the next proposal may have a different envelope.
        if self.log.written.lock().packets > 0 || moved.is_ok() {
            self.episode = Some(episode);
        }
        let warnings = std::mem::take(&mut self.log.written.lock().warnings);
        moved.map(|(packet_id, task)| SentPacket { packet_id, task, warnings })
    }

    fn begin(&self, mcp: &Value) -> Result<AnyEpisode, StepRefusal> {
        let started = self.setup(mcp, NumberedIds::from_the_first())?.start().map_err(|error| {
            StepRefusal::new(
                Code::Id,
                error.to_string(),
                "restart the proxy, perhaps with another file for its episodes",
            )
        })?;
        Ok(started.into_any())
    }

    fn setup(&self, mcp: &Value, ids: NumberedIds) -> Result<Setup, StepRefusal> {
        let envelope = DynEnvelope::from_json(&mcp.to_string()).map_err(StepRefusal::rules)?;
        let clock = Arc::clone(&self.origin.clock);
        let setup = Setup::new(self.origin.correlation_id()?, &envelope, move || Instant::from(clock.wall()))
            .log(self.log.clone())
            .ids(ids)
            .claims(&self.origin.claims)
            .on_drop(self.origin.on_drop);
        Ok(match self.origin.campaign_id()? {
            Some(campaign) => setup.campaign(campaign),
            None => setup,
        })
    }

    /// Writes what happened in spite of the rules as it happened, for them to report. The episode stays where it is.
    pub(super) fn write_anyway(
        &self,
        packets: &[(PacketId, PacketType, Value)],
        mcp: &Value,
    ) -> Result<(), StepRefusal> {
        let episode = self.origin.correlation_id()?;
        let texts = packets.iter().map(|(id, packet_type, payload)| self.text(id.clone(), *packet_type, payload, mcp));
        let texts = texts.collect::<Result<Vec<_>, _>>()?;
        let lines: Vec<_> = packets
            .iter()
            .zip(&texts)
            .map(|((packet_id, ..), text)| Line { packet_id, correlation_id: &episode, text })
            .collect();
        self.log.to.append(&lines).map_err(|error| StepRefusal::not_synced(error.to_string()))
    }

    /// Checks what the rules would say about packets sent one after another, without sending them. The episode's budget must
    /// also hold after the last packet; the rules only warn about an overrun that has happened.
    pub(super) fn probe(&self, packets: &[(PacketType, Value)], mcp: &Value) -> Result<(), StepRefusal> {
        let mut machine = self.log.written.lock().machine.clone();
        for (number, (packet_type, payload)) in packets.iter().enumerate() {
            let text = self.unsent(number, *packet_type, payload, mcp)?;
            let facts = PacketFacts::parse(&text).map_err(|rejected| StepRefusal::rules(rejected.errors))?;
            let verdict = machine.judge(&facts, None);
            let overrun = |finding: &&Diagnostic| finding.code == Code::Inv005;
            let against: Vec<_> = verdict.errors().chain(verdict.invariants.iter().filter(overrun)).cloned().collect();
            if !against.is_empty() {
                return Err(StepRefusal::rules(against));
            }
            machine.accept(&facts, &verdict);
        }
        Ok(())
    }

    /// Returns the text of a packet that is only judged.
    fn unsent(
        &self,
        number: usize,
        packet_type: PacketType,
        payload: &Value,
        mcp: &Value,
    ) -> Result<String, StepRefusal> {
        self.text(PacketId::new(unused(number)).map_err(unnamed)?, packet_type, payload, mcp)
    }

    fn text(&self, id: PacketId, packet_type: PacketType, payload: &Value, mcp: &Value) -> Result<String, StepRefusal> {
        let broken = |error: String| StepRefusal::new(Code::Json, error, "write it as JSON");
        let header = PacketHeader::builder()
            .packet_id(id)
            .packet_type(packet_type)
            .created_at(self.origin.timestamp())
            .layer_source(sender(packet_type))
            .correlation_id(self.origin.correlation_id()?)
            .maybe_campaign_id(self.origin.campaign_id()?)
            .build();
        let header = serde_json::to_string(&header).map_err(|error| broken(error.to_string()))?;
        Ok(format!("{{\"header\":{header},\"mcp\":{mcp},\"payload\":{payload}}}"))
    }

    /// Ends safe mode by order of layer 1.
    pub(super) fn clear(&mut self, summary: &str, rationale: &str) -> Result<(), StepRefusal> {
        let bad = |error: Invalid| StepRefusal::new(Code::E7, error.to_string(), "give a reason");
        let (summary, rationale) = (Text::new(summary).map_err(bad)?, Text::new(rationale).map_err(bad)?);
        let payload = IntegrityAlertPayload::builder()
            .alert_type(AlertType::Recovery)
            .severity(AlertSeverity::Clear)
            .summary(summary.clone())
            .rationale(rationale)
            .build();
        let episode = match self.episode.take() {
            Some(AnyEpisode::SafeMode(episode)) => {
                episode.clear(Layer1::assume().order(summary).stating(payload)).into_any()
            }
            other => {
                self.episode = other;
                return Err(StepRefusal::new(Code::E7, "the episode is not in safe mode", "call `omen_state`"));
            }
        };
        self.episode = Some(episode);
        // If the log fails, the episode stays where it is.
        match self.nodes() == NodeSet::of(Node::SafeMode) {
            false => Ok(()),
            true => Err(StepRefusal::not_synced("the end of safe mode cannot be recorded".to_owned())),
        }
    }

    pub(super) fn nodes(&self) -> NodeSet {
        self.log.written.lock().machine.nodes()
    }

    /// Returns the events that may come next, from any sender.
    pub(super) fn offers(&self) -> Vec<Event> {
        let now = self.origin.now();
        let written = self.log.written.lock();
        written.machine.offers(written.machine.ledger().clock_at(now)).collect()
    }

    /// Returns whether an id belongs to a packet of this episode.
    pub(super) fn has(&self, packet_id: &str) -> bool {
        self.log.written.lock().machine.ledger().has_accepted(packet_id)
    }

    pub(super) fn ledger<T>(&self, read: impl FnOnce(&omen_invariants::Ledger) -> T) -> T {
        read(self.log.written.lock().machine.ledger())
    }

    pub(super) fn packets(&self) -> u64 {
        self.log.written.lock().packets
    }

    /// Ends the episode: closes it if it may close, and brings it to an end otherwise.
    pub(super) fn end(&mut self) {
        match self.episode.take() {
            // INVARIANT: the episode may close in this state; if the log has failed, the episode stays as it is.
            Some(AnyEpisode::Review(episode)) => drop(episode.close()),
            other => drop(other),
        }
    }
}

/// Builds the refusal for an invalid id. INVARIANT: a name consists of characters that are valid in an id.
fn unnamed(error: Invalid) -> StepRefusal {
    StepRefusal::new(Code::Id, error.to_string(), "give the session another name")
}

/// Returns the id of a packet that is not sent.
pub(super) fn unused(number: usize) -> String {
    format!("pkt_0_{number}")
}
