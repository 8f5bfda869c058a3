// SCHEMA: a layer that does not exist, which `cargo check` finds -> E0277
use omen::packet::LayerNumber;

fn agent() -> LayerNumber {
    LayerNumber::of::<9>()
}

fn main() {}
