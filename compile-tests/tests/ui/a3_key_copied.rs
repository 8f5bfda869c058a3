// A3: the key of the log is copied -> E0599
use omen_gate::audit::Key;

fn agent(key: Key) -> [Key; 2] {
    [key.clone(), key]
}

fn main() {}
