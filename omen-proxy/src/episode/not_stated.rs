//! Envelope of an episode whose agent states nothing.

use std::sync::LazyLock;

use omen_invariants::{text, unit};
use omen_types::packet::{
    Adversariality, DefinitionOfDone, EpistemicStatus, Epistemics, FreshnessClass, Impact, Intent, IntentScope,
    Irreversibility, Quality, QualityTier, Stakes, StakesLevel, TaskClass, Uncertainty, VerificationRequirement,
};
use serde_json::{Value, json};

use super::envelope::StatedParts;
use super::schema::ROUTING;

/// Returns an envelope in which nothing was stated by anyone. Every packet must have one, so these are neutral values:
/// findings about them do not reflect on the agent.
pub(super) fn not_stated() -> StatedParts {
    NOT_STATED.clone()
}

static NOT_STATED: LazyLock<StatedParts> = LazyLock::new(|| {
    let stakes = Stakes::builder()
        .impact(Impact::Medium)
        .irreversibility(Irreversibility::Partial)
        .uncertainty(Uncertainty::High)
        .adversariality(Adversariality::Contested)
        .stakes_level(StakesLevel::Medium)
        .build();
    let done = DefinitionOfDone::builder().text(text!("not stated")).checks(vec!["not stated".to_owned()]);
    let quality = Quality::builder()
        .quality_tier(QualityTier::Par)
        .satisficing_mode(false)
        .definition_of_done(done.unchecked())
        .verification_requirement(VerificationRequirement::Optional)
        .build();
    let epistemics = Epistemics::builder()
        .status(EpistemicStatus::Derived)
        .confidence(unit!(1.0))
        .calibration_note(text!("the gate's own ruling; the agent has stated nothing"))
        .freshness_class(FreshnessClass::Operational)
        .assumptions(Vec::<String>::new())
        .build();
    let parts = json!({
        "intent": Intent::builder().summary(text!("not stated")).scope(IntentScope::from(text!("not stated"))).build(),
        "stakes": stakes,
        "quality": quality,
        "epistemics": epistemics,
        ROUTING: { "task_class": TaskClass::Lookup },
    });
    match parts {
        Value::Object(parts) => StatedParts::new(parts),
        _ => StatedParts::default(),
    }
});
