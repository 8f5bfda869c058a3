// PG-4: the type says how it is read
use omen_gate::{Dispatched, Request};

#[derive(serde::Deserialize)]
struct Setting(i64);

async fn agent(request: Request<Dispatched>) {
    let typed = request.type_output::<Setting>().await;
    println!("{:?}", typed.map(|typed| typed.value().0));
}

fn main() {}
