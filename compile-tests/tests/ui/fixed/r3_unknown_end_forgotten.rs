// R3: whether a tool ran may be unknown
use omen_gate::fault::Ran;

fn describe(ran: Ran) -> &'static str {
    match ran {
        Ran::Yes => "it ran",
        Ran::No => "it did not run",
        Ran::Unknown => "nobody knows whether it ran",
    }
}

fn main() {}
