// PG-6: a request calls its tool twice -> E0382
use omen_gate::{Authorized, Request, Stopped};

async fn agent(request: Request<Authorized>) -> Result<(), Stopped> {
    let _one = request.dispatch().await?;
    let _two = request.dispatch().await?;
    Ok(())
}

fn main() {}
