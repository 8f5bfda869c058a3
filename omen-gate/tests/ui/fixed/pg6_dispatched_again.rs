// PG-6: the answer is looked at
use omen_gate::{Dispatched, Request};

fn agent(request: Request<Dispatched>) {
    println!("{:?}", request.answer());
}

fn main() {}
