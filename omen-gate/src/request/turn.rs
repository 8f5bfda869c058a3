//! A turn of several steps, some of which need others (R2, R4).
//!
//! A request calls one tool at most (PG-6). What needs more is a turn: its steps and what each of them needs are said
//! beforehand, and each step is a request of its own, which goes through the same pipeline.

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

/// A turn of several steps. It ends with [`finish`](Self::finish), or is aborted.
#[must_use = "a turn ends with `finish()`, which reports what was done and what was not"]
#[derive(Debug)]
pub struct Turn {
    gate: Gate,
    context: RequestContext,
    steps: TurnSteps,
}

impl Gate {
    /// Begins a turn of several steps.
    ///
    /// # Errors
    /// If there are too many steps, one is there twice, or what they need is unknown or goes in a circle (R4); or if
    /// the beginning cannot be recorded (A1).
    pub async fn turn(&self, id: TurnId, steps: impl IntoIterator<Item = TurnStep>) -> Result<Turn, Blocked> {
        let context = RequestContext::new(id, None, self.audit_queue().clone());
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
    /// Takes a step: `run` gets the request and takes it through the pipeline. What it gives is given back. The step
    /// ends with `run`; a request that is kept beyond that calls no tool any more.
    ///
    /// # Errors
    /// What `run` says; [`Stopped::Aborted`] if the step cannot begin, another step needs this one and it was not done
    /// (R4), or the turn has had its failures (R2). Then the turn is at its end, and every further step says the same.
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
        let context = context.asked(user_inputs::query(&query)).querying(&query);
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
            // What its tool has done is done, whatever the turn says.
            Err(Stopped::Aborted { why, .. }) => {
                Err(Stopped::Aborted { why, ran: outcome.map_or_else(|stopped| stopped.ran(), |_| Ran::Unknown) })
            }
            Err(stopped) => Err(stopped),
        }
    }

    /// Leaves a step out.
    ///
    /// # Errors
    /// [`Stopped::Aborted`] if another step needs it (R4), or the turn has no such step. Then the turn is at its end.
    pub async fn skip(&mut self, step: &StepId) -> Result<(), Stopped> {
        let skipped = self.steps.missing(step, Missing::Skipped);
        self.go_on(skipped).await
    }

    /// Why the turn is aborted, if it is.
    #[must_use]
    pub fn aborted(&self) -> Option<&Abort> {
        self.steps.aborted()
    }

    /// Where each step stands, by name.
    pub fn states(&self) -> impl Iterator<Item = (&StepId, TurnStepState)> {
        self.steps.states()
    }

    /// Ends the turn, and says of each step what became of it. There are no silent partial results (R4).
    ///
    /// A turn that was aborted is remembered, so that nothing more is called under its id beyond its budget (R2), until
    /// [`Gate::end_turn`].
    ///
    /// # Errors
    /// [`Stopped::Aborted`] if the turn is aborted, or a step was neither taken nor left out.
    pub async fn finish(self) -> Result<BTreeMap<StepId, TurnStepState>, Stopped> {
        let Self { gate, context, steps } = self;
        let aborted = steps.aborted().is_some();
        match steps.finish() {
            Ok(states) => {
                context.record(Kind::Turn, data(json!({ "outcome": "finished", "steps": states }))).await?;
                gate.end_turn(context.id());
                Ok(states)
            }
            Err(abort) => {
                if !aborted {
                    context.aborted(&abort).await?;
                }
                Err(abort.into())
            }
        }
    }

    /// Records an abort where it comes about.
    async fn go_on(&mut self, result: Result<(), Abort>) -> Result<(), Stopped> {
        if let Err(abort) = result {
            self.context.aborted(&abort).await?;
            return Err(abort.into());
        }
        Ok(())
    }
}
