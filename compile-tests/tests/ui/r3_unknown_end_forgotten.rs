// R3: a call has ended one way or the other -> E0004
use omen_gate::fault::Ran;

fn describe(ran: Ran) -> &'static str {
    match ran {
        Ran::Yes => "it ran",
        Ran::No => "it did not run",
    }
}

fn main() {}
