// LAYER: a decision of a layer that only executes -> E0277
use omen::builder::{Origin, Stamp};
use omen::packet::{DecisionPayload, McpEnvelope, layers};

fn agent(origin: &mut Origin<impl Stamp>, mcp: McpEnvelope, decision: DecisionPayload) {
    let _ = origin.sent_by(layers::Layer6).packet(mcp, decision);
}

fn main() {}
