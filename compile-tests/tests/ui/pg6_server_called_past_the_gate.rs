// PG-6: a server is called past the gate -> E0308
use omen_gate::plan::ToolCall;
use omen_gate::server::ToolServer;

async fn agent(server: &dyn ToolServer, call: ToolCall) {
    let _answer = server.call(call).await;
}

fn main() {}
