//! Hypothesis about an episode: a machine that has accepted, in addition, packets that the log's own machine has rejected.

use omen_fsm::{Event, Machine, Node, NodeSet, PackedMachine, Verdict};
use omen_invariants::ledger::bytes::{Reader, Writer};
use omen_invariants::ledger::{Fingerprint, Kind, TOLERANCE_SECONDS, is_behind};
use omen_types::{Code, Count, Instant, PacketFacts, PacketType, PayloadFacts, PositiveCount};

use super::super::options::ValidatorOptions;
use super::repair::RepairedPacket;
use super::suppose;

/// Hypothesis in packed form, as stored between two packets of its episode.
#[derive(Debug)]
pub(super) struct PackedHypothesis {
    machine: MachineForm,
    /// Number of packets that the hypothesis has refused although the log's own machine has accepted them.
    pub(super) strikes: u8,
}

#[derive(Debug)]
enum MachineForm {
    Packed(PackedMachine),
    /// A machine that is too large to be packed.
    Large(Box<Machine>),
}

/// Hypothesis in unpacked form.
#[derive(Debug)]
pub(super) struct Hypothesis {
    pub(super) machine: Machine,
    pub(super) strikes: u8,
    /// Whether copying the machine would take longer than judging a packet.
    pub(super) is_large: bool,
}

impl Hypothesis {
    pub(super) fn new(machine: Machine) -> Self {
        Self { machine, strikes: 0, is_large: false }
    }

    /// Accepts a packet. A packet that is behind the clock is treated as if it had been sent at the time of the clock:
    /// otherwise, the deadlines of a directive or a first decision would be counted from its wrong date (D83).
    pub(super) fn after(mut self, facts: &PacketFacts<'_>, verdict: &Verdict) -> Self {
        let clock = self.machine.ledger().clock().filter(|clock| is_behind(facts.header.created_at, *clock));
        match clock {
            Some(clock) => self.machine.accept(&in_time(facts.clone(), clock), verdict),
            None => self.machine.accept(facts, verdict),
        }
        self
    }

    pub(super) fn keep(self) -> PackedHypothesis {
        let machine = match self.machine.pack("", &mut Vec::new()) {
            Some(packed) => MachineForm::Packed(packed),
            None => MachineForm::Large(Box::new(self.machine)),
        };
        PackedHypothesis { machine, strikes: self.strikes }
    }
}

/// Returns a packet that is behind as if in time: at the clock or up to [`TOLERANCE_SECONDS`] later, as deadlines allow.
fn in_time<'t>(mut facts: PacketFacts<'t>, clock: Instant) -> PacketFacts<'t> {
    let later = |limit: PositiveCount| PositiveCount::new(limit.get() + TOLERANCE_SECONDS).unwrap_or(limit);
    facts.header.created_at = clock;
    let budget = &mut facts.mcp.budgets.time_budget_seconds;
    *budget = Count::new(budget.get() + TOLERANCE_SECONDS).unwrap_or(*budget);
    match &mut facts.payload {
        PayloadFacts::TaskDirective(directive) => directive.timeout_seconds = directive.timeout_seconds.map(later),
        PayloadFacts::VerificationPlan(plan) => plan.time_budget_seconds = plan.time_budget_seconds.map(later),
        _ => {}
    }
    facts
}

impl PackedHypothesis {
    /// Packs a machine; `None` if it is too large.
    pub(super) fn packed(machine: &Machine) -> Option<Self> {
        let packed = machine.pack("", &mut Vec::new())?;
        Some(Self { machine: MachineForm::Packed(packed), strikes: 0 })
    }

    /// Writes the state to a snapshot.
    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        let mut machine = Vec::new();
        self.with(|this| this.write(&mut machine));
        writer.byte(self.strikes);
        writer.bytes(&machine);
    }

    /// Reads the state from a snapshot.
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let strikes = reader.byte();
        Hypothesis { strikes, ..Hypothesis::new(Machine::read(reader.bytes())) }.keep()
    }

    /// Unpacks the machine; `None` if it is too large to be copied.
    pub(super) fn copy(&self) -> Option<Hypothesis> {
        match &self.machine {
            MachineForm::Packed(packed) => {
                Some(Hypothesis { machine: packed.unpack(), strikes: self.strikes, is_large: false })
            }
            MachineForm::Large(_) => None,
        }
    }

    pub(super) fn wake(self) -> Hypothesis {
        let (machine, is_large) = match self.machine {
            MachineForm::Packed(packed) => (packed.unpack(), false),
            MachineForm::Large(machine) => (*machine, true),
        };
        Hypothesis { machine, strikes: self.strikes, is_large }
    }

    /// Calls a function with the machine.
    pub(super) fn with<T>(&self, what: impl FnOnce(&Machine) -> T) -> T {
        match &self.machine {
            MachineForm::Packed(packed) => what(&packed.unpack()),
            MachineForm::Large(machine) => what(machine),
        }
    }

    /// Calls a function that modifies the machine.
    pub(super) fn change(&mut self, what: impl FnOnce(&mut Machine)) {
        match &mut self.machine {
            MachineForm::Packed(packed) => {
                let mut machine = packed.unpack();
                what(&mut machine);
                if let Some(changed) = machine.pack("", &mut Vec::new()) {
                    *packed = changed;
                }
            }
            MachineForm::Large(machine) => what(machine),
        }
    }
}

