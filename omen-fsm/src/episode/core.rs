//! The core of an episode, the same in every state: the machine, the envelope, and where packets go.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use omen_invariants::facts::MayAsk;
use omen_types::{
    CampaignId, CorrelationId, Diagnostic, Instant, McpEnvelope, Packet, PacketFacts, PacketId, Text, TokenId,
};

use super::asked::Asked;
use super::claim::Claims;
use super::draft::Draft;
use super::ending::{Hook, OnDrop};
use super::fit::{self, Written};
use super::ids::IdSource;
use super::lease::{Leases, Over};
use super::log::{Line, Log};
use super::loop_notes::LoopNotes;
use super::mark::Mark;
use super::open_task::OpenTask;
use super::proved;
use super::refused::Refusal;
use super::time::TimeSource;
use super::tool_classes::ToolClasses;
use super::values::{Alarm, Alert, PacketHeaderExtras, info_alert};
use crate::machine::{Machine, Verdict};
use crate::table::{Event, Obligation};

pub(crate) struct Core {
    pub(crate) machine: Machine,
    /// The envelope of the packets to come.
    pub(crate) mcp: Arc<McpEnvelope>,
    /// The latest envelope that satisfies INV-004: where a packet makes a claim, its evidence replaces that of a
    /// hypothesis.
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
    /// By tool, whether the directives of the episode call it as one that may write (D88).
    pub(crate) tools: ToolClasses,
    /// The tokens that were issued, in the order of issue. The ledger knows them by fingerprint alone.
    pub(crate) tokens: Vec<TokenId>,
    /// Permits, tasks and proofs of this episode carry it; those of another do not.
    pub(crate) mark: Mark,
    pub(crate) trouble: Option<Arc<Refusal>>,
    /// Which tasks may run; shared with all their handles.
    pub(crate) leases: Arc<Leases>,
    /// What the user has asked for; shared with all handles of tasks.
    pub(crate) asked: Arc<Asked>,
    pub(crate) claims: Claims,
    pub(crate) on_drop: OnDrop,
    pub(crate) on_lost: Option<Hook>,
    /// Whether it has closed or was never started: then its drop does nothing.
    pub(crate) is_over: bool,
}

/// Where an episode's packets come from.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) correlation_id: CorrelationId,
    pub(crate) campaign_id: Option<CampaignId>,
    /// Header fields that no rule reads.
    pub(crate) header: PacketHeaderExtras,
}

impl Machine {
    /// Whether the verification loop, or the latest one if none runs, has its SUCCESS.
    pub(crate) fn has_succeeded(&self) -> bool {
        self.ledger().verification().met.contains(Obligation::Success)
    }
}

impl Core {
    /// Sends packets: all, or none if one is refused.
    pub(crate) fn send(&mut self, drafts: Vec<Draft>) -> Result<Vec<PacketId>, Arc<Refusal>> {
        self.step(|core| match <[Draft; 1]>::try_from(drafts) {
            Ok([draft]) => {
                let packet = core.make(draft, core.last.clone())?;
                let loop_state = core.looped.state;
                Ok(vec![core.send_packet(&packet, |machine, _| proved::check(&packet, machine, loop_state))?])
            }
            Err(drafts) => core.send_all(drafts),
        })
    }

