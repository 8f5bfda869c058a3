// R2: one call after the other
use omen_gate::{Abort, FailureBudget};

fn agent(budget: &mut FailureBudget) -> Result<(), Abort> {
    let one = budget.attempt()?;
    one.success();
    let two = budget.attempt()?;
    two.success();
    Ok(())
}

fn main() {}
