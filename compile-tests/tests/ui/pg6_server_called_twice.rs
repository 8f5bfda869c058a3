// PG-6: a server uses a dispatch twice -> E0382
use omen_gate::server::{Dispatch, ToolServer};

async fn relay(server: &dyn ToolServer, dispatch: Dispatch) {
    let _one = server.call(dispatch).await;
    let _two = server.call(dispatch).await;
}

fn main() {}
