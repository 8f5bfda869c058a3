// E6: a run that is lost -> unused_must_use
#![deny(unused_must_use)]
use omen::*;

fn agent(begin: impl FnOnce() -> Running) {
    begin();
}

fn main() {}
