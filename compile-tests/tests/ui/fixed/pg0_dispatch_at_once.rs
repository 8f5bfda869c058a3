// PG-0: a request goes all the way
use omen_gate::{Gate, Stopped, TurnId, Way};

async fn agent(gate: &Gate, turn: TurnId, output: &str) -> Result<(), Stopped> {
    let request = gate.request(turn, "what is the pool?").screen().await?;
    match request.plan(output).await? {
        Way::Call(request) => println!("{:?}", request.conform().await?.authorize().await?.dispatch().await?.answer()),
        Way::Terminal(request) => println!("{}", request.answer()),
    }
    Ok(())
}

fn main() {}
