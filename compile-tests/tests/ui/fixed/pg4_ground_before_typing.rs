// PG-4: the answer is typed first
use omen_gate::summary::Summary;
use omen_gate::{Blocked, Dispatched, Request};

#[derive(serde::Deserialize)]
struct Setting {
    value: i64,
}

async fn agent(request: Request<Dispatched>, summary: Summary) -> Result<i64, Blocked> {
    match request.type_output::<Setting>().await {
        Ok(typed) => Ok(typed.ground(summary).await?.value().value),
        Err(untyped) => Err(untyped.why().clone()),
    }
}

fn main() {}
