//! R5: health is read-only.

use std::num::NonZeroU32;

use omen_gate::breaker::{BreakerLimits, Breakers};
use omen_gate::health::{Health, MAX_TOOLS};
use omen_gate::{Fault, FaultClass};
use serde_json::json;

use crate::support::{clock, secs, tool};

fn limits() -> BreakerLimits {
    BreakerLimits { failures: NonZeroU32::new(1).unwrap(), cooldown: secs(10) }
}

#[test]
fn a_snapshot_tells_counts_the_last_fault_and_breakers() {
    let clock = clock();
    let (health, breakers) = (Health::new(clock.clone()), Breakers::new(clock.clone(), limits()));
    health.observe(&tool("files/read"), None);
    health.observe(&tool("files/read"), Some(&Fault::Panicked));
    clock.advance(secs(61));
    health.observe(&tool("files/read"), Some(&Fault::died("gone\n")));
    health.observe(&tool("files/read"), Some(&Fault::died("gone again")));
    health.observe(&tool("a/b"), None);
    breakers.admit(&"read".parse().unwrap()).unwrap().failure();
    clock.advance(secs(4));
    let expect = json!({
        "at": "2026-01-01T00:01:05Z",
        "tools": [
            {"tool": {"server": "a", "tool": "b"}, "calls": 1, "faults": {}, "last_fault": null},
            {
                "tool": {"server": "files", "tool": "read"}, "calls": 4, "faults": {"died": 2, "panicked": 1},
                "last_fault": {
                    "class": "died", "message": "the server died during the call: gone again",
                    "at": "2026-01-01T00:01:01Z",
                },
            },
        ],
        "untracked": 0,
        "breakers": {"read": {"state": "open", "remaining_ms": 6000}},
    });
    assert_eq!(serde_json::to_value(health.snapshot(&breakers)).unwrap(), expect);
}

#[test]
fn looking_changes_nothing_and_bad_health_forbids_nothing() {
    let clock = clock();
    let (health, breakers) = (Health::new(clock.clone()), Breakers::new(clock.clone(), limits()));
    for _ in 0..1000 {
        health.observe(&tool("files/read"), Some(&Fault::Panicked));
    }
    let first = health.snapshot(&breakers);
    assert_eq!(health.snapshot(&breakers), first);
    assert_eq!(first.tools[0].faults[&FaultClass::Panicked], 1000);
    assert!(breakers.admit(&"read".parse().unwrap()).is_ok());
}

#[test]
fn the_number_of_tools_is_bounded() {
    let clock = clock();
    let (health, breakers) = (Health::new(clock.clone()), Breakers::new(clock, limits()));
    for index in 0..MAX_TOOLS + 3 {
        health.observe(&tool(&format!("s/t{index}")), None);
    }
    health.observe(&tool("s/t0"), None);
    let snapshot = health.snapshot(&breakers);
    assert_eq!((snapshot.tools.len(), snapshot.untracked), (MAX_TOOLS, 3));
    assert_eq!(snapshot.tools[0].calls, 2);
}
