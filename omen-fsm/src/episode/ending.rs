//! What becomes of an episode that is dropped (D54).
//!
//! The most natural Rust drops an episode where something else fails: `?`, an early return, a panic, a future
//! that is cancelled. Its log must be legal all the same. So this stands on the core, whatever the state's type.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use omen_types::serde_json::Value;
use omen_types::{
    Code, CorrelationId, DecisionOutcome, Diagnostic, ErrorDetails, EscalationTrigger, TaskResultPayload, Text,
};

use super::core::{Core, Draft};
use super::lease::Over;
use super::refused::Refusal;
use super::values::{Alarm, Belief, Choice, Escalation, Gap, Ruling, Step, info_alert};
use crate::table::{Event, LOOP_NODE, Node, NodeSet};

/// What an episode does that is dropped before it has closed: [`Setup::on_drop`](super::Setup::on_drop).
///
/// Nothing that is written claims more than that the program went away. Tasks that still run are broken off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OnDrop {
    /// Closes open directives as CANCELLED, and goes to `Review` by the shortest legal way: belief updates and a
    /// decision to CANCEL. Where the table has no such way it ends where it is with an alert: of severity INFO if the
    /// stream may end there, else (in a verification loop) CRITICAL, which is safe mode. Over budget, too, it ends in safe
    /// mode (INV-005).
    #[default]
    Cancel,
    /// Halts: safe mode, which layer 1 has to clear.
    Halt,
    /// Closes open directives as CANCELLED, and lays before a human what is left to do. Where the table has no way to
    /// an escalation, does as [`OnDrop::Cancel`].
    Escalate,
    /// Writes nothing: the episode is resumed from its log later. Until then the log may not be legal as it ends.
    Leave,
}

/// An episode that was dropped, and whose end could not be written.
#[derive(Clone, Debug)]
pub struct Lost {
    /// Which one.
    pub correlation_id: CorrelationId,
    /// Why.
    pub why: Arc<Refusal>,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the end of `{}`, which was dropped, is not in its log: {}", self.correlation_id, self.why)
    }
}

impl std::error::Error for Lost {}

/// Told of an episode whose end could not be written.
pub(crate) type Hook = Box<dyn FnOnce(&Lost) + Send + Sync>;

impl Drop for Core {
    fn drop(&mut self) {
        if std::mem::replace(&mut self.is_over, true) {
            return;
        }
        // Clock, ids and log are foreign code, and this may run while a panic unwinds.
        let ended = catch_unwind(AssertUnwindSafe(|| self.end_as_dropped()));
        self.claims.end(&self.origin.correlation_id, &self.leases, self.sent > 0);
        let why = match ended {
            Ok(Ok(())) => return,
            Ok(Err(why)) => why,
            Err(_) => {
                let problem = "the clock, the ids or the log panicked while the episode was being ended";
                Arc::new(Refusal::rule(Diagnostic::error(Code::E6, problem)))
            }
        };
        if let Some(hook) = self.on_lost.take() {
            let lost = Lost { correlation_id: self.origin.correlation_id.clone(), why };
            let _ = catch_unwind(AssertUnwindSafe(|| hook(&lost)));
        }
    }
}

impl Core {
    fn end_as_dropped(&mut self) -> Result<(), Arc<Refusal>> {
        // Before anything is written: what the log says was cancelled must not run.
        self.leases.end(Over::Dropped);
        if self.sent == 0 || self.on_drop == OnDrop::Leave {
            return Ok(());
        }
        match &self.trouble {
            // Who resumed it writes its end.
            Some(why) if matches!(**why, Refusal::Superseded) => return Ok(()),
            Some(why) if matches!(**why, Refusal::Log(_)) => return Err(Arc::clone(why)),
            // What could not be written before is not in the log.
            _ => self.trouble = None,
        }
        let reason = self.reason();
        match self.go_to_an_end(&reason).and_then(|()| self.halt_over_budget(&reason)) {
            Ok(()) => Ok(()),
            Err(why) if matches!(*why, Refusal::Superseded) => Ok(()),
            Err(why) if matches!(*why, Refusal::Log(_)) => Err(why),
            // A halt is legal in every state, and refused for nothing (D14, D31).
            Err(why) => self.send(vec![Alarm::from(reason).draft(Some(&why))]).map(drop),
        }
    }

