//! Envelopes by stakes level, with the usual values of each level as defaults.

use omen_types::{TaskClass, Text, UnitInterval};

use super::budgets::{Budgets, Risk};
use super::epistemics::Epistemics;
use super::evidence::Evidence;
use super::intent::Intent;
use super::markers::{
    Inferred, Operational, Par, Realtime, Superb, ToolsOk, adversariality, impact, irreversibility, uncertainty,
};
use super::open_envelope::{OpenEnvelope, Routing};
use super::quality::{Done, Quality};
use super::stakes::Stakes;
use crate::{text, unit};

type BenignStakes<I, R, U> = Stakes<I, R, U, adversariality::Benign>;
type Low = BenignStakes<impact::Low, irreversibility::Reversible, uncertainty::Low>;
type Medium = BenignStakes<impact::Medium, irreversibility::Partial, uncertainty::Medium>;
type High = BenignStakes<impact::High, irreversibility::Irreversible, uncertainty::Medium>;
type Critical = BenignStakes<impact::Critical, irreversibility::Irreversible, uncertainty::High>;

/// Default values for the envelopes of a level.
struct Defaults {
    budgets: Budgets,
    /// Maximum age of evidence, in seconds.
    stale_after: u32,
    task_class: TaskClass,
}

impl Defaults {
    fn new(tokens: u32, tool_calls: u32, seconds: u32, stale_after: u32, task_class: TaskClass) -> Self {
        // Any loss must be accepted explicitly by the author.
        let risk = Risk::new(text!("conservative"), 0);
        Self { budgets: Budgets { tokens, tool_calls, seconds, risk }, stale_after, task_class }
    }
}

impl<Best> OpenEnvelope<Low, Par, Inferred, Operational, Best, ToolsOk> {
    /// Creates an envelope at LOW stakes: a mistake does little damage and can be undone, as when an agent only reads.
    ///
    /// - Quality is PAR, the lowest tier that may act (INV-002); low stakes do not justify more.
    /// - 4,000 language-model tokens, 8 tool calls and 5 minutes: twice what a question, a few reads and their review
    ///   take. An agent that needs more is not doing what its envelope says.
    /// - Evidence may be a day old, because the decision can be undone.
    /// - The task class is LOOKUP, because nothing is changed.
    /// - For the values shared by all levels, see [`OpenEnvelope::medium`].
    ///
    /// ```
    /// use omen_invariants::facts::{Done, Envelope, Evidence, Intent, LowStakes, OpenEnvelope, Par, ToolsOk};
    /// use omen_invariants::text;
    ///
    /// # fn main() -> Result<(), omen_types::Invalid> {
    /// let envelope: Envelope<LowStakes, Par, ToolsOk> = OpenEnvelope::low(
    ///     Intent::new(text!("find out how many requests fail"), text!("service web")),
    ///     Done::when(text!("the error rate is known"), ["error_rate is a number"]),
    ///     Evidence::user_observation(text!("chat/4711"), "2026-03-01T09:59:58Z".parse()?),
    /// )
    /// .seal();
    /// assert_eq!(envelope.mcp().budgets.tool_call_budget.to_string(), "8");
    /// # Ok(())
    /// # }
    /// ```
    pub fn low(intent: Intent, done: Done, evidence: Evidence<Best>) -> Self {
        let defaults = Defaults::new(4_000, 8, 300, 86_400, TaskClass::Lookup);
        Self::from_defaults(intent, Quality::par_when(done), evidence, Operational, defaults)
    }
}

impl<Best> OpenEnvelope<Medium, Par, Inferred, Operational, Best, ToolsOk> {
    /// Creates an envelope at MEDIUM stakes: a mistake does damage that can be partly undone, as with most writes.
    ///
    /// - Quality is PAR, because MEDIUM stakes require no more; at least one load-bearing assumption must be verified.
    /// - 10,000 language-model tokens, 12 tool calls and 15 minutes: the reads of LOW stakes and a handful of writes.
    /// - Evidence may be a day old. Read anything that changes faster before you write it.
    /// - The task class is CREATE, because work above LOW stakes changes something.
    ///
    /// At all levels:
    ///
    /// - Adversariality is BENIGN. The presence of adversaries is a finding, which a default cannot make.
    /// - No loss is accepted; the author may accept one.
    /// - The status is INFERRED, because most of what an agent states is a conclusion. OBSERVED as a default would
    ///   claim an observation that was never made. So the evidence must be live, or the envelope cannot be sealed
    ///   (INV-004); observations state their own status.
    /// - Confidence is 0.5, and the calibration note says that this is a default: nothing was calibrated.
    /// - The tools work; a program that knows otherwise says so with [`OpenEnvelope::tools`].
    ///
    /// ```compile_fail,E0277
    /// use omen_invariants::facts::{Done, Evidence, Intent, OpenEnvelope};
    /// use omen_invariants::text;
    ///
    /// let done = Done::when(text!("the record points to the new host"), ["www"]);
    /// let evidence = Evidence::absent(text!("nobody has looked"));
    /// OpenEnvelope::medium(Intent::new(text!("move www"), text!("zone example.org")), done, evidence).seal(); // INV-004
    /// ```
    pub fn medium(intent: Intent, done: Done, evidence: Evidence<Best>) -> Self {
        let defaults = Defaults::new(10_000, 12, 900, 86_400, TaskClass::Create);
        Self::from_defaults(intent, Quality::par_when(done), evidence, Operational, defaults)
    }
}

