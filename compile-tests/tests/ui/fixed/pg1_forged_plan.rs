// PG-1: a plan is read from what the planner wrote
use omen_gate::Blocked;
use omen_gate::plan::{Plan, PlanLimits};

fn agent(output: &str) -> Result<Plan, Blocked> {
    Plan::parse(output, &PlanLimits::default())
}

fn main() {}
