// PG-1: the plan is read, and says what to call
use omen_gate::{Blocked, Planned, Request, Screened, Way};

async fn agent(request: Request<Screened>, output: &str) -> Result<Option<Request<Planned>>, Blocked> {
    match request.plan(output).await? {
        Way::Call(request) => Ok(Some(request)),
        Way::Terminal(_) => Ok(None),
    }
}

fn main() {}
