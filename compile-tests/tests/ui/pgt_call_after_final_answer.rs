// PG-T: a tool is called after a final answer -> E0277
use omen_gate::{Blocked, Request, Terminal};

async fn agent(request: Request<Terminal>) -> Result<(), Blocked> {
    let _request = request.conform().await?;
    Ok(())
}

fn main() {}
