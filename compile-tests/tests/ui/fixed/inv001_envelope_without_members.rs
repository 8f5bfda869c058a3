// INV-001: set every field
use omen::*;

fn agent(
    intent: Intent,
    stakes: Stakes<impact::Low, irreversibility::Reversible, uncertainty::Low, adversariality::Benign>,
    quality: Quality<Par>,
    budgets: Budgets,
    epistemics: Epistemics<Observed, Realtime>,
    evidence: Evidence<Live>,
    routing: Routing<ToolsOk>,
) {
    let _ = OpenEnvelope { intent, stakes, quality, budgets, epistemics, evidence, routing }.seal();
}

fn main() {}
