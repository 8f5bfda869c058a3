// E6: a watch of a run that never was -> E0451
use omen::*;

fn agent(watch: Watch, directive: omen::packet::PacketId) -> Watch {
    Watch { directive, ..watch }
}

fn main() {}
