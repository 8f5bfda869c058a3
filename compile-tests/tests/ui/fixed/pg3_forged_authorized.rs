// PG-3: the gate alone authorizes
use omen_gate::{Authorized, Blocked, Conformant, Request};

async fn agent(request: Request<Conformant>) -> Result<Request<Authorized>, Blocked> {
    request.authorize().await
}

fn main() {}
