// INV-006: a default ruling -> E0599
use omen::prelude::*;

fn agent() -> Ruling {
    Ruling::default()
}

fn main() {}
