// PG-1: a call is made without a plan -> E0277
use omen_gate::{Request, Screened, Stopped};

async fn agent(request: Request<Screened>) -> Result<(), Stopped> {
    let _request = request.dispatch().await?;
    Ok(())
}

fn main() {}
