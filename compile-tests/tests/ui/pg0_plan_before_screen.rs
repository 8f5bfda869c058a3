// PG-0: a plan is read for a query that was not screened -> E0277
use omen_gate::{Blocked, Received, Request};

async fn agent(request: Request<Received>, output: &str) -> Result<(), Blocked> {
    let _way = request.plan(output).await?;
    Ok(())
}

fn main() {}
