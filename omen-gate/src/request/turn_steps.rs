//! R4: dependencies between the steps of a turn.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::base::{Blocked, GateCode, StepId};
use crate::call::{Abort, Missing};

/// Declaration of a step of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnStep {
    /// Name of the step.
    pub id: StepId,
    /// Steps that must be done first.
    pub after: Vec<StepId>,
}

/// Steps of one turn. A step runs only when all its dependencies are done. If a dependency was skipped, failed or was
/// blocked, the turn is aborted and reports it. Partial results are never silent.
#[derive(Debug)]
pub struct TurnSteps {
    steps: BTreeMap<StepId, StepNode>,
    abort: Option<Abort>,
}

#[derive(Debug)]
struct StepNode {
    after: Vec<StepId>,
    state: TurnStepState,
}

/// State of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnStepState {
    /// The step has not begun.
    Waiting,
    /// The step has begun but not ended.
    Running,
    /// The step is done.
    Done,
    /// The step ended without being done.
    Missing(Missing),
}

/// Maximum number of steps in a turn.
pub const MAX_STEPS: usize = 1024;

impl TurnSteps {
    /// Declares the steps of a turn: at most `limit`, and never more than [`MAX_STEPS`].
    ///
    /// # Errors
    /// If there are too many steps, or a step is declared twice, depends on an unknown step or is part of a cycle.
    pub fn new(steps: impl IntoIterator<Item = TurnStep>, limit: usize) -> Result<Self, Blocked> {
        let limit = limit.min(MAX_STEPS);
        let mut nodes: BTreeMap<StepId, StepNode> = BTreeMap::new();
        for TurnStep { id, after } in steps {
            if nodes.len() >= limit {
                return Err(refused(format!("the turn has more than {limit} steps"), "split it into several turns"));
            }
            let message = format!("step `{id}` is listed twice");
            if nodes.insert(id, StepNode { after, state: TurnStepState::Waiting }).is_some() {
                return Err(refused(message, "give each step a unique name"));
            }
        }
        for (id, node) in &nodes {
            if let Some(unknown) = node.after.iter().find(|dependency| !nodes.contains_key(*dependency)) {
                let message = format!("step `{id}` needs step `{unknown}`, which does not exist");
                return Err(refused(message, "refer only to steps of the same turn"));
            }
        }
        match first_in_circle(&nodes) {
            Some(id) => Err(refused(format!("step `{id}` depends on itself through other steps"), "break the cycle")),
            None => Ok(Self { steps: nodes, abort: None }),
        }
    }

    /// Iterates over the steps that can begin now, by name.
    pub fn ready(&self) -> impl Iterator<Item = &StepId> {
        let waiting = self.steps.iter().filter(|(_, node)| node.state == TurnStepState::Waiting);
        let ready = waiting.filter(|(_, node)| node.after.iter().all(|id| self.state(id) == Some(TurnStepState::Done)));
        ready.map(|(id, _)| id).filter(|_| self.abort.is_none())
    }

    /// Begins a step.
    ///
    /// # Errors
    /// If the step cannot begin, which aborts the turn, or if the turn has already been aborted.
    pub fn begin(&mut self, step: &StepId) -> Result<(), Abort> {
        self.go_on()?;
        let why = match self.steps.get(step) {
            None => "the turn has no such step",
            Some(StepNode { state: TurnStepState::Waiting, .. }) if self.ready().any(|ready| ready == step) => {
                self.put(step, TurnStepState::Running);
                return Ok(());
            }
            Some(StepNode { state: TurnStepState::Waiting, .. }) => "a step that it depends on is not finished",
            Some(_) => "it has already begun",
        };
        self.fail(Abort::OutOfOrder { step: step.clone(), why })
    }

