// PG-5: value and summary are taken before the summary is grounded -> E0599
use omen_gate::{Request, Typed};

fn agent(request: Request<Typed<u64>>) {
    let (_value, _summary) = request.into_value_and_summary();
}

fn main() {}
