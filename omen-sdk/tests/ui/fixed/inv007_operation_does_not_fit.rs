// INV-007: a tool that reads, reads
use omen::*;

tool!(ConfigGet = "config.get", Read);

fn agent(params: Fields) {
    let _ = Directive::new(ConfigGet, op::Read, params).ready();
}

fn main() {}
