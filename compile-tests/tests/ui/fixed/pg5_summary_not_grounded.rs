// PG-5: the summary is held against the answer
use omen_gate::summary::Summary;
use omen_gate::{Blocked, Request, Typed};

async fn agent(request: Request<Typed<u64>>, summary: Summary) -> Result<(), Blocked> {
    let (_value, _summary) = request.ground(summary).await?.into_value_and_summary();
    Ok(())
}

fn main() {}
