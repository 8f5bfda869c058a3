//! Conversion of the state to log entries, and back.

use std::collections::HashSet;
use std::sync::Arc;

use super::Engine;
use super::event::Mode;
use crate::history::{Call, CallId, Ended, Entry, Moment, Now, OrderMember, Reading, State};
use crate::rules::{ContentId, RuleSet, Side, Tool, ToolRules};
use crate::values::{Amount, Fit, MemberValue, Secret};

impl Engine {
    /// Returns the entry that lists what the rules in force read of calls. It must be logged when they come into force.
    #[must_use]
    pub fn rules_entry(&self) -> Entry {
        let mut contents: Vec<_> = self.rules.contents().cloned().collect();
        contents.sort();
        Entry::Rules { contents }
    }

    /// Returns the member `order` for the entry of a call's intent or refusal.
    #[must_use]
    pub fn intent_member(&self, id: CallId, rests_on: &[CallId]) -> OrderMember {
        let Some(call) = self.history.calls.get(&id) else { return OrderMember::default() };
        let begun = call.begun.unwrap_or(call.asked);
        let entries = rests_on.iter().filter_map(|id| self.history.calls.get(id)?.entries.iter().flatten().next());
        OrderMember {
            asked: (call.asked.wall != begun.wall).then_some(call.asked.wall),
            waited_ms: u64::try_from(begun.forbids.saturating_sub(call.asked.forbids)).unwrap_or(0),
            rests_on: entries.copied().collect(),
            ..self.member(id, Side::Args)
        }
    }

    /// Returns the member `order` for the entry of a call's outcome.
    #[must_use]
    pub fn outcome_member(&self, id: CallId) -> OrderMember {
        self.member(id, Side::Answer)
    }

    fn member(&self, id: CallId, side: Side) -> OrderMember {
        let mut member = OrderMember { arrival: id.0, ..OrderMember::default() };
        let Some(call) = self.history.calls.get(&id) else { return member };
        let Some(rules) = self.rules.tools.get(&call.tool) else { return member };
        for ((content, at, _), fit) in rules.tests.iter().zip(&call.reading.tests) {
            match fit {
                Some(Fit::Yes) if *at == side => member.fits.push(content.clone()),
                Some(Fit::Unknown) if *at == side => member.unknown.push(content.clone()),
                _ => {}
            }
        }
        for ((content, at), value) in rules.members.iter().zip(&call.reading.members) {
            match value {
                MemberValue::Key(key) if at.side == side => drop(member.keys.insert(content.clone(), *key)),
                MemberValue::Unknown if at.side == side => member.unknown.push(content.clone()),
                MemberValue::Incomparable if at.side == side => member.incomparable.push(content.clone()),
                _ => {}
            }
        }
        for ((content, _), amount) in rules.sums.iter().zip(&call.reading.sums).filter(|_| side == Side::Args) {
            match amount {
                Amount::Known(amount) => drop(member.sums.insert(content.clone(), *amount)),
                Amount::Invalid => member.incomparable.push(content.clone()),
                Amount::Unknown => member.unknown.push(content.clone()),
            }
        }
        member
    }

    /// Restores the state from the entries of a log when a gate starts. Each entry has its number and its time in
    /// milliseconds since 1970. Calls that were running are over, and may have run. The rules are in force from now on.
    pub fn restore(
        rules: RuleSet,
        secret: Secret,
        mode: Mode,
        now: Now,
        entries: impl IntoIterator<Item = (u64, i64, Entry)>,
    ) -> Self {
        let mut engine = Self::new(rules, secret, mode, now);
        let mut restoring =
            Restoring { known: HashSet::new(), since: std::collections::HashMap::new(), wall: now.wall };
        for (number, wall, entry) in entries {
            engine.now.wall = engine.now.wall.max(wall);
            restoring.apply(&mut engine, number, wall, entry);
        }
        // For permissions, the present is not earlier than the latest entry.
        let latest = engine.now.wall;
        for call in engine.history.calls.values_mut() {
            for moment in [Some(&mut call.asked), call.begun.as_mut(), call.ended.as_mut()].into_iter().flatten() {
                moment.permits = now.mono.saturating_sub(latest.saturating_sub(moment.wall));
            }
        }
        // What was not read continuously until now is unknown.
        for call in engine.history.calls.values_mut() {
            if let Some(rules) = engine.rules.tools.get(&call.tool) {
                let start = call.start();
                call.reading.keep_known(rules, |content| {
                    restoring.known.contains(content)
                        && restoring.since.get(content).is_some_and(|since| *since < start)
                });
            }
        }
        for id in engine.history.all_in_flight() {
            engine.ended(id, Ended::MayHaveRun, None);
        }
        engine.outputs.clear();
        let rules = Arc::clone(&engine.rules);
        engine.history.realign(&rules, &rules, |_| false);
        engine.advance(now);
        engine
    }
}

/// State while a log is being read.
struct Restoring {
    /// Contents that the rules in force at that point read.
    known: HashSet<ContentId>,
    /// Position since which each content has been read continuously.
    since: std::collections::HashMap<ContentId, u64>,
    /// Current time of the wall clock.
    wall: i64,
}

