// E4: a permit that no token gave -> E0451
use omen::prelude::*;

tool!(ConfigSet = "config.set", Write);
scope!(Deploy: tools [ConfigSet], operations [Modify]);

fn agent(permit: Permit<Deploy>, token_id: omen::packet::TokenId) -> Permit<Deploy> {
    Permit { token_id, ..permit }
}

fn main() {}