/// Input and options for judging a packet.
#[derive(Clone, Copy)]
pub(super) struct Case<'c> {
    pub(super) line: u64,
    pub(super) options: &'c ValidatorOptions,
    /// Assumed tokens, which may cover any tools.
    pub(super) supposed_tokens: &'c [Box<str>],
}

impl Case<'_> {
    pub(super) fn judge(&self, machine: &Machine, facts: &PacketFacts<'_>) -> Verdict {
        let mut verdict = machine.judge(facts, self.options.now);
        self.options.levels.apply(&mut verdict.invariants);
        if let PayloadFacts::TaskDirective(directive) = &facts.payload
            && let Some(token) = directive.authorization_token_id.as_deref()
            && self.supposed_tokens.iter().any(|supposed| **supposed == *token)
        {
            verdict.invariants.retain(|finding| finding.code != Code::Inv007);
        }
        verdict
    }

    /// Returns the possible machines after a packet that a machine refuses, assuming that the packet was sent
    /// nevertheless. The last one is the unchanged machine, because the packet may also be superfluous.
    pub(super) fn refused(&self, machine: Machine, facts: &PacketFacts<'_>, mut verdict: Verdict) -> Vec<Machine> {
        let mut all = Vec::new();
        if !verdict.ids.is_empty() {
            let fresh = self.with_fresh_ids(&machine, facts.clone());
            let verdict = self.judge(&machine, &fresh);
            if verdict.ids.is_empty() && verdict.fsm.is_none() {
                all.push(after(machine.clone(), &fresh, &verdict));
            }
            all.push(machine);
            return all;
        }
        if verdict.fsm.is_none() {
            return vec![after(machine, facts, &verdict)];
        }
        for corrected in suppose::corrected(&machine, facts) {
            let verdict = self.judge(&machine, &corrected);
            if verdict.ids.is_empty() && verdict.fsm.is_none() {
                all.push(after(machine.clone(), &corrected, &verdict));
            }
        }
        all.extend(self.explained(&machine, facts, Missing::default(), Strictness::Lenient));
        if all.is_empty() {
            if verdict.next.is_empty() {
                verdict.next = anywhere(verdict.event);
            }
            if !verdict.next.is_empty() {
                all.push(after(machine.clone(), facts, &verdict));
            }
        }
        all.push(machine);
        all
    }

    /// Like [`refused`](Self::refused), for a machine that is too large to be copied.
    pub(super) fn refused_large(&self, machine: Machine, facts: &PacketFacts<'_>, mut verdict: Verdict) -> Machine {
        if !verdict.ids.is_empty() {
            return machine;
        }
        if verdict.next.is_empty() {
            verdict.next = anywhere(verdict.event);
        }
        if verdict.next.is_empty() { machine } else { after(machine, facts, &verdict) }
    }

    /// Returns the machines in which a packet is legal because a packet that is missing in the log preceded it.
    pub(super) fn explained(
        &self,
        machine: &Machine,
        facts: &PacketFacts<'_>,
        missing: Missing<'_>,
        strictness: Strictness,
    ) -> Vec<Machine> {
        let mut all = Vec::new();
        let nodes = machine.nodes();
        for event in Event::ALL.iter().copied().filter(|event| matters(*event, facts)) {
            let next = nodes.after(event);
            if next.is_empty()
                || missing.packet_type.is_some_and(|packet_type| event.packet_type() != Some(packet_type))
                || (strictness == Strictness::InPlace && next != nodes)
            {
                continue;
            }
            for supposed in suppose::packets(event, machine, facts, missing.packet_id, self.line) {
                let verdict = self.judge(machine, &supposed);
                // The evidence that a missing belief update would have cited is unknown.
                let is_refused = verdict.fsm.is_some() && event != Event::Believe;
                if !verdict.ids.is_empty() || (is_refused && strictness != Strictness::Lenient) {
                    continue;
                }
                let machine = after(machine.clone(), &supposed, &verdict);
                let verdict = self.judge(&machine, facts);
                let is_legal = match strictness {
                    Strictness::Lenient => verdict.ids.is_empty() && verdict.fsm.is_none(),
                    Strictness::Strict | Strictness::InPlace => verdict.errors().next().is_none(),
                };
                if is_legal {
                    all.push(after(machine, facts, &verdict));
                }
            }
            if all.len() >= MOST_EXPLANATIONS {
                break;
            }
        }
        all
    }

    /// Returns the machines after each possible meaning of a packet that does not match its schema.
    pub(super) fn repaired(&self, machine: &Machine, packets: &[RepairedPacket]) -> Vec<Machine> {
        let mut legal = Vec::new();
        let mut refused = Vec::new();
        let mut events = Vec::new();
        for packet in packets {
            let Ok(facts) = PacketFacts::parse(&packet.text) else { continue };
            let event = Event::of(&facts);
            if events.contains(&event) {
                continue;
            }
            events.push(event);
            let facts = self.adapted(machine, facts, packet);
            let verdict = self.judge(machine, &facts);
            if verdict.ids.is_empty() && verdict.fsm.is_none() {
                legal.push(self.without_unknown_task(after(machine.clone(), &facts, &verdict), &facts, packet));
            } else {
                refused.push((facts, verdict));
            }
        }
        if !legal.is_empty() {
            return legal;
        }
        refused.into_iter().flat_map(|(facts, verdict)| self.refused(machine.clone(), &facts, verdict)).collect()
    }

    /// Replaces invented values of a packet that would affect the verdict by harmless ones.
    fn adapted<'t>(&self, machine: &Machine, mut facts: PacketFacts<'t>, packet: &RepairedPacket) -> PacketFacts<'t> {
        if packet.invents("/header/created_at") {
            facts.header.created_at = machine.ledger().clock().unwrap_or(Instant::from_unix(0, 0));
        }
        if packet.invents("/header/packet_id") {
            facts.header.packet_id = suppose::unknown(self.line);
        }
        if let PayloadFacts::ToolAuthorizationToken(token) = &mut facts.payload
            && packet.invents("/payload/expiry")
        {
            token.expiry = Instant::from_unix(suppose::FAR, 0);
        }
        self.with_fresh_ids(machine, facts)
    }

    /// Replaces ids that are already in use.
    fn with_fresh_ids<'t>(&self, machine: &Machine, mut facts: PacketFacts<'t>) -> PacketFacts<'t> {
        let ledger = machine.ledger();
        if ledger.has_seen(Fingerprint::new(Kind::Packet, &facts.header.packet_id)) {
            facts.header.packet_id = suppose::unknown(self.line);
        }
        if let PayloadFacts::TaskDirective(directive) = &mut facts.payload
            && ledger.has_seen(Fingerprint::new(Kind::Task, &directive.task_id))
        {
            directive.task_id = suppose::unknown(self.line);
        }
        facts
    }

    /// Closes a directive with unknown ids, because its result could not be recognized.
    fn without_unknown_task(&self, machine: Machine, facts: &PacketFacts<'_>, packet: &RepairedPacket) -> Machine {
        if !packet.invents("/header/packet_id") && !packet.invents("/payload/task_id") {
            return machine;
        }
        let Some(open) = machine.ledger().open().get(&facts.header.packet_id) else { return machine };
        let Some(result) = suppose::result(open, facts, self.line) else { return machine };
        let mut verdict = self.judge(&machine, &result);
        verdict.next = machine.nodes();
        after(machine, &result, &verdict)
    }
}

