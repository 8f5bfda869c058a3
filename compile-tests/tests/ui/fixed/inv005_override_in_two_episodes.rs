// INV-005: use one override for each
use omen::prelude::*;

fn agent(one: Episode<Model>, other: Episode<Model>, [first, second]: [Alert; 2]) {
    let _ = (one.alert(first), other.alert(second));
}

fn main() {}
