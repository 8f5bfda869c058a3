// PG-3: allowlist, grants and confirmation are asked first
use omen_gate::{Conformant, Request, Stopped};

async fn agent(request: Request<Conformant>) -> Result<(), Stopped> {
    let _request = request.authorize().await?.dispatch().await?;
    Ok(())
}

fn main() {}