/// Known facts about an assumed packet.
#[derive(Clone, Copy, Default)]
pub(super) struct Missing<'m> {
    pub(super) packet_type: Option<PacketType>,
    pub(super) packet_id: Option<&'m str>,
}

/// Strictness about packets that may be assumed in order to explain another one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Strictness {
    /// The finding on the packet is reported as a root cause. The assumption helps to recognize its consequences.
    Lenient,
    /// The finding is reported as a consequence of the assumed packet.
    Strict,
    /// Like `Strict`, but the assumed packet must not have changed the state: later packets were accepted.
    InPlace,
}

/// Returns whether an event may be assumed before a packet. An alert changes nothing, and a halt explains too much,
/// because it makes almost all packets illegal.
fn matters(event: Event, next: &PacketFacts<'_>) -> bool {
    match event {
        Event::Alert | Event::Enqueue | Event::Close => false,
        Event::Halt => Event::of(next) == Event::Release,
        _ => event.packet_type().is_some(),
    }
}

/// Returns the nodes to which an event leads from all states in which it is legal.
fn anywhere(event: Event) -> NodeSet {
    Node::ALL.iter().copied().collect::<NodeSet>().after(event)
}

/// Returns the machine after a packet. A packet over budget is treated as approved, so an overrun is a single root cause.
fn after(mut machine: Machine, facts: &PacketFacts<'_>, verdict: &Verdict) -> Machine {
    machine.accept(facts, verdict);
    if verdict.errors().any(|finding| finding.code == Code::Inv005) {
        machine.suppose_approval();
    }
    machine
}

/// Maximum number of packets that are assumed before a refused one.
const MOST_EXPLANATIONS: usize = 4;
