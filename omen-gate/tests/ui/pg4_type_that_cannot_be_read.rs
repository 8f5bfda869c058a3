// PG-4: an answer is to be of a type that cannot be read -> E0277
use omen_gate::{Dispatched, Request};

struct Setting(i64);

async fn agent(request: Request<Dispatched>) {
    let _typed = request.type_output::<Setting>().await;
}

fn main() {}