    fn go_to_an_end(&mut self, reason: &Text) -> Result<(), Arc<Refusal>> {
        let here = self.machine.nodes();
        if self.on_drop == OnDrop::Halt && here != NodeSet::of(Node::SafeMode) {
            return self.send(vec![Alarm::from(reason.clone()).draft(None)]).map(drop);
        }
        let open = self.cancelled(reason);
        // In safe mode what is open waits for the CLEAR (D13).
        if !open.is_empty() && here != NodeSet::of(Node::SafeMode) {
            self.send(open)?;
        }
        // An escalation for want of budget approves the overrun, and asks for just that (D32).
        let over = self.machine.ledger().clock().is_some_and(|now| !self.machine.ledger().overruns(now).is_empty());
        let trigger =
            if over { EscalationTrigger::BudgetInsufficient } else { EscalationTrigger::UserOverrideRequired };
        let escalates = self.on_drop == OnDrop::Escalate;
        let way = escalates
            .then(|| way(here, &[Event::Believe, Event::DecideEscalate, Event::Escalate], Node::Escalated))
            .flatten()
            .or_else(|| way(here, &[Event::Believe, Event::DecideStop], Node::Review));
        match way {
            Some(events) if events.is_empty() && here == NodeSet::of(Node::Escalated) => self.note_the_end(reason),
            // The reason stands in the log in any case.
            Some(events) if events.is_empty() => self.send(vec![belief(reason)]).map(drop),
            Some(events) => events.into_iter().try_for_each(|event| {
                let draft = match event {
                    Event::DecideStop => Ruling::to_give_up(reason).draft(DecisionOutcome::Cancel)?,
                    Event::DecideEscalate => Ruling::to_give_up(reason).draft(DecisionOutcome::Escalate)?,
                    Event::Escalate => escalation(reason, trigger).full().draft(),
                    _ => belief(reason),
                };
                self.send(vec![draft]).map(drop)
            }),
            None if self.machine.finish().is_empty() => self.note_the_end(reason),
            None => self.send(vec![Alarm::from(reason.clone()).draft(None)]).map(drop),
        }
    }

    /// An episode over budget that nobody has approved may end in safe mode alone (D59). The packets before may have taken
    /// the time that was left.
    fn halt_over_budget(&mut self, reason: &Text) -> Result<(), Arc<Refusal>> {
        if self.machine.finish().is_empty() {
            return Ok(());
        }
        self.send(vec![Alarm::from(reason.clone()).draft(None)]).map(drop)
    }

    fn note_the_end(&mut self, reason: &Text) -> Result<(), Arc<Refusal>> {
        self.send(vec![info_alert(reason.clone())]).map(drop)
    }

    /// Results for the directives that are open.
    fn cancelled(&self, reason: &Text) -> Vec<Draft> {
        let result = |task: super::Pending| {
            let details = ErrorDetails::builder().error_message(reason.to_string()).build();
            let payload = TaskResultPayload::cancelled()
                .task_id(task.task_id().clone())
                .directive_packet_id(task.directive().clone())
                .result_data(Value::Null)
                .error_details(details);
            Draft::new(payload.build())
        };
        self.pending_tasks().into_iter().map(result).collect()
    }

    fn reason(&self) -> Text {
        let nodes = self.machine.nodes();
        let how = if std::thread::panicking() { "by a panic" } else { "before it had closed" };
        Text::new(format!("the program dropped this episode in {nodes}, {how}"))
            .unwrap_or_else(|_| omen_invariants::text!("dropped"))
    }
}

/// The shortest way that some events lead to a node, by the table. None out of a verification loop, which only
/// evidence closes.
fn way(from: NodeSet, events: &[Event], to: Node) -> Option<Vec<Event>> {
    if from == NodeSet::of(LOOP_NODE) {
        return None;
    }
    let mut ways = vec![(from, Vec::new())];
    let mut at = 0;
    while let Some((nodes, way)) = ways.get(at).cloned() {
        if nodes.contains(to) {
            return Some(way);
        }
        for event in events {
            let next = nodes.after(*event);
            if !next.is_empty() && ways.iter().all(|(known, _)| *known != next) {
                ways.push((next, [way.as_slice(), &[*event]].concat()));
            }
        }
        at += 1;
    }
    None
}

fn belief(reason: &Text) -> Draft {
    Belief::new("episode", "ended", reason.as_str()).draft()
}

fn escalation(reason: &Text, trigger: EscalationTrigger) -> Escalation<2, 1> {
    let choice = |id: &str, description: &str, pro: &str, con: &str| Choice {
        id: id.to_owned(),
        description: description.to_owned(),
        pros: vec![pro.to_owned()],
        cons: vec![con.to_owned()],
    };
    Escalation {
        trigger,
        options: [
            choice("resume", "resume the episode from its log", "the work is completed", "the cause may come again"),
            choice("abandon", "leave the work as it is", "nothing more happens", "the work stays incomplete"),
        ],
        gaps: [Gap {
            gap: reason.to_string(),
            impact_if_unknown: "how far the work had come is known from the log alone".to_owned(),
        }],
        next_step: Step {
            step: omen_invariants::text!("read the log of the episode, then choose"),
            rationale: reason.to_string(),
        },
    }
}
