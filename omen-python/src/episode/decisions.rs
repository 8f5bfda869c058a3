//! Values of decisions: arbitrations, orders to act, proofs of verification loops.

use std::sync::{Mutex, PoisonError};

use omen::facts::{AllVerified, Overridden, SomeUnverified};
use omen::packet::{Adversariality, Impact, Irreversibility, StakesLevel, Uncertainty};
use omen::{ActOrder, Assumption, Candidate, Layer1, Proposed, Text, Tradeoff, Vetted};
use omen_invariants::rules::inv_012_stakes_consistent::Axes;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::once::Once;
use super::{convert, errors};

/// Returns the level that the axes of the stakes justify (INV-012).
#[pyfunction]
pub(super) fn stakes_level(
    impact: &str,
    irreversibility: &str,
    uncertainty: &str,
    adversariality: &str,
) -> PyResult<&'static str> {
    let axes = Axes {
        impact: convert::wire::<Impact>("impact", impact)?,
        irreversibility: convert::wire::<Irreversibility>("irreversibility", irreversibility)?,
        uncertainty: convert::wire::<Uncertainty>("uncertainty", uncertainty)?,
        adversariality: convert::wire::<Adversariality>("adversariality", adversariality)?,
    };
    let level: StakesLevel = axes.level();
    Ok(level.as_str())
}

/// Options in one of the three stages (INV-006).
enum Stage {
    Proposed(omen::Arbitration<Proposed>),
    Vetted(omen::Arbitration<Vetted>),
    Feasible(omen::Arbitration<omen::Feasible>),
}

/// Arbitration between options; each of its stages is used once.
#[pyclass(frozen, module = "omen._core")]
pub(crate) struct Arbitration(Once<Stage>);

#[pymethods]
impl Arbitration {
    #[new]
    fn new(options: Vec<String>) -> Self {
        Self(Once::new("arbitration", Stage::Proposed(omen::Arbitration::of(options))))
    }

    /// Takes the next stage with the ids of the options that remain.
    fn keep(&self, py: Python<'_>, name: &str, keep: Vec<String>) -> PyResult<Self> {
        let kept = |option: &Candidate| keep.contains(&option.id);
        let next = match self.0.take(py, name)? {
            Stage::Proposed(options) => options.veto(kept).map(Stage::Vetted),
            Stage::Vetted(options) => options.feasible(kept).map(Stage::Feasible),
            Stage::Feasible(options) => Ok(Stage::Feasible(options)),
        };
        let stage = next.map_err(|left| {
            let problem = omen::finding::Diagnostic::error(omen::Code::Inv006, left.to_string());
            let fix = "escalate, defer or cancel by a ruling on other options";
            errors::invalid(py, "Arbitration", name, vec![problem.help(fix)])
        })?;
        Ok(Self(Once::new("arbitration", stage)))
    }

    /// Chooses the first option that remains.
    fn tradeoff(&self, py: Python<'_>, policy: &str, rationale: &str) -> PyResult<Order> {
        let all = [Tradeoff::SafetyFirst, Tradeoff::RiskAdjusted, Tradeoff::MinRegret, Tradeoff::ExpectedValue];
        let known = || all.map(Tradeoff::as_str).join(", ");
        let policy = all.into_iter().find(|known| known.as_str() == policy);
        let policy =
            policy.ok_or_else(|| PyValueError::new_err(format!("invalid policy; expected one of {}", known())))?;
        let rationale = convert::text("rationale", rationale)?;
        match self.0.take(py, "tradeoff")? {
            Stage::Feasible(options) => {
                Ok(Order(Once::new("ruling", ActOrderKind::Verified(options.tradeoff(policy, &rationale).to_act()))))
            }
            stage => {
                self.0.put_back(stage);
                let problem = "stage 3 (tradeoff) comes after veto and feasibility";
                let problem = omen::finding::Diagnostic::error(omen::Code::Inv006, problem);
                let problem = problem.help("go through the stages in order: `.veto(..).feasible(..).tradeoff(..)`");
                Err(errors::invalid(py, "Arbitration", "tradeoff", vec![problem]))
            }
        }
    }
}

/// Order to act, by what is known about its assumptions.
pub(super) enum ActOrderKind {
    Verified(ActOrder<AllVerified>),
    Unverified(ActOrder<SomeUnverified>),
    Overridden(ActOrder<Overridden>),
}

