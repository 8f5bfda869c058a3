//! Core of an episode, independent of its state: the machine, the envelope, and the destination of packets.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use omen_invariants::facts::MayAsk;
use omen_types::{
    CampaignId, CorrelationId, Diagnostic, Instant, McpEnvelope, Packet, PacketFacts, PacketId, Text, TokenId,
};

use super::claim::Claims;
use super::draft::Draft;
use super::drop_policy::{LostHook, OnDrop};
use super::errors::Refusal;
use super::ids::IdSource;
use super::lease::{EndReason, Leases};
use super::log::{Line, Log};
use super::loop_notes::LoopNotes;
use super::open_task::OpenTask;
use super::stamps::TimeSource;
use super::tag::Tag;
use super::tool_classes::ToolClasses;
use super::truncate::{self, SerializedRecord};
use super::user_inputs::UserInputs;
use super::values::{Alarm, Alert, PacketHeaderExtras, info_alert};
use super::verified_assumptions;
use crate::machine::{Machine, Verdict};
use crate::table::{Event, Obligation};

pub(crate) struct Core {
    pub(crate) machine: Machine,
    /// Envelope of future packets.
    pub(crate) mcp: Arc<McpEnvelope>,
    /// Latest envelope that satisfies INV-004. Packets that make a claim use its evidence instead of a hypothesis's.
    pub(crate) grounded: Arc<McpEnvelope>,
    pub(crate) origin: Origin,
    pub(crate) clock: Arc<dyn TimeSource>,
    pub(crate) ids: Box<dyn IdSource>,
    pub(crate) log: Box<dyn Log>,
    pub(crate) last: Option<PacketId>,
    pub(crate) sent: u64,
    /// Latest decision, which a verification plan names.
    pub(crate) decision: Option<PacketId>,
    pub(crate) looped: LoopNotes,
    /// Open directives, by packet id.
    pub(crate) tasks: BTreeMap<String, OpenTask>,
    /// Tools of the episode, each with whether it is called as one that may write (D88).
    pub(crate) tools: ToolClasses,
    /// Issued tokens, in order. The ledger stores only their fingerprints.
    pub(crate) tokens: Vec<TokenId>,
    /// Tag that permits, tasks and proofs carry to identify this episode.
    pub(crate) tag: Tag,
    pub(crate) trouble: Option<Arc<Refusal>>,
    /// Permission of tasks to run; shared with all their handles.
    pub(crate) leases: Arc<Leases>,
    /// User inputs; shared with all handles of tasks.
    pub(crate) user_inputs: Arc<UserInputs>,
    pub(crate) claims: Claims,
    pub(crate) on_drop: OnDrop,
    pub(crate) on_lost: Option<LostHook>,
    /// Whether the episode has closed or was never started; dropping it then has no effect.
    pub(crate) is_over: bool,
}

/// Origin of an episode's packets.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) correlation_id: CorrelationId,
    pub(crate) campaign_id: Option<CampaignId>,
    /// Header fields that no rule reads.
    pub(crate) header: PacketHeaderExtras,
}

impl Machine {
    /// Returns whether the verification loop, or the latest one if none runs, has a SUCCESS.
    pub(crate) fn has_succeeded(&self) -> bool {
        self.ledger().verification().met.contains(Obligation::Success)
    }
}

impl Core {
    /// Sends packets: either all of them, or none if one is refused.
    pub(crate) fn send(&mut self, drafts: Vec<Draft>) -> Result<Vec<PacketId>, Arc<Refusal>> {
        self.step(|core| match <[Draft; 1]>::try_from(drafts) {
            Ok([draft]) => {
                let packet = core.make(draft, core.last.clone())?;
                let loop_state = core.looped.state;
                Ok(vec![
                    core.send_packet(&packet, |machine, _| verified_assumptions::check(&packet, machine, loop_state))?,
                ])
            }
            Err(drafts) => core.send_all(drafts),
        })
    }

    /// Performs a move, unless an earlier error prevents all moves. After an error of the log, this is permanent: only the
    /// log's medium knows how much of the move was written, so the next write could follow half a line, or repeat the move.
    pub(crate) fn step<T>(&mut self, step: impl FnOnce(&mut Self) -> Result<T, Refusal>) -> Result<T, Arc<Refusal>> {
        if let Some(trouble) = &self.trouble {
            return Err(Arc::clone(trouble));
        }
        let leases = Arc::clone(&self.leases);
        // The episode cannot be taken over during a move.
        let taken = leases.step().map_err(|_| Refusal::Superseded);
        taken.and_then(|_under_way| step(self)).map_err(|why| {
            let why = Arc::new(why);
            if why.is_final() {
                self.leases.end(EndReason::Log);
                self.trouble = Some(Arc::clone(&why));
            }
            why
        })
    }

