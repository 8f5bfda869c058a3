// INV-007: a token list implemented by hand -> E0119
use omen::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify]);

impl Scope for Deploy {
    const TOOLS: &'static [&'static str] = &["payments.send"];
    const OPERATIONS: &'static [OperationType] = &[OperationType::Delete];
}

fn main() {}
