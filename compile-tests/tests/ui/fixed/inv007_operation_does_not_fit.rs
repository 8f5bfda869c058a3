// INV-007: use an operation that reads
use omen::*;

tool!(ConfigGet = "config.get", Read);

fn agent(params: Fields) {
    let _ = Directive::new(ConfigGet, op::Read, params).ready();
}

fn main() {}
