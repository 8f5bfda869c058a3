//! Turns of several steps with dependencies (R2, R4).
//!
//! A request calls at most one tool (PG-6). Work that requires more calls is a turn: its steps and their dependencies
//! are declared in advance, and each step is a separate request through the same pipeline.

use std::collections::BTreeMap;

use serde_json::json;

use crate::base::{Blocked, StepId, TurnId};
use crate::call::{Abort, Missing, Ran};
use crate::request::audit_queue::data;
use crate::request::context::RequestContext;
use crate::request::gate::Gate;
use crate::request::pipeline::Request;
use crate::request::state::Received;
use crate::request::stopped::Stopped;
use crate::request::turn_steps::{TurnStep, TurnStepState, TurnSteps};
use crate::request::user_inputs;
use omen_audit::Kind;
use omen_order::Owed;

/// Turn of several steps. It ends with [`finish`](Self::finish), or is aborted.
#[must_use = "a turn ends with `finish()`, which reports what was done and what was not"]
#[derive(Debug)]
pub struct Turn {
    gate: Gate,
    context: RequestContext,
    steps: TurnSteps,
}

/// Result of a finished turn.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TurnReport {
    /// Final state of each step.
    pub steps: BTreeMap<StepId, TurnStepState>,
    /// Calls that the turn still owed when it ended (O-4).
    pub owed: Vec<Owed>,
}

impl Gate {
    /// Begins a turn of several steps.
    ///
    /// # Errors
    /// R4 if there are too many steps, or a step is declared twice, depends on an unknown step or is part of a cycle;
    /// A1 if the beginning of the turn cannot be recorded.
    pub async fn turn(&self, id: TurnId, steps: impl IntoIterator<Item = TurnStep>) -> Result<Turn, Blocked> {
        let context = RequestContext::new(id, None, self.audit_queue().clone()).owing(self.order());
        let limit = self.limits().turn_steps as usize;
        let steps: Vec<TurnStep> = steps.into_iter().take(limit + 1).collect();
        let checked = TurnSteps::new(steps.clone(), limit);
        let checked = context.check(checked).await?;
        let names: Vec<_> = steps.iter().map(|step| step.id.as_str()).collect();
        context.record(Kind::Turn, data(json!({ "outcome": "begun", "steps": names }))).await?;
        Ok(Turn { gate: self.clone(), context, steps: checked })
    }
}

impl Turn {
    /// Runs a step: `run` receives the request and takes it through the pipeline, and its result is returned. The step
    /// ends with `run`; a request kept longer cannot call a tool.
    ///
    /// # Errors
    /// The error of `run`; [`Stopped::Aborted`] if the step cannot begin, another step depends on this one and it was
    /// not completed (R4), or the turn has spent its failure budget (R2). The turn is then aborted, and every further
    /// step returns the same error.
    pub async fn step<T, F>(
        &mut self,
        step: &StepId,
        query: impl Into<String>,
        run: impl FnOnce(Request<Received>) -> F,
    ) -> Result<T, Stopped>
    where
        F: Future<Output = Result<T, Stopped>>,
    {
        let begun = self.steps.begin(step);
        self.go_on(begun).await?;
        let (context, under_way) = self.context.within(step);
        let query = query.into();
        let context = context.with_request_data(user_inputs::query(&query)).querying(&query);
        let outcome = run(Request { gate: self.gate.clone(), context, state: Received { query } }).await;
        drop(under_way);
        let missing = match &outcome {
            Ok(_) => None,
            Err(Stopped::Failed(fault)) => Some(Missing::Failed(fault.class())),
            Err(Stopped::Blocked(why)) => Some(Missing::Blocked(why.code)),
            Err(Stopped::BrokenOff(why) | Stopped::Unrecorded { why, .. }) => Some(Missing::Withheld(why.code)),
            Err(Stopped::Aborted { why, ran }) => {
                return Err(Stopped::Aborted { why: self.steps.abort(why.clone()), ran: *ran });
            }
        };
        let ended = match missing {
            Some(missing) => self.steps.missing(step, missing),
            None => self.steps.done(step),
        };
        match self.go_on(ended).await {
            Ok(()) => outcome,
            // The tool's effects remain even though the turn is aborted.
            Err(Stopped::Aborted { why, .. }) => {
                Err(Stopped::Aborted { why, ran: outcome.map_or_else(|stopped| stopped.ran(), |_| Ran::Unknown) })
            }
            Err(stopped) => Err(stopped),
        }
    }

    /// Skips a step.
    ///
    /// # Errors
    /// [`Stopped::Aborted`] if another step depends on this one (R4), or the turn has no such step. The turn is then aborted.
    pub async fn skip(&mut self, step: &StepId) -> Result<(), Stopped> {
        let skipped = self.steps.missing(step, Missing::Skipped);
        self.go_on(skipped).await
    }

    /// Returns the reason why the turn is aborted, if it is.
    #[must_use]
    pub fn aborted(&self) -> Option<&Abort> {
        self.steps.aborted()
    }

    /// Iterates over the states of the steps, by name.
    pub fn states(&self) -> impl Iterator<Item = (&StepId, TurnStepState)> {
        self.steps.states()
    }

    /// Ends the turn, and returns the final state of each step and what the turn owes under the order rules. Partial
    /// results are never silent (R4).
    ///
    /// An aborted turn is remembered until [`Gate::end_turn`], so its id cannot be reused to exceed the budget (R2).
    ///
    /// # Errors
    /// [`Stopped::Aborted`] if the turn is aborted, or a step was neither run nor skipped.
    pub async fn finish(self) -> Result<TurnReport, Stopped> {
        let Self { gate, context, steps } = self;
        let aborted = steps.aborted().is_some();
        match steps.finish() {
            Ok(states) => {
                context.record(Kind::Turn, data(json!({ "outcome": "finished", "steps": states }))).await?;
                Ok(TurnReport { steps: states, owed: gate.end_turn(context.id()) })
            }
            Err(abort) => {
                if !aborted {
                    context.aborted(&abort).await?;
                }
                Err(abort.into())
            }
        }
    }

    /// Records an abort if there is one.
    async fn go_on(&mut self, result: Result<(), Abort>) -> Result<(), Stopped> {
        if let Err(abort) = result {
            self.context.aborted(&abort).await?;
            return Err(abort.into());
        }
        Ok(())
    }
}
