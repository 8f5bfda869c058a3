//! Drop of an episode (D54).
//!
//! In ordinary Rust, an episode is dropped when something else fails: `?`, an early return, a panic, a cancelled
//! future. The log must still be legal, so `Drop` is implemented for the core, which is the same in every state.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use omen_types::serde_json::Value;
use omen_types::{Code, DecisionOutcome, Diagnostic, ErrorDetails, EscalationTrigger, TaskResultPayload, Text};

use super::core::Core;
use super::draft::Draft;
use super::drop_policy::{Lost, OnDrop};
use super::errors::Refusal;
use super::lease::EndReason;
use super::values::{Alarm, Belief, Choice, Escalation, Gap, Recommendation, Ruling, info_alert};
use crate::table::{Event, LOOP_NODE, Node, NodeSet};

impl Drop for Core {
    fn drop(&mut self) {
        if std::mem::replace(&mut self.is_over, true) {
            return;
        }
        // Clock, ids and log are the caller's code: a panic of theirs during unwinding would abort the process.
        let ended = catch_unwind(AssertUnwindSafe(|| self.end_as_dropped()));
        self.claims.end(&self.origin.correlation_id, &self.leases, self.sent > 0);
        let why = match ended {
            Ok(Ok(())) => return,
            Ok(Err(why)) => why,
            Err(_) => {
                let problem = "the clock, the id source or the log panicked while the episode was ended";
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
        // Done before anything is written: a task must not run after the log reports it as cancelled.
        self.leases.end(EndReason::Dropped);
        if self.sent == 0 || self.on_drop == OnDrop::Leave {
            return Ok(());
        }
        match &self.trouble {
            // The handle that resumed the episode writes its end.
            Some(why) if matches!(**why, Refusal::Superseded) => return Ok(()),
            Some(why) if matches!(**why, Refusal::Log(_)) => return Err(Arc::clone(why)),
            // A failed earlier move left nothing in the log.
            _ => self.trouble = None,
        }
        let reason = self.reason();
        match self.go_to_an_end(&reason).and_then(|()| self.halt_over_budget(&reason)) {
            Ok(()) => Ok(()),
            Err(why) if matches!(*why, Refusal::Superseded) => Ok(()),
            Err(why) if matches!(*why, Refusal::Log(_)) => Err(why),
            // A halt is legal in every state, and no rule refuses it (D14, D31).
            Err(why) => self.send(vec![Alarm::from(reason).draft(Some(&why))]).map(drop),
        }
    }

    fn go_to_an_end(&mut self, reason: &Text) -> Result<(), Arc<Refusal>> {
        let here = self.machine.nodes();
        if self.on_drop == OnDrop::Halt && here != NodeSet::of(Node::SafeMode) {
            return self.send(vec![Alarm::from(reason.clone()).draft(None)]).map(drop);
        }
        let open = self.cancelled(reason);
        // In safe mode, the open directives wait for the CLEAR (D13).
        if !open.is_empty() && here != NodeSet::of(Node::SafeMode) {
            self.send(open)?;
        }
        // An escalation for insufficient budget requests approval of the overrun (D32).
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
            // The log records the reason in any case.
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
            None if self.machine.may_end() => self.note_the_end(reason),
            None => self.send(vec![Alarm::from(reason.clone()).draft(None)]).map(drop),
        }
    }

    /// Halts an episode that is over budget without approval, because it may end only in safe mode (D59). Its last
    /// packets may have used up the remaining time.
    fn halt_over_budget(&mut self, reason: &Text) -> Result<(), Arc<Refusal>> {
        if self.machine.may_end() {
            return Ok(());
        }
        self.send(vec![Alarm::from(reason.clone()).draft(None)]).map(drop)
    }

    fn note_the_end(&mut self, reason: &Text) -> Result<(), Arc<Refusal>> {
        self.send(vec![info_alert(reason.clone())]).map(drop)
    }

    /// Returns CANCELLED results for the open directives.
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
        let how = if std::thread::panicking() { "during a panic" } else { "before it had closed" };
        Text::new(format!("the program dropped this episode in {nodes} {how}"))
            .unwrap_or_else(|_| omen_invariants::text!("dropped"))
    }
}

/// Returns the shortest path to a node in the table that uses only the given events. No path leads out of a
/// verification loop, because only evidence closes it.
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
            choice("resume", "resume the episode from its log", "the work is completed", "the cause may recur"),
            choice("abandon", "leave the work as it is", "nothing more happens", "the work stays incomplete"),
        ],
        gaps: [Gap {
            gap: reason.to_string(),
            impact_if_unknown: "only the log shows how far the work had come".to_owned(),
        }],
        next_step: Recommendation {
            step: omen_invariants::text!("read the log of the episode, then choose an option"),
            rationale: reason.to_string(),
        },
    }
}
