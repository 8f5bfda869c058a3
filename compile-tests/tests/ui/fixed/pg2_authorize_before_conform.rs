// PG-2: the catalogue is asked first
use omen_gate::{Blocked, Planned, Request};

async fn agent(request: Request<Planned>) -> Result<(), Blocked> {
    let _request = request.conform().await?.authorize().await?;
    Ok(())
}

fn main() {}
