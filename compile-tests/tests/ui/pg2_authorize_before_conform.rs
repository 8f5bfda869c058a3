// PG-2: a call is authorized before it is held against the catalogue -> E0277
use omen_gate::{Blocked, Planned, Request};

async fn agent(request: Request<Planned>) -> Result<(), Blocked> {
    let _request = request.authorize().await?;
    Ok(())
}

fn main() {}
