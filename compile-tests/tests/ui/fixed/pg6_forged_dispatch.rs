// PG-6: the gate makes it, when the call is dispatched
use omen_gate::{Authorized, Dispatched, Request, Stopped};

async fn agent(request: Request<Authorized>) -> Result<Request<Dispatched>, Stopped> {
    request.dispatch().await
}

fn main() {}
