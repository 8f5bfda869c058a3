// PG-T: a plan may also ask the user
use omen_gate::{Blocked, Request, Screened};

async fn agent(request: Request<Screened>, output: &str) -> Result<(), Blocked> {
    match request.plan(output).await?.call() {
        Ok(request) => drop(request.conform().await?),
        Err(request) => println!("{}", request.answer()),
    }
    Ok(())
}

fn main() {}
