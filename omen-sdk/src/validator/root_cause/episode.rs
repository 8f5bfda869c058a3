//! Hypotheses about a single episode.

use omen_fsm::{Machine, Verdict};
use omen_invariants::ledger::bytes::{Reader, Writer};
use omen_types::{Claims, Instant, PacketFacts, PacketType, PayloadFacts};

use super::super::options::ValidatorOptions;
use super::super::options::at_end;
use super::encoding::{read_cause, read_text, read_type, write_cause, write_text, write_type};
use super::finding::{Ends, Follows, Key, is_accepted};
use super::hypothesis::{Case, Hypothesis, Missing, PackedHypothesis, Strictness};
use super::lost::LostLines;
use super::repair::repaired;
use super::suppose;
use crate::finding::{Cause, Stage};

/// Possible true histories of an episode since its first rejected packet.
#[derive(Debug)]
pub(super) struct Hypotheses {
    hypotheses: Vec<PackedHypothesis>,
    /// Latest rejected packet that is a root cause.
    root: Cause,
    /// Rejected packet that is only partly known, if any.
    vague: Option<Vague>,
    /// Assumed tokens, whose scopes are unknown.
    supposed_tokens: Vec<Box<str>>,
    /// Whether the root cause is the time of an accepted packet (D83).
    is_time: bool,
    /// Number of root causes so far.
    roots: u32,
    /// Line number of the unreadable line that has explained a packet.
    lost: u64,
}

/// A rejected packet that is only partly known.
#[derive(Debug)]
struct Vague {
    cause: Cause,
    packet_type: Option<PacketType>,
    packet_id: Option<String>,
    /// Whether another packet followed it.
    is_past: bool,
}

/// Explanation under which a packet is legal after all.
struct Explanation {
    cause: Cause,
    /// Whether the cause is a line that names no episode.
    is_lost: bool,
    next: Vec<Hypothesis>,
}

/// Packet that the log's own machine has judged.
pub(in crate::validator) struct PacketVerdict<'j, 'f> {
    pub(in crate::validator) facts: &'j PacketFacts<'f>,
    /// Machine before the packet.
    pub(in crate::validator) machine: &'j Machine,
    pub(in crate::validator) verdict: &'j Verdict,
    pub(in crate::validator) accepted: bool,
}

impl Hypotheses {
    /// Creates the hypotheses from a machine that has not rejected a packet yet.
    pub(super) fn new(machine: Machine) -> Self {
        Self {
            hypotheses: vec![Hypothesis::new(machine).keep()],
            root: Cause { line: 0, packet_id: None },
            vague: None,
            supposed_tokens: Vec::new(),
            is_time: false,
            roots: 0,
            lost: 0,
        }
    }

