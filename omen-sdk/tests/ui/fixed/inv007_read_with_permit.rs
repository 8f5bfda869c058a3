// INV-007: a tool that only reads needs no permit
use omen::prelude::*;

tool!(ConfigGet = "config.get", Read);

fn agent() {
    let _ = Directive::bare(ConfigGet, op::Read).ready();
}

fn main() {}
