// LAYER: layer 1 decides, too
use omen::builder::{Origin, Stamp};
use omen::packet::{DecisionPayload, McpEnvelope, layers};

fn agent(origin: &mut Origin<impl Stamp>, mcp: McpEnvelope, decision: DecisionPayload) {
    let _ = origin.sent_by(layers::Layer1).packet(mcp, decision);
}

fn main() {}