    /// Writes the state to a snapshot.
    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        let Self { hypotheses, root, vague, supposed_tokens, is_time, roots, lost } = self;
        writer.number(hypotheses.len() as u64);
        hypotheses.iter().for_each(|kept| kept.write(writer));
        write_cause(root, writer);
        writer.byte(u8::from(vague.is_some()));
        if let Some(Vague { cause, packet_type, packet_id, is_past }) = vague {
            write_cause(cause, writer);
            write_type(*packet_type, writer);
            write_text(packet_id.as_deref(), writer);
            writer.byte(u8::from(*is_past));
        }
        writer.number(supposed_tokens.len() as u64);
        supposed_tokens.iter().for_each(|token| writer.text(token));
        writer.byte(u8::from(*is_time));
        writer.number(u64::from(*roots));
        writer.number(*lost);
    }

    /// Reads the state from a snapshot.
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        Self {
            hypotheses: (0..reader.count()).map(|_| PackedHypothesis::read(reader)).collect(),
            root: read_cause(reader),
            vague: (reader.byte() == 1).then(|| Vague {
                cause: read_cause(reader),
                packet_type: read_type(reader),
                packet_id: read_text(reader),
                is_past: reader.byte() == 1,
            }),
            supposed_tokens: (0..reader.count()).map(|_| reader.text().into()).collect(),
            is_time: reader.byte() == 1,
            roots: u32::try_from(reader.number()).unwrap_or(u32::MAX),
            lost: reader.number(),
        }
    }

    /// Returns whether no hypothesis is left.
    pub(super) fn is_over(&self) -> bool {
        self.hypotheses.is_empty()
    }

    /// Records an accepted packet whose time explains later findings (D83).
    pub(super) fn wrong_time(&mut self, cause: Cause) {
        self.root = cause;
        self.is_time = true;
        self.roots = self.roots.saturating_add(1);
    }

    /// Records a packet that is ahead, like [`wrong_time`](Self::wrong_time): all hypotheses return to the clock before it.
    pub(super) fn ahead(&mut self, cause: Cause, before: Option<Instant>) {
        if self.root != cause {
            self.hypotheses.iter_mut().for_each(|kept| kept.change(|machine| machine.undo_leap(before)));
            self.wrong_time(cause);
        }
    }

    /// Judges a packet in parallel with the log's own machine.
    pub(super) fn packet(
        &mut self,
        line: u64,
        judged: &PacketVerdict<'_, '_>,
        options: &ValidatorOptions,
        lost: &LostLines,
    ) -> Follows {
        let tokens = std::mem::take(&mut self.supposed_tokens);
        let case = Case { line, options, supposed_tokens: &tokens };
        let all = self.hypotheses.drain(..).map(|kept| {
            let hypothesis = kept.wake();
            let verdict = case.judge(&hypothesis.machine, judged.facts);
            (hypothesis, verdict)
        });
        let all: Vec<_> = all.collect();
        let is_fine = |(_, verdict): &(Hypothesis, Verdict)| is_accepted(verdict);
        let mut token = None;
        let (follows, next) = if judged.accepted {
            let follows = self.warned(judged, &all);
            (follows, continued(&case, judged.facts, all))
        } else if all.iter().any(is_fine) {
            let all = all.into_iter().filter(is_fine);
            (
                Follows::All(self.root.clone()),
                all.map(|(hypothesis, verdict)| hypothesis.after(judged.facts, &verdict)).collect(),
            )
        } else {
            token = unknown_token(judged.facts, &all).filter(|_| tokens.len() < MOST_TOKENS).map(Box::from);
            self.rejected(&case, judged, all, lost)
        };
        self.supposed_tokens = tokens;
        self.supposed_tokens.extend(token);
        if let Some(vague) = &mut self.vague {
            vague.is_past = true;
        }
        self.hypotheses = next.into_iter().map(Hypothesis::keep).collect();
        follows
    }

    /// Returns which findings on a root cause follow from an earlier packet; nothing if the packet is not a root cause,
    /// or if the search takes too long. The hypotheses do not accept the packet.
    pub(super) fn root(
        &self,
        line: u64,
        judged: &PacketVerdict<'_, '_>,
        options: &ValidatorOptions,
        lost: &LostLines,
    ) -> Option<Follows> {
        let case = Case { line, options, supposed_tokens: &self.supposed_tokens };
        let mut all = Vec::new();
        for kept in &self.hypotheses {
            let hypothesis = kept.copy()?;
            let verdict = case.judge(&hypothesis.machine, judged.facts);
            if is_accepted(&verdict) {
                return None;
            }
            all.push((hypothesis, verdict));
        }
        let is_root = self.explanation(&case, judged, &all, lost).is_none();
        is_root.then(|| self.roots_of(judged, &all))
    }

    /// Returns which warnings on a packet follow from an earlier one: warnings missing from the verdict of some
    /// hypothesis that accepts the packet.
    fn warned(&self, judged: &PacketVerdict<'_, '_>, all: &[(Hypothesis, Verdict)]) -> Follows {
        let fine = all.iter().filter(|(_, verdict)| is_accepted(verdict));
        let mut made = fine.map(|(_, verdict)| Key::all(verdict));
        match made.next().filter(|_| !judged.verdict.is_clean()) {
            Some(mut common) => {
                made.for_each(|made| common.retain(|key| made.contains(key)));
                Follows::Except(self.root.clone(), common)
            }
            None => Follows::Nothing,
        }
    }

    /// Handles a packet that both the log's machine and all hypotheses reject.
    fn rejected(
        &mut self,
        case: &Case<'_>,
        judged: &PacketVerdict<'_, '_>,
        all: Vec<(Hypothesis, Verdict)>,
        lost: &LostLines,
    ) -> (Follows, Vec<Hypothesis>) {
        if let Some(Explanation { cause, is_lost, next }) = self.explanation(case, judged, &all, lost) {
            // The lost line was a single packet, so it cannot explain any others.
            if is_lost {
                self.lost = cause.line;
            } else {
                self.vague = None;
            }
            self.root = cause.clone();
            self.is_time = false;
            return (Follows::All(cause), next);
        }
        let follows = self.roots_of(judged, &all);
        self.root = Cause { line: case.line, packet_id: Some(judged.facts.header.packet_id.to_string()) };
        self.is_time = false;
        self.roots = self.roots.saturating_add(1);
        let mut next = Vec::new();
        for (hypothesis, verdict) in all {
            let Hypothesis { machine, strikes, is_large } = hypothesis;
            if is_large || self.roots > MOST_ROOTS {
                let machine = case.refused_large(machine, judged.facts, verdict);
                next.push(Hypothesis { machine, strikes, is_large });
            } else {
                next.extend(case.refused(machine, judged.facts, verdict).into_iter().map(Hypothesis::new));
            }
        }
        next.truncate(self.most());
        (follows, next)
    }

    /// Returns the maximum number of hypotheses, which is lower in an episode with mistakes almost everywhere.
    fn most(&self) -> usize {
        if self.roots > MOST_ROOTS { 1 } else { MOST_HYPOTHESES }
    }

    /// Returns which findings on a packet are root causes: those that the most charitable hypothesis reports as well.
    /// There is always at least one, because every hypothesis rejects the packet.
    fn roots_of(&self, judged: &PacketVerdict<'_, '_>, all: &[(Hypothesis, Verdict)]) -> Follows {
        if self.roots == 0 {
            return Follows::Nothing;
        }
        let found = Key::all(judged.verdict);
        let best = all.iter().map(|(_, verdict)| verdict).min_by_key(|verdict| verdict.errors().count());
        let made = best.map(Key::all).unwrap_or_default();
        let roots: Vec<Key> = found.iter().filter(|key| made.contains(key)).cloned().collect();
        let reason = best.and_then(|verdict| verdict.errors().next());
        match (found.into_iter().next(), reason) {
            (Some(first), Some(reason)) if roots.is_empty() => {
                let otherwise = if self.is_time { "had the time of those around it" } else { "were accepted" };
                // An invented id would look as if it were in the log.
                let is_invented = reason.message.contains(&format!("`{}`", suppose::unknown(self.root.line)));
                let what = if is_invented { reason.code.info().title } else { &reason.message };
                let note = format!("if line {} {otherwise}: {}: {what}", self.root.line, reason.code);
                Follows::ExceptFirst(self.root.clone(), first, note)
            }
            _ => Follows::Except(self.root.clone(), roots),
        }
    }

    /// Returns an explanation if a packet is legal after an unknown one: a rejected packet that is barely readable, or
    /// a line that names no episode.
    fn explanation(
        &self,
        case: &Case<'_>,
        judged: &PacketVerdict<'_, '_>,
        all: &[(Hypothesis, Verdict)],
        lost: &LostLines,
    ) -> Option<Explanation> {
        if all.iter().any(|(hypothesis, _)| hypothesis.is_large) || self.roots > MOST_ROOTS {
            return None;
        }
        let explain = |missing: Missing<'_>, is_past: bool| -> Vec<Hypothesis> {
            let machines = Some((judged.machine, Strictness::Strict)).filter(|_| !is_past).into_iter();
            let machines = machines.chain(all.iter().map(|(hypothesis, _)| (&hypothesis.machine, Strictness::InPlace)));
            let found = machines.flat_map(|(machine, strictness)| {
                case.explained(machine, judged.facts, missing, strictness).into_iter().map(Hypothesis::new)
            });
            found.take(MOST_HYPOTHESES).collect()
        };
        if let Some(vague) = &self.vague {
            let missing = Missing { packet_type: vague.packet_type, packet_id: vague.packet_id.as_deref() };
            let next = explain(missing, vague.is_past);
            if !next.is_empty() {
                return Some(Explanation { cause: vague.cause.clone(), is_lost: false, next });
            }
        }
        let (cause, packet_type, is_next) = lost.before(case.line, &judged.facts.header.correlation_id, self.lost)?;
        let next = explain(Missing { packet_type, packet_id: None }, !is_next);
        (!next.is_empty()).then_some(Explanation { cause, is_lost: true, next })
    }

    /// Adds a packet that does not match its schema.
    pub(super) fn broken(&mut self, line: u64, text: Option<&str>, claims: &Claims, options: &ValidatorOptions) {
        let tokens = std::mem::take(&mut self.supposed_tokens);
        let case = Case { line, options, supposed_tokens: &tokens };
        self.root = Cause { line, packet_id: claims.packet_id.clone() };
        self.is_time = false;
        self.roots = self.roots.saturating_add(1);
        let packets = match text {
            Some(text) if self.roots <= MOST_ROOTS => repaired(text, claims),
            _ => Vec::new(),
        };
        // Envelopes affect neither the state of an episode nor its ids.
        let matters = |pointer: &String| pointer.starts_with("/payload") || pointer == "/header/packet_id";
        let is_vague = packets.iter().all(|packet| packet.invented.iter().any(matters));
        if is_vague {
            let stated = packets.first().and_then(|packet| PacketFacts::parse(&packet.text).ok());
            let packet_type = stated.as_ref().map(|facts| facts.payload.packet_type());
            let known = packets.first().is_some_and(|packet| !packet.invents("/header/packet_id"));
            let packet_id = stated.filter(|_| known).map(|facts| facts.header.packet_id.into_owned());
            self.vague = Some(Vague { cause: self.root.clone(), packet_type, packet_id, is_past: false });
        }
        let mut next = Vec::new();
        for kept in self.hypotheses.drain(..) {
            let hypothesis = kept.wake();
            let after = if hypothesis.is_large { Vec::new() } else { case.repaired(&hypothesis.machine, &packets) };
            if after.is_empty() {
                next.push(hypothesis);
            } else {
                next.extend(after.into_iter().map(Hypothesis::new));
            }
        }
        next.truncate(self.most());
        self.hypotheses = next.into_iter().map(Hypothesis::keep).collect();
        self.supposed_tokens = tokens;
    }

    /// Returns which findings at the end of the episode follow from an earlier packet.
    pub(super) fn at_end(
        &self,
        found: &[(Option<&str>, omen_types::Diagnostic)],
        options: &ValidatorOptions,
        lost: Option<Cause>,
    ) -> Ends {
        let key = |(packet_id, finding): &(Option<&str>, omen_types::Diagnostic)| {
            (packet_id.map(str::to_owned), Key::new(Stage::End, finding))
        };
        let made: Vec<Vec<_>> = self
            .hypotheses
            .iter()
            .map(|kept| kept.with(|machine| at_end(machine, options).iter().map(key).collect()))
            .collect();
        let follows = |one| made.iter().any(|made| !made.contains(&key(one)));
        let causes = found.iter().map(|one| follows(one).then(|| self.root.clone())).collect();
        let is_result = |vague: &&Vague| vague.packet_type.is_none_or(|one| one == PacketType::TaskResultPacket);
        let vague = self.vague.as_ref().filter(is_result).map(|vague| vague.cause.clone());
        Ends { causes, lost: vague.or(lost) }
    }

    /// Advances the time. Returns the open directives of all hypotheses, and the cause of findings on other directives.
    pub(super) fn tick(&mut self, now: Instant) -> Option<(Cause, Vec<Box<str>>)> {
        let mut open: Option<Vec<Box<str>>> = None;
        for kept in &mut self.hypotheses {
            kept.change(|machine| {
                let here = machine.ledger().open();
                match &mut open {
                    None => open = Some(here.in_order().into_iter().map(|open| open.packet_id.clone()).collect()),
                    Some(open) => open.retain(|id| here.get(id).is_some()),
                }
                drop(machine.tick(now));
            });
        }
        Some((self.root.clone(), open?))
    }
}

