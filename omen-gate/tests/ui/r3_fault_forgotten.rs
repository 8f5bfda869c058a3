// R3: a class of faults is forgotten -> E0004
use omen_gate::fault::Ran;

fn told(ran: Ran) -> &'static str {
    match ran {
        Ran::Yes => "it ran",
        Ran::No => "it did not run",
    }
}

fn main() {}
