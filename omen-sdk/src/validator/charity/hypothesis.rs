//! How an episode may really have gone: a machine that also took in packets that the log's own machine has rejected.

use omen_fsm::{Event, Machine, Node, NodeSet, PackedMachine, Verdict};
use omen_invariants::ledger::bytes::{Reader, Writer};
use omen_invariants::ledger::{Fingerprint, Kind, TOLERANCE_SECONDS, is_behind};
use omen_types::{Code, Count, Instant, PacketFacts, PacketType, PayloadFacts, PositiveCount};

use super::super::options::ValidatorOptions;
use super::repair::Repaired;
use super::suppose;

/// A machine with charity, as it is kept between two packets of its episode.
#[derive(Debug)]
pub(super) struct Kept {
    machine: Form,
    /// How often it has refused what the log's own machine has accepted.
    pub(super) strikes: u8,
}

#[derive(Debug)]
enum Form {
    Packed(PackedMachine),
    /// It is too large to be packed.
    Large(Box<Machine>),
}

/// A machine with charity, at work.
#[derive(Debug)]
pub(super) struct Hypothesis {
    pub(super) machine: Machine,
    pub(super) strikes: u8,
    /// To copy it would take longer than to judge a packet.
    pub(super) is_large: bool,
}

impl Hypothesis {
    pub(super) fn new(machine: Machine) -> Self {
        Self { machine, strikes: 0, is_large: false }
    }

    /// Takes in a packet. One that is behind the clock is taken as sent at the time of the clock (D83): what a directive or a first
    /// decision is dated would otherwise count from then on.
    pub(super) fn after(mut self, facts: &PacketFacts<'_>, verdict: &Verdict) -> Self {
        let clock = self.machine.ledger().clock().filter(|clock| is_behind(facts.header.created_at, *clock));
        match clock {
            Some(clock) => self.machine.accept(&in_time(facts.clone(), clock), verdict),
            None => self.machine.accept(facts, verdict),
        }
        self
    }

    pub(super) fn keep(self) -> Kept {
        let machine = match self.machine.pack("", &mut Vec::new()) {
            Some(packed) => Form::Packed(packed),
            None => Form::Large(Box::new(self.machine)),
        };
        Kept { machine, strikes: self.strikes }
    }
}

/// A packet that is behind, as sent in time: at the clock or up to [`TOLERANCE_SECONDS`] later, which what counts from it allows for.
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

impl Kept {
    /// Packs a machine; none if it is too large.
    pub(super) fn packed(machine: &Machine) -> Option<Self> {
        let packed = machine.pack("", &mut Vec::new())?;
        Some(Self { machine: Form::Packed(packed), strikes: 0 })
    }

    /// For a snapshot.
    pub(super) fn write(&self, writer: &mut Writer<'_>) {
        let mut machine = Vec::new();
        self.with(|this| this.write(&mut machine));
        writer.byte(self.strikes);
        writer.bytes(&machine);
    }

    /// What [`write`](Self::write) wrote.
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let strikes = reader.byte();
        Hypothesis { strikes, ..Hypothesis::new(Machine::read(reader.bytes())) }.keep()
    }

    /// Unpacks the machine; none if it is too large to be copied.
    pub(super) fn copy(&self) -> Option<Hypothesis> {
        match &self.machine {
            Form::Packed(packed) => {
                Some(Hypothesis { machine: packed.unpack(), strikes: self.strikes, is_large: false })
            }
            Form::Large(_) => None,
        }
    }

    pub(super) fn wake(self) -> Hypothesis {
        let (machine, is_large) = match self.machine {
            Form::Packed(packed) => (packed.unpack(), false),
            Form::Large(machine) => (*machine, true),
        };
        Hypothesis { machine, strikes: self.strikes, is_large }
    }

    /// Does something with the machine.
    pub(super) fn with<T>(&self, what: impl FnOnce(&Machine) -> T) -> T {
        match &self.machine {
            Form::Packed(packed) => what(&packed.unpack()),
            Form::Large(machine) => what(machine),
        }
    }

    /// Does something with the machine that changes it.
    pub(super) fn change(&mut self, what: impl FnOnce(&mut Machine)) {
        match &mut self.machine {
            Form::Packed(packed) => {
                let mut machine = packed.unpack();
                what(&mut machine);
                if let Some(changed) = machine.pack("", &mut Vec::new()) {
                    *packed = changed;
                }
            }
            Form::Large(machine) => what(machine),
        }
    }
}

