// INV-007: deleting with a tool that only reads -> E0277
use omen::*;

tool!(ConfigGet = "config.get", Read);

fn agent(params: Fields) {
    let _ = Directive::new(ConfigGet, op::Delete, params);
}

fn main() {}