impl Restoring {
    fn apply(&mut self, engine: &mut Engine, number: u64, wall: i64, entry: Entry) {
        match entry {
            Entry::Rules { contents } => {
                let now: HashSet<_> = contents.into_iter().collect();
                for content in now.difference(&self.known) {
                    self.since.insert(content.clone(), engine.position);
                }
                self.known = now;
            }
            Entry::Made { tool, session, turn, confirmed, order } => {
                if let Some(id) = self.asked(engine, wall, &tool, &session, &turn, &order) {
                    let moment = self.moment(engine, wall);
                    engine.change(id, |call| {
                        (call.state, call.begun, call.confirmed) = (State::Made, Some(moment), confirmed);
                        call.entries = [Some(number), None];
                    });
                }
            }
            Entry::Refused { tool, session, turn, order } => {
                if let Some(id) = self.asked(engine, wall, &tool, &session, &turn, &order) {
                    let moment = self.moment(engine, wall);
                    engine.change(id, |call| {
                        (call.state, call.begun, call.ended) = (State::Refused, Some(moment), Some(moment));
                        call.entries = [Some(number), None];
                    });
                }
            }
            Entry::Ended { end, order } => {
                let (id, moment) = (CallId(order.arrival), self.moment(engine, wall));
                let Some(call) = engine.history.calls.get_mut(&id).filter(|call| call.state == State::Made) else {
                    return;
                };
                if let (Ended::Ok, Some(rules)) = (end, engine.rules.tools.get(&call.tool)) {
                    self.read(&mut call.reading, rules, Side::Answer, &order);
                }
                let session = call.session;
                engine.history.note_activity(session, moment.forbids);
                engine.change(id, |call| {
                    (call.state, call.ended) = (end.into(), Some(moment));
                    call.entries = [call.entries.first().copied().flatten(), Some(number)];
                });
            }
            Entry::Found { opener, rule } => {
                if let Some(call) = engine.history.calls.get_mut(&opener) {
                    call.closed.push(rule);
                }
            }
            Entry::SessionBegan { session, client } => drop(engine.history.announce(&session, client)),
            Entry::SessionEnded { session } => {
                let moment = self.moment(engine, wall);
                let number = engine.history.session(&session);
                // An outcome after the end of its session is logged, but no longer counts.
                for id in engine.history.all_in_flight() {
                    let is_cut_off = |call: &&Call| call.session == number && call.state == State::Made;
                    if number.is_some() && engine.history.calls.get(&id).as_ref().is_some_and(is_cut_off) {
                        engine.change(id, |call| (call.state, call.ended) = (State::MayHaveRun, Some(moment)));
                    }
                }
                engine.history.end_session(&session);
            }
        }
    }

    fn moment(&self, engine: &mut Engine, wall: i64) -> Moment {
        engine.position += 1;
        let age = self.wall.saturating_sub(wall).max(0);
        let mono = engine.now.mono.saturating_sub(age);
        Moment { position: engine.position, forbids: mono, permits: mono, wall }
    }

    fn asked(
        &self,
        engine: &mut Engine,
        wall: i64,
        tool: &Tool,
        session: &str,
        turn: &str,
        order: &OrderMember,
    ) -> Option<CallId> {
        let rules = engine.rules.tools.get(tool).cloned()?;
        let (session, turn_number) = engine.history.open(session, turn, engine.rules.has_turns);
        let id = CallId(order.arrival);
        engine.last_id = engine.last_id.max(id.0);
        engine.last_arrival = engine.last_arrival.max(id.0);
        let mut reading = Reading::of_args(&rules, &engine.secret, None);
        self.read(&mut reading, &rules, Side::Args, order);
        let entered = self.wall.saturating_sub(wall).max(0);
        engine.history.note_activity(session, engine.now.mono.saturating_sub(entered));
        let asked = order.asked.unwrap_or(wall);
        let age = self.wall.saturating_sub(asked).max(0);
        let mono = engine.now.mono.saturating_sub(age);
        let call = Call {
            id,
            arrival: id.0,
            tool: tool.clone(),
            session,
            turn: turn_number,
            turn_name: turn.into(),
            state: State::Asked,
            confirmed: false,
            asked: Moment { position: 0, forbids: mono, permits: mono, wall: asked },
            begun: None,
            ended: None,
            entries: [None; 2],
            reading,
            closed: Vec::new(),
            is_unplaced: false,
            is_broken: false,
            held: 0,
        };
        engine.history.ask(call, &rules);
        Some(id)
    }

    fn read(&self, reading: &mut Reading, rules: &ToolRules, side: Side, order: &OrderMember) {
        fill_in(&self.known, reading, rules, (side, order));
    }
}

/// Fills in what an entry states. What the rules then in force did not read stays unknown.
pub(super) fn fill_in(
    known: &HashSet<ContentId>,
    reading: &mut Reading,
    rules: &ToolRules,
    (side, order): (Side, &OrderMember),
) {
    let is_known = |content: &ContentId| known.contains(content);
    for ((content, ..), fit) in rules.tests.iter().zip(&mut reading.tests).filter(|((_, at, _), _)| *at == side) {
        *fit = Some(match is_known(content) {
            true if order.fits.contains(content) => Fit::Yes,
            true if !order.unknown.contains(content) => Fit::No,
            _ => Fit::Unknown,
        });
    }
    for ((content, _), value) in rules.members.iter().zip(&mut reading.members).filter(|((_, at), _)| at.side == side) {
        *value = match (order.keys.get(content), is_known(content)) {
            (Some(key), true) => MemberValue::Key(*key),
            (None, true) if order.incomparable.contains(content) => MemberValue::Incomparable,
            (None, true) if !order.unknown.contains(content) => MemberValue::Missing,
            _ => MemberValue::Unknown,
        };
    }
    if side == Side::Args {
        for ((content, _), amount) in rules.sums.iter().zip(&mut reading.sums) {
            *amount = match (order.sums.get(content), is_known(content)) {
                (Some(known), true) => Amount::Known(*known),
                (None, true) if order.incomparable.contains(content) => Amount::Invalid,
                _ => Amount::Unknown,
            };
        }
    }
}
