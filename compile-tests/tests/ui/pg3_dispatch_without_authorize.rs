// PG-3: a call is made that nobody has authorized -> E0277
use omen_gate::{Conformant, Request, Stopped};

async fn agent(request: Request<Conformant>) -> Result<(), Stopped> {
    let _request = request.dispatch().await?;
    Ok(())
}

fn main() {}
