//! All short schedules, compared with an independent model.
//!
//! The model has no generations and no counters: it keeps the whole history of a breaker and evaluates it anew each
//! time.

use std::sync::Arc;
use std::time::Duration;

use omen_gate::ManualClock;
use omen_gate::breaker::{Admission, BreakerState, Breakers};

use crate::support::{clock, secs};

/// Event of a schedule. `Oldest` ends the call that has been under way for the longest time, `Newest` the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Admit,
    SucceedOldest,
    FailOldest,
    DropOldest,
    UnusedOldest,
    SucceedNewest,
    FailNewest,
    AdvanceALittle,
    AdvancePastCooldown,
}

const EVENTS: [Event; 9] = [
    Event::Admit,
    Event::SucceedOldest,
    Event::FailOldest,
    Event::DropOldest,
    Event::UnusedOldest,
    Event::SucceedNewest,
    Event::FailNewest,
    Event::AdvanceALittle,
    Event::AdvancePastCooldown,
];

const LENGTH: usize = 8;
const COOLDOWN: Duration = Duration::from_secs(10);
const LITTLE: Duration = Duration::from_secs(4);

/// Relevant history of a breaker since its last change of state.
#[derive(Clone, Debug)]
enum Phase {
    /// Ends of calls in this phase, `true` for success.
    Closed(Vec<bool>),
    OpenSince(Duration),
    /// Call whose end is awaited, if any.
    Probing(Option<usize>),
}

/// Model: consecutive phases, and for each call the phase that it began in.
#[derive(Clone, Debug)]
struct Model {
    threshold: usize,
    now: Duration,
    phases: Vec<Phase>,
    calls: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Success,
    Failure,
    Unused,
}

impl Model {
    fn new(threshold: usize) -> Self {
        Self { threshold, now: Duration::ZERO, phases: vec![Phase::Closed(Vec::new())], calls: Vec::new() }
    }

    /// Admits a call, and returns its number.
    fn admit(&mut self) -> Option<usize> {
        let call = self.calls.len();
        match self.phases.last_mut().unwrap() {
            Phase::Closed(_) => {}
            Phase::OpenSince(since) if self.now < *since + COOLDOWN => return None,
            Phase::OpenSince(_) => self.phases.push(Phase::Probing(Some(call))),
            Phase::Probing(Some(_)) => return None,
            Phase::Probing(free) => *free = Some(call),
        }
        self.calls.push(self.phases.len());
        Some(call)
    }

    fn end(&mut self, call: usize, end: End) {
        if self.calls[call] != self.phases.len() {
            return;
        }
        match (self.phases.last_mut().unwrap(), end) {
            (Phase::Closed(ends), End::Success) => ends.push(true),
            (Phase::Closed(ends), End::Failure) => {
                ends.push(false);
                if ends.ends_with(&vec![false; self.threshold]) {
                    self.phases.push(Phase::OpenSince(self.now));
                }
            }
            (Phase::Closed(_), End::Unused) => {}
            (Phase::Probing(probe), end) => {
                assert_eq!(*probe, Some(call));
                match end {
                    End::Success => self.phases.push(Phase::Closed(Vec::new())),
                    End::Failure => self.phases.push(Phase::OpenSince(self.now)),
                    End::Unused => *probe = None,
                }
            }
            (Phase::OpenSince(_), _) => unreachable!("no call begins while it is open"),
        }
    }

    fn state(&self) -> BreakerState {
        match self.phases.last().unwrap() {
            Phase::Closed(ends) => {
                let failures = ends.iter().rev().take_while(|success| !**success).count();
                BreakerState::Closed { failures: u32::try_from(failures).unwrap() }
            }
            Phase::OpenSince(since) => {
                let remaining = (*since + COOLDOWN).saturating_sub(self.now);
                BreakerState::Open { remaining_ms: u64::try_from(remaining.as_millis()).unwrap() }
            }
            Phase::Probing(probe) => BreakerState::HalfOpen { probing: probe.is_some() },
        }
    }
}

/// Breaker and model, driven together.
struct Pair {
    clock: Arc<ManualClock>,
    breakers: Breakers,
    model: Model,
    under_way: Vec<(usize, Admission)>,
}

