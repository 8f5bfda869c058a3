// A3: the key of the log is taken out -> E0616
use omen_gate::audit::Key;

fn agent(key: &Key) {
    let _bytes = &key.keyed;
}

fn main() {}
