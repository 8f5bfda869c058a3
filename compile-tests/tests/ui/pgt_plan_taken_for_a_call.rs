// PG-T: every plan is taken for a call -> E0599
use omen_gate::{Blocked, Request, Screened};

async fn agent(request: Request<Screened>, output: &str) -> Result<(), Blocked> {
    let _request = request.plan(output).await?.conform().await?;
    Ok(())
}

fn main() {}