    /// Sends a complete packet, if the protocol and `allowed` permit it.
    pub(crate) fn send_packet(
        &mut self,
        packet: &Packet,
        allowed: impl FnOnce(&Machine, Event) -> Result<(), Refusal>,
    ) -> Result<PacketId, Refusal> {
        self.send_written(packet, &truncate::text(packet)?, allowed)
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

    /// Forwards the warnings of a move to the log once the move is complete: if the log panics here, the episode is in
    /// the state that the log has reached.
    pub(crate) fn warn(&mut self, warnings: &[Diagnostic]) {
        warnings.iter().for_each(|warning| self.log.warn(warning));
    }

    /// Sends several packets. Each is judged as if the previous ones were accepted, and all before the first is written.
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
            let text = truncate::text(&packet)?;
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

    /// Sends a record. A record that is too long is shortened, and an alert reports that.
    fn send_record(&mut self, draft: Draft) -> Result<PacketId, Refusal> {
        let packet = self.make(draft, self.last.clone())?;
        let SerializedRecord { packet, text, was } = truncate::record(packet)?;
        let id = self.send_written(&packet, &text, |_, _| Ok(()))?;
        if let Some(was) = was {
            self.user_inputs.shortened(&id);
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

    /// Sends an alert, and returns whether it was sent. An alert is legal in every state (D14), so also in the one
    /// that the log has reached: a failed earlier move, for instance for lack of an id, does not prevent it.
    pub(crate) fn alarm(&mut self, alert: impl FnOnce(Option<&Refusal>) -> Draft) -> bool {
        let before = self.trouble.take_if(|why| !why.is_final());
        let sent = self.must(alert(before.as_deref())).is_some();
        if let Some(why) = before {
            self.trouble.get_or_insert(why);
        }
        sent
    }

    /// Keeps the error of a move whose type has no error, before anything is sent.
    pub(crate) fn keep(&mut self, why: Refusal) {
        self.trouble.get_or_insert(Arc::new(why));
    }

    /// Sends an alert that does not change the state.
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

    /// Halts the episode. Afterwards, the state of the log matches the state type again.
    pub(crate) fn halt(&mut self, alarm: Alarm) {
        if self.alarm(|before| alarm.draft(before)) {
            self.trouble = None;
        }
    }

    /// Sends one packet.
    pub(crate) fn try_send(&mut self, draft: Draft) -> Result<(), Arc<Refusal>> {
        self.send(vec![draft]).map(drop)
    }

    /// Sends one packet in another envelope, which remains in force if the packet was sent.
    pub(crate) fn try_send_under(&mut self, envelope: &impl MayAsk, draft: Draft) -> Result<(), Arc<Refusal>> {
        let before = (Arc::clone(&self.mcp), Arc::clone(&self.grounded));
        self.under(envelope);
        let sent = self.try_send(draft);
        if sent.is_err() {
            (self.mcp, self.grounded) = before;
        }
        sent
    }

    /// Returns whether the verification loop has a SUCCESS.
    pub(crate) fn has_succeeded(&self) -> bool {
        self.machine.has_succeeded()
    }

    /// Marks the episode as closed.
    pub(crate) fn close(&mut self) {
        self.is_over = true;
        self.leases.end(EndReason::Closed);
        self.claims.end(&self.origin.correlation_id, &self.leases, true);
    }

    pub(crate) fn now(&self) -> Instant {
        self.clock.now()
    }
}

/// Appends the lines of a move to the log. If the log panics or returns an error, it is unknown how much of the move
/// it holds, so the episode never writes again, not even when it is dropped.
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
                self.leases.end(EndReason::Log);
                *self.trouble = Some(Arc::new(Refusal::Log(io::Error::other("the log panicked while it was written"))));
            }
        }
    }
    let mut doubt = InDoubt { leases, trouble, is_over: false };
    let appended = log.append(lines);
    doubt.is_over = true;
    appended.map_err(Refusal::Log)
}

/// Judges the text of a packet as a validator would. If there are no errors, commits the packet and advances the
/// machine. Exactly the judged text is written.
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
