// INV-007: send it without a permit
use omen::prelude::*;

tool!(ConfigGet = "config.get", Read);

fn agent() {
    let _ = Directive::bare(ConfigGet, op::Read).ready();
}

fn main() {}
