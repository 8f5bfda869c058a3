// PG-T: the user is asked
use omen_gate::{Request, Terminal};

fn agent(request: Request<Terminal>) {
    println!("{}", request.answer());
}

fn main() {}
