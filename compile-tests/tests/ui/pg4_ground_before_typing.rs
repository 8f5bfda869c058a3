// PG-4: a summary is made of an answer that is not typed -> E0277
use omen_gate::summary::Summary;
use omen_gate::{Blocked, Dispatched, Request};

async fn agent(request: Request<Dispatched>, summary: Summary) -> Result<(), Blocked> {
    let _request = request.ground(summary).await?;
    Ok(())
}

fn main() {}
