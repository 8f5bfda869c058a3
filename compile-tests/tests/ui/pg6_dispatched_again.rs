// PG-6: a call is made again when the answer is there -> E0277
use omen_gate::{Dispatched, Request, Stopped};

async fn agent(request: Request<Dispatched>) -> Result<(), Stopped> {
    let _request = request.dispatch().await?;
    Ok(())
}

fn main() {}
