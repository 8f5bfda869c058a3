// PG-4: a summary is made of an answer that could not be typed -> E0277
use omen_gate::summary::Summary;
use omen_gate::{Blocked, Request, Untyped};

async fn agent(request: Request<Untyped>, summary: Summary) -> Result<(), Blocked> {
    let _request = request.ground(summary).await?;
    Ok(())
}

fn main() {}
