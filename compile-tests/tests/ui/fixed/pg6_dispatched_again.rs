// PG-6: the answer is read
use omen_gate::{Dispatched, Request};

fn agent(request: Request<Dispatched>) {
    println!("{:?}", request.answer());
}

fn main() {}
