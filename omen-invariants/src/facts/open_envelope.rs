//! Envelope as its author writes it, before it is checked.

use omen_types::{TaskClass, fit};

use super::budgets::Budgets;
use super::envelope::{Envelope, Hypothesis};
use super::epistemics::{Claim, Epistemics};
use super::evidence::Evidence;
use super::intent::Intent;
use super::markers::{EpistemicStatusFact, FreshnessClassFact, Grounded, QualityTierFact, ToolsStateFact};
use super::quality::Quality;
use super::stakes::StakesLevelOf;

/// Envelope of a packet as its author writes it. The compiler lists all missing fields at once (INV-001);
/// [`seal`](OpenEnvelope::seal) checks the rest.
#[derive(Clone, Debug)]
#[must_use = "an envelope does nothing until it is sealed: `.seal()`"]
pub struct OpenEnvelope<Axes, Tier, Status, Fresh, Best, Tools> {
    /// Intent and scope of the packet.
    pub intent: Intent,
    /// Stakes along four axes: a [`Stakes`](super::Stakes). The level is derived from them (INV-012).
    pub stakes: Axes,
    /// Required quality of the work, and criteria of completion.
    pub quality: Quality<Tier>,
    /// Limits on tokens, tool calls, time and risk.
    pub budgets: Budgets,
    /// Status, confidence and freshness of the content.
    pub epistemics: Epistemics<Status, Fresh>,
    /// Evidence for the content, or the reason for its absence.
    pub evidence: Evidence<Best>,
    /// Task class, and tools state.
    pub routing: Routing<Tools>,
}

/// Task class of a packet, and state of the tools.
#[derive(Clone, Copy, Debug)]
pub struct Routing<Tools> {
    /// Task class of the packet.
    pub task_class: TaskClass,
    /// Tools state, such as [`ToolsOk`](super::ToolsOk).
    pub tools: Tools,
}

impl<Axes, Tier, Status, Fresh, Best, Tools> OpenEnvelope<Axes, Tier, Status, Fresh, Best, Tools> {
    /// Completes the envelope: derives the stakes level from the axes (INV-012, D36), and checks that a claim about the
    /// present rests on live evidence (INV-004).
    ///
    /// An envelope of more than 2 MiB would leave too little space for the rest of its packets, so its texts and lists
    /// are shortened.
    ///
    /// `Level` is always inferred from the axes.
    pub fn seal<Level>(self) -> Envelope<Level, Tier, Tools>
    where
        // Stated as a bound because, with `Axes::Level` in the return type, the compiler would report wrong axes only as a
        // missing method `seal`.
        Axes: StakesLevelOf<Level = Level>,
        Tier: QualityTierFact,
        Status: EpistemicStatusFact,
        Fresh: FreshnessClassFact,
        Tools: ToolsStateFact,
        Claim<Status, Fresh, Best>: Grounded,
    {
        Envelope::trusted(self.sealed())
    }

    /// Completes an envelope whose claim about the present is not verified yet (INV-004, D31): a decision to verify
    /// first accepts it as it is, and the log shows a warning. Later observations and claims of the loop are sent with
    /// the evidence of the previous envelope.
    ///
    /// ```
    /// use omen_invariants::facts::{
    ///     Done, Epistemics, Evidence, HighStakes, Hypothesis, Hypothesized, Intent, OpenEnvelope, Operational, Superb, ToolsOk,
    /// };
    /// use omen_invariants::{text, unit};
    ///
    /// let guess: Hypothesis<HighStakes, Superb, ToolsOk> = OpenEnvelope::high(
    ///     Intent::new(text!("find the leak"), text!("pool 7")),
    ///     Done::when(text!("the leak is found"), ["cause is named"]),
    ///     Evidence::absent(text!("nobody has looked yet")),
    /// )
    /// .epistemics(Epistemics::new(Hypothesized, Operational, unit!(0.3), text!("a guess")))
    /// .hypothesis();
    /// ```
    pub fn hypothesis<Level>(self) -> Hypothesis<Level, Tier, Tools>
    where
        Axes: StakesLevelOf<Level = Level>,
        Tier: QualityTierFact,
        Status: EpistemicStatusFact,
        Fresh: FreshnessClassFact,
        Tools: ToolsStateFact,
    {
        Hypothesis::trusted(self.sealed())
    }

    fn sealed<Level>(self) -> omen_types::McpEnvelope
    where
        Axes: StakesLevelOf<Level = Level>,
        Tier: QualityTierFact,
        Status: EpistemicStatusFact,
        Fresh: FreshnessClassFact,
        Tools: ToolsStateFact,
    {
        let routing =
            omen_types::Routing::builder().task_class(self.routing.task_class).tools_state(Tools::VALUE).build();
        let mcp = omen_types::McpEnvelope::builder()
            .intent(self.intent.sealed())
            .stakes(Axes::stakes())
            .quality(self.quality.sealed())
            .budgets(self.budgets.sealed())
            .epistemics(self.epistemics.sealed())
            .evidence(self.evidence.sealed())
            .routing(routing)
            .build();
        fit::envelope(mcp)
    }
}
