// E4: a forged permit -> E0451
use omen::prelude::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify]);

fn agent(permit: Permit<Deploy>, token_id: omen::packet::TokenId) -> Permit<Deploy> {
    Permit { token_id, ..permit }
}

fn main() {}
