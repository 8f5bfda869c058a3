// E6: a forged watch -> E0451
use omen::*;

fn agent(watch: Watch, directive: omen::packet::PacketId) -> Watch {
    Watch { directive, ..watch }
}

fn main() {}