impl<Best> OpenEnvelope<High, Superb, Inferred, Realtime, Best, ToolsOk> {
    /// Creates an envelope at HIGH stakes: a mistake does much damage and cannot be undone.
    ///
    /// - Quality is SUPERB, and all load-bearing assumptions must be verified: no other tier may act here (INV-003).
    /// - 20,000 language-model tokens, 20 tool calls and 30 minutes: the budgets of MEDIUM stakes, and as much again
    ///   for a verification loop before the decision. A lower limit would tempt an agent to verify less.
    /// - Evidence may be an hour old, and must be about the present (REALTIME), on which an irreversible step depends.
    /// - Everything else is as at MEDIUM stakes; see [`OpenEnvelope::medium`].
    pub fn high(intent: Intent, done: Done, evidence: Evidence<Best>) -> Self {
        let defaults = Defaults::new(20_000, 20, 1_800, 3_600, TaskClass::Create);
        Self::from_defaults(intent, Quality::superb_when(done), evidence, Realtime, defaults)
    }
}

impl<Best> OpenEnvelope<Critical, Superb, Inferred, Realtime, Best, ToolsOk> {
    /// Creates an envelope at CRITICAL stakes: the damage would be grave, and much is unknown.
    ///
    /// - Quality is SUPERB, as at HIGH stakes (INV-003).
    /// - The budgets are those of HIGH stakes. More would only let a failing agent continue for longer; an agent that
    ///   exceeds these budgets should escalate to a human.
    /// - Evidence may be ten minutes old.
    /// - Everything else is as at MEDIUM stakes; see [`OpenEnvelope::medium`].
    pub fn critical(intent: Intent, done: Done, evidence: Evidence<Best>) -> Self {
        let defaults = Defaults::new(20_000, 20, 1_800, 600, TaskClass::Create);
        Self::from_defaults(intent, Quality::superb_when(done), evidence, Realtime, defaults)
    }
}

impl<I, R, U, Tier, Freshness, Best> OpenEnvelope<BenignStakes<I, R, U>, Tier, Inferred, Freshness, Best, ToolsOk>
where
    BenignStakes<I, R, U>: Default,
{
    fn from_defaults(
        intent: Intent,
        quality: Quality<Tier>,
        evidence: Evidence<Best>,
        freshness: Freshness,
        defaults: Defaults,
    ) -> Self {
        let calibration = text!("not calibrated: the default of the SDK");
        let epistemics =
            Epistemics::new(Inferred, freshness, unit!(0.5), calibration).stale_after(defaults.stale_after);
        Self {
            intent,
            stakes: BenignStakes::default(),
            quality,
            budgets: defaults.budgets,
            epistemics,
            evidence,
            routing: Routing { task_class: defaults.task_class, tools: ToolsOk },
        }
    }
}

/// Setters for values that differ from the level's defaults.
impl<Axes, Tier, Status, Freshness, Best, Tools> OpenEnvelope<Axes, Tier, Status, Freshness, Best, Tools> {
    /// Sets other axes; the level is derived from them (INV-012).
    pub fn stakes<Other>(self, stakes: Other) -> OpenEnvelope<Other, Tier, Status, Freshness, Best, Tools> {
        let Self { intent, stakes: _, quality, budgets, epistemics, evidence, routing } = self;
        OpenEnvelope { intent, stakes, quality, budgets, epistemics, evidence, routing }
    }

    /// Sets another quality.
    pub fn quality<Other>(self, quality: Quality<Other>) -> OpenEnvelope<Axes, Other, Status, Freshness, Best, Tools> {
        let Self { intent, stakes, quality: _, budgets, epistemics, evidence, routing } = self;
        OpenEnvelope { intent, stakes, quality, budgets, epistemics, evidence, routing }
    }

    /// Sets other budgets.
    pub fn budgets(self, budgets: Budgets) -> Self {
        Self { budgets, ..self }
    }

    /// Sets other epistemics.
    pub fn epistemics<S, F>(self, epistemics: Epistemics<S, F>) -> OpenEnvelope<Axes, Tier, S, F, Best, Tools> {
        let Self { intent, stakes, quality, budgets, epistemics: _, evidence, routing } = self;
        OpenEnvelope { intent, stakes, quality, budgets, epistemics, evidence, routing }
    }

    /// Sets a calibrated confidence, with its justification.
    pub fn confidence(mut self, confidence: UnitInterval, calibration: Text) -> Self {
        self.epistemics.confidence = confidence;
        self.epistemics.calibration = calibration;
        self
    }

    /// Sets another task class.
    pub fn task_class(mut self, task_class: TaskClass) -> Self {
        self.routing.task_class = task_class;
        self
    }

    /// Sets another tools state, such as [`ToolsDown`](super::ToolsDown).
    pub fn tools<Other>(self, tools: Other) -> OpenEnvelope<Axes, Tier, Status, Freshness, Best, Other> {
        let Self { intent, stakes, quality, budgets, epistemics, evidence, routing } = self;
        let routing = Routing { task_class: routing.task_class, tools };
        OpenEnvelope { intent, stakes, quality, budgets, epistemics, evidence, routing }
    }
}
