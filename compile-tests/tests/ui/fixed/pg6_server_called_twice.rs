// PG-6: it is used once
use omen_gate::server::{Dispatch, ToolServer};

async fn relay(server: &dyn ToolServer, dispatch: Dispatch) {
    let _answer = server.call(dispatch).await;
}

fn main() {}