/// Returns the token that a directive names if it was never issued, which is reported only once.
fn unknown_token<'f>(facts: &'f PacketFacts<'_>, all: &[(Hypothesis, Verdict)]) -> Option<&'f str> {
    let PayloadFacts::TaskDirective(directive) = &facts.payload else { return None };
    let id = directive.authorization_token_id.as_deref()?;
    all.iter().all(|(hypothesis, _)| hypothesis.machine.ledger().tokens().get(id).is_none()).then_some(id)
}

/// Returns the hypotheses after a packet that the log's machine accepts. A hypothesis that refuses two such packets is
/// dropped, because the log contradicts it. A single one may be a rejected packet that was sent again, or one of two
/// packets in the wrong order.
fn continued(case: &Case<'_>, facts: &PacketFacts<'_>, all: Vec<(Hypothesis, Verdict)>) -> Vec<Hypothesis> {
    let mut next = Vec::new();
    let is_fine = all.iter().any(|(_, verdict)| is_accepted(verdict));
    for (mut hypothesis, verdict) in all {
        if verdict.ids.is_empty() && verdict.fsm.is_none() {
            next.push(hypothesis.after(facts, &verdict));
            continue;
        }
        if hypothesis.is_large {
            next.push(hypothesis);
            continue;
        }
        hypothesis.strikes += 1;
        if hypothesis.strikes == STRIKES {
            continue;
        }
        let explained = if is_fine {
            Vec::new()
        } else {
            case.explained(&hypothesis.machine, facts, Missing::default(), Strictness::Lenient)
        };
        let strikes = hypothesis.strikes;
        next.extend(explained.into_iter().map(|machine| Hypothesis { machine, strikes, is_large: false }));
        next.push(hypothesis);
    }
    next.truncate(MOST_HYPOTHESES);
    next
}

/// Maximum number of hypotheses for an episode.
const MOST_HYPOTHESES: usize = 8;

/// Number of root causes in an episode after which hypotheses are no longer multiplied: almost everything is wrong, and
/// guessing takes longer than judging.
const MOST_ROOTS: u32 = 16;

/// Number of accepted packets whose refusal drops a hypothesis.
const STRIKES: u8 = 2;

/// Maximum number of assumed tokens.
const MOST_TOKENS: usize = 16;
