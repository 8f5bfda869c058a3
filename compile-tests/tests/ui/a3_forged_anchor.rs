// A3: an anchor is made by hand -> private
use omen_gate::audit::Anchor;

fn agent() -> Anchor {
    Anchor { text: "200 entries".to_owned() }
}

fn main() {}
