// PG-6: a request for each call
use omen_gate::{Authorized, Request, Stopped};

async fn agent(one: Request<Authorized>, two: Request<Authorized>) -> Result<(), Stopped> {
    let _one = one.dispatch().await?;
    let _two = two.dispatch().await?;
    Ok(())
}

fn main() {}