impl Pair {
    fn new(threshold: usize) -> Self {
        let clock = clock();
        let breakers = super::breakers_of(&clock, u32::try_from(threshold).unwrap());
        Self { clock, breakers, model: Model::new(threshold), under_way: Vec::new() }
    }

    fn run(&mut self, event: Event, schedule: &[Event]) {
        let oldest = |pair: &mut Self| pair.under_way.remove(0);
        match event {
            Event::Admit => match (super::admit(&self.breakers), self.model.admit()) {
                (Ok(admission), Some(call)) => {
                    if let Phase::Probing(probe) = self.model.phases.last().unwrap() {
                        // Single probe: no other call of this phase is under way.
                        assert_eq!(*probe, Some(call));
                        let phase = self.model.phases.len();
                        assert!(
                            self.under_way.iter().all(|(other, _)| self.model.calls[*other] != phase),
                            "{schedule:?}"
                        );
                    }
                    self.under_way.push((call, admission));
                }
                (Err(_), None) => {}
                (got, expect) => panic!("{schedule:?}: {got:?}, expected {expect:?}"),
            },
            Event::SucceedOldest | Event::SucceedNewest => {
                let (call, admission) =
                    if event == Event::SucceedOldest { oldest(self) } else { self.under_way.pop().unwrap() };
                admission.success();
                self.model.end(call, End::Success);
            }
            Event::FailOldest | Event::FailNewest => {
                let (call, admission) =
                    if event == Event::FailOldest { oldest(self) } else { self.under_way.pop().unwrap() };
                admission.failure();
                self.model.end(call, End::Failure);
            }
            Event::DropOldest => {
                let (call, admission) = oldest(self);
                drop(admission);
                self.model.end(call, End::Failure);
            }
            Event::UnusedOldest => {
                let (call, admission) = oldest(self);
                admission.unused();
                self.model.end(call, End::Unused);
            }
            Event::AdvanceALittle | Event::AdvancePastCooldown => {
                let by = if event == Event::AdvanceALittle { LITTLE } else { COOLDOWN + secs(1) };
                self.clock.advance(by);
                self.model.now += by;
            }
        }
        assert_eq!(self.breakers.state(&super::SEARCH), self.model.state(), "{schedule:?}");
    }
}

/// Whether the event is possible and distinct: there is a call to end, and `Newest` is not `Oldest`.
fn makes_sense(event: Event, under_way: usize) -> bool {
    match event {
        Event::Admit | Event::AdvanceALittle | Event::AdvancePastCooldown => true,
        Event::SucceedNewest | Event::FailNewest => under_way > 1,
        _ => under_way > 0,
    }
}

/// Runs all schedules with this prefix. Each runs from its beginning, because a breaker cannot be copied.
fn explore(threshold: usize, schedule: &mut Vec<Event>, counts: &mut Counts) {
    let mut pair = Pair::new(threshold);
    for (index, event) in schedule.iter().enumerate() {
        pair.run(*event, &schedule[..=index]);
    }
    if schedule.len() == LENGTH {
        counts.schedules += 1;
        match pair.model.state() {
            BreakerState::Closed { .. } => counts.closed += 1,
            BreakerState::Open { .. } => counts.open += 1,
            BreakerState::HalfOpen { .. } => counts.half_open += 1,
        }
        counts.deepest = counts.deepest.max(pair.model.phases.len());
        return;
    }
    let under_way = pair.under_way.len();
    drop(pair);
    for event in EVENTS.into_iter().filter(|event| makes_sense(*event, under_way)) {
        schedule.push(event);
        explore(threshold, schedule, counts);
        schedule.pop();
    }
}

#[derive(Debug, Default)]
struct Counts {
    schedules: usize,
    closed: usize,
    open: usize,
    half_open: usize,
    deepest: usize,
}

#[test]
fn all_schedules_of_eight_events_do_what_the_model_does() {
    // In eight events, a breaker that opens after one failure cycles twice, and one that takes two failures cycles
    // once, with late results of earlier calls.
    for (threshold, phases) in [(1, 6), (2, 4)] {
        let mut counts = Counts::default();
        explore(threshold, &mut Vec::new(), &mut counts);
        println!("{threshold}: {counts:?}");
        assert!(counts.schedules > 100_000 && counts.closed > 0 && counts.open > 0 && counts.half_open > 0);
        assert_eq!(counts.deepest, phases);
    }
}
