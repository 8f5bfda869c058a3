// PG-6: a request is copied -> E0599
use omen_gate::{Authorized, Request};

fn agent(request: Request<Authorized>) -> [Request<Authorized>; 2] {
    [request.clone(), request]
}

fn main() {}