/// Ruling, or order to act: it allows one decision.
#[pyclass(frozen, module = "omen._core")]
pub(crate) struct Order(pub(super) Once<ActOrderKind>);

#[pymethods]
impl Order {
    /// Returns the ruling as an order to act.
    fn to_act(&self, py: Python<'_>) -> PyResult<Self> {
        Ok(Self(Once::new("order", self.0.take(py, "to_act")?)))
    }

    /// Adds an assumption that a loop has verified.
    fn relies_on(&self, py: Python<'_>, verified: &Verified) -> PyResult<Self> {
        let verified = verified.0.take(py, "relies_on")?;
        Ok(Self(Once::new(
            "order",
            match self.0.take(py, "relies_on")? {
                ActOrderKind::Verified(order) => ActOrderKind::Verified(order.relies_on(verified)),
                ActOrderKind::Unverified(order) => ActOrderKind::Unverified(order.relies_on(verified)),
                ActOrderKind::Overridden(order) => ActOrderKind::Overridden(order.relies_on(verified)),
            },
        )))
    }

    /// Adds an assumption that was not verified.
    fn assumes(&self, py: Python<'_>, assumption: &str) -> PyResult<Self> {
        let text = convert::text("assumption", assumption)?;
        Ok(Self(Once::new(
            "order",
            ActOrderKind::Unverified(match self.0.take(py, "assumes")? {
                ActOrderKind::Verified(order) => order.assumes(&text),
                ActOrderKind::Unverified(order) => order.assumes(&text),
                ActOrderKind::Overridden(order) => order.assumes(&text),
            }),
        )))
    }

    /// Overrides INV-003 by an order of layer 1.
    fn layer1_override(&self, py: Python<'_>, order: &Layer1Order) -> PyResult<Self> {
        let signed = order.0.take(py, "layer1_override")?;
        Ok(Self(Once::new(
            "order",
            ActOrderKind::Overridden(match self.0.take(py, "layer1_override")? {
                ActOrderKind::Verified(order) => order.layer1_override(signed),
                ActOrderKind::Unverified(order) => order.layer1_override(signed),
                ActOrderKind::Overridden(order) => order.layer1_override(signed),
            }),
        )))
    }
}

/// Order of layer 1, which allows one use.
#[pyclass(frozen, module = "omen._core")]
pub(crate) struct Layer1Order(pub(super) Once<omen::Layer1Order>);

impl Layer1Order {
    /// Gives an order: the program in Python is what assumes the authority.
    pub(super) fn order(reason: &Text) -> omen::Layer1Order {
        Layer1::assume().order(reason.clone())
    }
}

#[pymethods]
impl Layer1Order {
    #[new]
    fn new(reason: &str) -> PyResult<Self> {
        Ok(Self(Once::new("order of layer 1", Self::order(&convert::text("reason", reason)?))))
    }

    #[getter]
    fn reason(&self, py: Python<'_>) -> PyResult<String> {
        self.0.read(py, "reason", |order| order.reason().to_string())
    }

    /// Gives the order to an alert that approves exceeded budgets, which allows one use in its place.
    fn budget_override(&self, py: Python<'_>) -> PyResult<Self> {
        Ok(Self(Once::new("alert", self.0.take(py, "budget_override")?)))
    }
}

/// Proof that a verification loop is complete.
#[pyclass(frozen, module = "omen._core")]
pub(crate) struct Proof {
    pub(super) proof: omen::Proof,
    pub(super) assumptions: Mutex<Vec<(String, Assumption)>>,
}

#[pymethods]
impl Proof {
    /// States that the loop has verified an assumption of one of its plans.
    fn verifies(&self, assumption: &str) -> PyResult<Verified> {
        let mut all = self.assumptions.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(at) = all.iter().position(|(text, _)| text == assumption) else {
            let problem = format!("no plan of this loop has the assumption `{assumption}`, or it was already stated");
            return Err(PyValueError::new_err(problem));
        };
        Ok(Verified(Once::new("verified assumption", self.proof.verifies(all.remove(at).1))))
    }
}

/// Assumption that a loop has verified.
#[pyclass(frozen, module = "omen._core")]
pub(crate) struct Verified(Once<omen::Verified>);