    /// Takes a step, unless an earlier error forbids every step. An error of the log does so for good: only the medium
    /// of the log knows how much of the step it holds, so the next write could follow half a line, or repeat the step.
    pub(crate) fn step<T>(&mut self, step: impl FnOnce(&mut Self) -> Result<T, Refusal>) -> Result<T, Arc<Refusal>> {
        if let Some(trouble) = &self.trouble {
            return Err(Arc::clone(trouble));
        }
        let leases = Arc::clone(&self.leases);
        // While the step lasts, the episode cannot be taken over.
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

    /// Sends a finished packet, if the protocol and `allowed` permit it.
    pub(crate) fn send_packet(
        &mut self,
        packet: &Packet,
        allowed: impl FnOnce(&Machine, Event) -> Result<(), Refusal>,
    ) -> Result<PacketId, Refusal> {
        self.send_written(packet, &fit::text(packet)?, allowed)
    }

    fn send_written(
        &mut self,
        packet: &Packet,
        text: &str,
        allowed: impl FnOnce(&Machine, Event) -> Result<(), Refusal>,
    ) -> Result<PacketId, Refusal> {
        let id = packet.header().packet_id.clone();
        let (log, leases, trouble) = (&mut self.log, &self.leases, &mut self.trouble);
        let mut warnings = Vec::new();
        take(&mut self.machine, text, |machine, verdict| {
            allowed(machine, verdict.event)?;
            Self::withdraw(leases, packet);
            let correlation_id = &packet.header().correlation_id;
            append(&mut **log, leases, trouble, &[Line { packet_id: &id, correlation_id, text }])?;
            warnings.clone_from(&verdict.invariants);
            Ok(())
        })?;
        self.note(packet);
        self.warn(&warnings);
        Ok(id)
    }

    /// Passes the warnings of a step on, once the step is complete: if the log panics here, the episode is in the state
    /// that the log has reached.
    pub(crate) fn warn(&mut self, warnings: &[Diagnostic]) {
        warnings.iter().for_each(|warning| self.log.warn(warning));
    }

    /// Sends several packets. Each is judged after those before it, and all are judged before the first is written.
    fn send_all(&mut self, drafts: Vec<Draft>) -> Result<Vec<PacketId>, Refusal> {
        let before = self.machine.clone();
        let written = self.write_all(drafts);
        match written {
            Ok((packets, warnings)) => {
                packets.iter().for_each(|packet| self.note(packet));
                self.warn(&warnings);
                Ok(packets.iter().map(|packet| packet.header().packet_id.clone()).collect())
            }
            Err(why) => {
                self.machine = before;
                Err(why)
            }
        }
    }

    fn write_all(&mut self, drafts: Vec<Draft>) -> Result<(Vec<Packet>, Vec<Diagnostic>), Refusal> {
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
        append(&mut *self.log, &self.leases, &mut self.trouble, &lines)?;
        Ok((packets, warnings))
    }

    /// Sends a record. A record that is too long is shortened, and an alert after it reports that.
    fn send_record(&mut self, draft: Draft) -> Result<PacketId, Refusal> {
        let packet = self.make(draft, self.last.clone())?;
        let Written { packet, text, was } = fit::record(packet)?;
        let id = self.send_written(&packet, &text, |_, _| Ok(()))?;
        if let Some(was) = was {
            self.asked.shortened(&id);
            let note = format!("`{id}` exceeded the length of a line ({was} bytes) and was shortened");
            if let Ok(note) = Text::new(note) {
                let note = self.make(info_alert(note), self.last.clone())?;
                self.send_packet(&note, |_, _| Ok(()))?;
            }
        }
        Ok(id)
    }

    /// Sends a packet that no rule can refuse. Any other error is kept as trouble.
    pub(crate) fn must(&mut self, draft: Draft) -> Option<PacketId> {
        match self.step(|core| core.send_record(draft)) {
            Ok(id) => Some(id),
            Err(why) => {
                self.trouble.get_or_insert(why);
                None
            }
        }
    }

    /// Sends an alert and returns whether it was sent. An alert is legal in every state (D14), so also in the state
    /// that the log has reached: an earlier step that failed, for lack of an id, does not hold it back.
    pub(crate) fn alarm(&mut self, alert: impl FnOnce(Option<&Refusal>) -> Draft) -> bool {
        let before = self.trouble.take_if(|why| !why.is_final());
        let sent = self.must(alert(before.as_deref())).is_some();
        if let Some(why) = before {
            self.trouble.get_or_insert(why);
        }
        sent
    }

    /// Keeps the error of a step that has no error in its type, before anything was sent.
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

    /// Halts the episode. From then on the state of the log and the state of the type agree again.
    pub(crate) fn halt(&mut self, alarm: Alarm) {
        if self.alarm(|before| alarm.draft(before)) {
            self.trouble = None;
        }
    }

    /// Sends one packet.
    pub(crate) fn try_send(&mut self, draft: Draft) -> Result<(), Arc<Refusal>> {
        self.send(vec![draft]).map(drop)
    }

    /// Sends one packet in another envelope, which stays in force if the packet was sent.
    pub(crate) fn try_send_under(&mut self, envelope: &impl MayAsk, draft: Draft) -> Result<(), Arc<Refusal>> {
        let before = (Arc::clone(&self.mcp), Arc::clone(&self.grounded));
        self.under(envelope);
        let sent = self.try_send(draft);
        if sent.is_err() {
            (self.mcp, self.grounded) = before;
        }
        sent
    }

    /// Whether the verification loop has its SUCCESS.
    pub(crate) fn has_succeeded(&self) -> bool {
        self.machine.has_succeeded()
    }

    /// The episode has closed.
    pub(crate) fn close(&mut self) {
        self.is_over = true;
        self.leases.end(Over::Closed);
        self.claims.end(&self.origin.correlation_id, &self.leases, true);
    }

    /// The time at which a token counts as issued. If the clock was set back, no token expires at once (D64).
    pub(crate) fn issues_at(&self) -> Instant {
        self.machine.ledger().clock_at(self.now())
    }

    pub(crate) fn now(&self) -> Instant {
        self.clock.now()
    }
}

/// Appends the lines of a step to the log. If the log panics, it is unknown how much of the step it holds, as after an
/// error: the episode writes nothing more, not even at its drop.
fn append(
    log: &mut dyn Log,
    leases: &Leases,
    trouble: &mut Option<Arc<Refusal>>,
    lines: &[Line<'_>],
) -> Result<(), Refusal> {
    struct InDoubt<'c> {
        leases: &'c Leases,
        trouble: &'c mut Option<Arc<Refusal>>,
        is_over: bool,
    }
    impl Drop for InDoubt<'_> {
        fn drop(&mut self) {
            if !self.is_over {
                self.leases.end(Over::Log);
                *self.trouble = Some(Arc::new(Refusal::Log(io::Error::other("the log panicked while it was written"))));
            }
        }
    }
    let mut doubt = InDoubt { leases, trouble, is_over: false };
    let appended = log.append(lines);
    doubt.is_over = true;
    appended.map_err(Refusal::Log)
}

/// Judges the text of a packet, as a validator would. If no error is found, commits the packet and advances the
/// machine. What is judged is exactly what is written.
pub(super) fn take(
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
    // Without errors, only warnings remain.
    commit(machine, &verdict)?;
    machine.accept(&facts, &verdict);
    Ok(())
}
