// PG-1: a plan is read from what the planner wrote
use omen_gate::Blocked;
use omen_gate::plan::{Limits, Plan};

fn agent(output: &str) -> Result<Plan, Blocked> {
    Plan::parse(output, &Limits::default())
}

fn main() {}
