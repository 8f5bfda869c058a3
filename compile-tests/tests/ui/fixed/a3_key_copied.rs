// A3: the log takes the key, and it is wiped with it
use std::sync::Arc;

use omen_gate::SystemClock;
use omen_gate::audit::{Audit, AuditError, Key, Options};

fn agent(key: Key) -> Result<Audit, AuditError> {
    Audit::open("audit.jsonl", key, Arc::new(SystemClock::default()), Options::default())
}

fn main() {}
