// PG-0: the query is screened first
use omen_gate::{Blocked, Received, Request};

async fn agent(request: Request<Received>, output: &str) -> Result<(), Blocked> {
    let _way = request.screen().await?.plan(output).await?;
    Ok(())
}

fn main() {}
