// SCHEMA: a layer from 1 to 6
use omen::packet::LayerNumber;

fn agent() -> LayerNumber {
    LayerNumber::of::<6>()
}

fn main() {}
