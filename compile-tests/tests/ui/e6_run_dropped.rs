// E6: an unused running task -> unused_must_use
#![deny(unused_must_use)]
use omen::*;

fn agent(begin: impl FnOnce() -> Running) {
    begin();
}

fn main() {}
