// PG-4: the raw answer is handed on with its mark
use omen_gate::{Request, Untyped};

fn agent(request: Request<Untyped>) {
    println!("typed parsing blocked: {}: {:?}", request.why(), request.raw());
}

fn main() {}