    /// Ends a running step as done.
    ///
    /// # Errors
    /// If the step is not running, which aborts the turn, or if the turn has already been aborted.
    pub fn done(&mut self, step: &StepId) -> Result<(), Abort> {
        self.go_on()?;
        if self.state(step) == Some(TurnStepState::Running) {
            self.put(step, TurnStepState::Done);
            return Ok(());
        }
        self.fail(Abort::OutOfOrder { step: step.clone(), why: "it ended before it began" })
    }

    /// Ends a step that is not done, whether or not it has begun. If no other step depends on it, the turn continues.
    ///
    /// # Errors
    /// If another step depends on it, the turn has no such step, or the step has already ended, all of which abort the
    /// turn; or if the turn has already been aborted.
    pub fn missing(&mut self, step: &StepId, missing: Missing) -> Result<(), Abort> {
        self.go_on()?;
        if !matches!(self.state(step), Some(TurnStepState::Waiting | TurnStepState::Running)) {
            return self.fail(Abort::OutOfOrder {
                step: step.clone(),
                why: "it has already ended, or the turn has no such step",
            });
        }
        self.put(step, TurnStepState::Missing(missing));
        match self.steps.iter().find(|(_, node)| node.after.contains(step)).map(|(id, _)| id.clone()) {
            Some(needs) => self.fail(Abort::MissingDependency { step: needs, dependency: step.clone(), missing }),
            None => Ok(()),
        }
    }

    /// Returns the state of a step.
    #[must_use]
    pub fn state(&self, step: &StepId) -> Option<TurnStepState> {
        self.steps.get(step).map(|node| node.state)
    }

    /// Iterates over the states of all steps, by name.
    pub fn states(&self) -> impl Iterator<Item = (&StepId, TurnStepState)> {
        self.steps.iter().map(|(id, node)| (id, node.state))
    }

    /// Ends the turn and returns the final state of each step.
    ///
    /// # Errors
    /// If the turn is aborted, or a step has not ended.
    pub fn finish(mut self) -> Result<BTreeMap<StepId, TurnStepState>, Abort> {
        self.go_on()?;
        let open =
            self.steps.iter().find(|(_, node)| matches!(node.state, TurnStepState::Waiting | TurnStepState::Running));
        if let Some(step) = open.map(|(id, _)| id.clone()) {
            self.fail(Abort::OutOfOrder { step, why: "the turn ended before it did" })?;
        }
        Ok(self.steps.into_iter().map(|(id, node)| (id, node.state)).collect())
    }

    /// Aborts the turn unless it is already aborted, and returns the reason in force.
    pub(crate) fn abort(&mut self, abort: Abort) -> Abort {
        self.abort.get_or_insert(abort).clone()
    }

    /// Returns the reason why the turn is aborted, if it is.
    #[must_use]
    pub fn aborted(&self) -> Option<&Abort> {
        self.abort.as_ref()
    }

    fn go_on(&self) -> Result<(), Abort> {
        self.abort.clone().map_or(Ok(()), Err)
    }

    fn fail(&mut self, abort: Abort) -> Result<(), Abort> {
        Err(self.abort.insert(abort).clone())
    }

    fn put(&mut self, step: &StepId, state: TurnStepState) {
        if let Some(node) = self.steps.get_mut(step) {
            node.state = state;
        }
    }
}

/// Returns a step on a cycle, if any: removes steps without remaining dependencies until there are none left. A step
/// that remains is on a cycle or depends on one.
fn first_in_circle(nodes: &BTreeMap<StepId, StepNode>) -> Option<&StepId> {
    let mut left: BTreeSet<&StepId> = nodes.keys().collect();
    loop {
        let free = |id: &&StepId| nodes.get(*id).is_none_or(|node| node.after.iter().all(|need| !left.contains(need)));
        let taken: Vec<_> = left.iter().copied().filter(free).collect();
        if taken.is_empty() {
            return left.first().copied();
        }
        left.retain(|id| !taken.contains(id));
    }
}

fn refused(message: String, help: &str) -> Blocked {
    Blocked::new(GateCode::R4, message, help)
}
