// R2: a turn makes two calls at once -> E0499
use omen_gate::{Abort, FailureBudget};

fn agent(budget: &mut FailureBudget) -> Result<(), Abort> {
    let one = budget.attempt()?;
    let two = budget.attempt()?;
    one.success();
    two.success();
    Ok(())
}

fn main() {}
