// INV-007: a token would list other tools than its scope grants -> E0119
use omen::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify]);

impl Scope for Deploy {
    const TOOLS: &'static [&'static str] = &["payments.send"];
    const OPERATIONS: &'static [OperationType] = &[OperationType::Delete];
}

fn main() {}