/// What is judged, and how.
#[derive(Clone, Copy)]
pub(super) struct Case<'c> {
    pub(super) line: u64,
    pub(super) options: &'c ValidatorOptions,
    /// Tokens that were only supposed: nobody knows which tools they cover.
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

    /// The machines after a packet that a machine refuses, if the packet was sent all the same. The last one is the machine as it
    /// is: the packet may also be one too many.
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

    /// As [`refused`](Self::refused), with a machine that is too large to be copied.
    pub(super) fn refused_large(&self, machine: Machine, facts: &PacketFacts<'_>, mut verdict: Verdict) -> Machine {
        if !verdict.ids.is_empty() {
            return machine;
        }
        if verdict.next.is_empty() {
            verdict.next = anywhere(verdict.event);
        }
        if verdict.next.is_empty() { machine } else { after(machine, facts, &verdict) }
    }

    /// The machines in which a packet is legal because another one, which is not in the log, came before it.
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
                // Which evidence a belief update would have cited is not known.
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

    /// The machines after a packet that does not match its schema, as it may have been meant to be.
    pub(super) fn repaired(&self, machine: &Machine, packets: &[Repaired]) -> Vec<Machine> {
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

    /// Replaces what is invented in a packet and would matter by what does no harm.
    fn adapted<'t>(&self, machine: &Machine, mut facts: PacketFacts<'t>, packet: &Repaired) -> PacketFacts<'t> {
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

    /// Replaces ids that are used already.
    fn with_fresh_ids<'t>(&self, machine: &Machine, mut facts: PacketFacts<'t>) -> PacketFacts<'t> {
        let ledger = machine.ledger();
        if ledger.has_seen(Fingerprint::of(Kind::Packet, &facts.header.packet_id)) {
            facts.header.packet_id = suppose::unknown(self.line);
        }
        if let PayloadFacts::TaskDirective(directive) = &mut facts.payload
            && ledger.has_seen(Fingerprint::of(Kind::Task, &directive.task_id))
        {
            directive.task_id = suppose::unknown(self.line);
        }
        facts
    }

    /// Closes a directive whose ids are not known: its result cannot be recognized.
    fn without_unknown_task(&self, machine: Machine, facts: &PacketFacts<'_>, packet: &Repaired) -> Machine {
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

/// What is known of a packet that is supposed.
#[derive(Clone, Copy, Default)]
pub(super) struct Missing<'m> {
    pub(super) packet_type: Option<PacketType>,
    pub(super) packet_id: Option<&'m str>,
}

/// How much may be supposed to explain a packet.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Strictness {
    /// The finding on the packet is reported as a root cause; what follows from it is to be recognized.
    Lenient,
    /// The finding is reported as a consequence of the packet that is supposed.
    Strict,
    /// As strict, and the packet that is supposed has not changed the state: others came after it and were accepted.
    InPlace,
}

/// Whether an event may be supposed before a packet. An alert changes nothing, and a halt explains too much: all but
/// a few packets are illegal after it.
fn matters(event: Event, next: &PacketFacts<'_>) -> bool {
    match event {
        Event::Alert | Event::Enqueue | Event::Close => false,
        Event::Halt => Event::of(next) == Event::Release,
        _ => event.packet_type().is_some(),
    }
}

/// Where an event leads from all the states in which it is legal.
fn anywhere(event: Event) -> NodeSet {
    Node::ALL.iter().copied().collect::<NodeSet>().after(event)
}

/// The machine after a packet. One that is over budget is taken as approved, so that an overrun is one root cause.
fn after(mut machine: Machine, facts: &PacketFacts<'_>, verdict: &Verdict) -> Machine {
    machine.accept(facts, verdict);
    if verdict.errors().any(|finding| finding.code == Code::Inv005) {
        machine.suppose_approval();
    }
    machine
}

/// The most packets that are supposed before one that is refused.
const MOST_EXPLANATIONS: usize = 4;
