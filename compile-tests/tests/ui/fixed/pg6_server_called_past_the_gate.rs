// PG-6: the gate has the server, and calls it
use omen_gate::server::ToolServer;
use omen_gate::{Builder, ServerName};

fn agent(builder: Builder, name: ServerName, server: impl ToolServer) -> Builder {
    builder.server(name, server)
}

fn main() {}
