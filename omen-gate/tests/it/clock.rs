//! D56: setting the time of day back revives nothing.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use omen_gate::confirm::{ConfirmLimits, Reply};
use omen_gate::fault::Ran;
use omen_gate::{
    Blocked, Call, Confirmations, Confirmed, Fault, GateClock as _, GateCode, Grant, Grants, Lease, ManualClock,
    Permission, Stopped,
};
use serde_json::json;

use crate::gates::{Person, World, world};
use crate::random::Random;
use crate::support::{call, clock, grant, outcome, secs, start, tool, turn};

/// Value that expires, with its expiry.
struct Mortal {
    kind: Kind,
    /// Expiry as time of day, and on the monotonic clock.
    wall: SystemTime,
    monotonic: Duration,
    was_dead: bool,
}

enum Kind {
    Granted(Call),
    /// A confirmation allows one call, so there are several, given at the same time.
    Confirmed(Vec<(Lease, Confirmed)>),
}

impl Mortal {
    fn new(kind: Kind, clock: &ManualClock, life: Duration) -> Self {
        Self { kind, wall: clock.wall() + life, monotonic: clock.monotonic() + life, was_dead: false }
    }

    /// Whether the value is valid now, if that can still be determined.
    fn is_alive(&mut self, grants: &Grants) -> Option<bool> {
        let found: Result<(), Blocked> = match &mut self.kind {
            Kind::Granted(call) => outcome(grants.check(call)).map(drop),
            Kind::Confirmed(left) => {
                let (lease, confirmed) = left.pop()?;
                outcome(lease.redeem(Some(confirmed))).map(drop)
            }
        };
        match found {
            Ok(()) => Some(true),
            Err(blocked) => {
                assert!(blocked.message.contains("expired"), "{blocked}");
                Some(false)
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_that_was_dead_once_is_ever_alive_again() {
    let (mut alive, mut dead, mut would_be_revived) = (0, 0, 0);
    for seed in 0..300 {
        let mut random = Random(seed);
        let clock = clock();
        let grants = Grants::with_defaults(clock.clone(), [grant("files/confirmed", Permission::Write)]).unwrap();
        let limits = ConfirmLimits { timeout: secs(60), valid: secs(30) };
        let person = Arc::new(Person::who_says(Reply::Confirmed));
        let confirmations = Confirmations::new(person, clock.clone(), limits);
        let mut mortals = Vec::<Mortal>::new();
        for step in 0..60 {
            let seconds = |random: &mut Random, most| secs(random.below(most) as u64);
            match random.below(6) {
                0 => {
                    let name = format!("files/tool-{step}");
                    let life = seconds(&mut random, 100);
                    let expires = Some(clock.wall() + life);
                    grants.grant(Grant { expires, ..grant(&name, Permission::Read) }).unwrap();
                    mortals.push(Mortal::new(Kind::Granted(call(&name, &[Permission::Read])), &clock, life));
                }
                1 => {
                    let call = call("files/confirmed", &[Permission::Write]);
                    let mut both = Vec::new();
                    for _ in 0..12 {
                        let lease = outcome(grants.check(&call)).unwrap();
                        both.push((lease, outcome(confirmations.ask(&call).await).unwrap()));
                    }
                    mortals.push(Mortal::new(Kind::Confirmed(both), &clock, limits.valid));
                }
                2 | 3 => clock.advance(seconds(&mut random, 20)),
                4 => clock.set_wall(clock.wall() - seconds(&mut random, 200)),
                _ => clock.set_wall(start() + seconds(&mut random, 400)),
            }
            for mortal in &mut mortals {
                if matches!(mortal.kind, Kind::Confirmed(_)) && random.below(3) > 0 {
                    continue;
                }
                let Some(is_alive) = mortal.is_alive(&grants) else { continue };
                let by_wall = clock.wall() < mortal.wall;
                let by_both = by_wall && clock.monotonic() < mortal.monotonic;
                assert!(!(is_alive && mortal.was_dead), "seed {seed}, step {step}: it is revived");
                assert!(!is_alive || by_both, "seed {seed}, step {step}: it outlives one of the clocks");
                alive += u32::from(is_alive);
                dead += u32::from(!is_alive);
                would_be_revived += u32::from(mortal.was_dead && by_wall);
                mortal.was_dead |= !is_alive;
            }
        }
    }
    // The test would prove nothing if no value had been valid, or no expiry had been crossed backwards.
    assert!(alive > 1_000 && dead > 1_000 && would_be_revived > 1_000, "{alive}, {dead}, {would_be_revived}");
}

/// Gate whose grant to read expires 20 s after the start.
async fn short() -> World {
    let world = world("", |builder| builder).await;
    let operator = turn("operator");
    world.gate.revoke(&operator, &tool("store/get"), Permission::Read).await.unwrap();
    let expires = Some(start() + secs(20));
    world.gate.grant(&operator, Grant { expires, ..grant("store/get", Permission::Read) }).await.unwrap();
    world
}

#[tokio::test]
async fn g2_a_clock_that_is_set_back_does_not_revive_a_grant() {
    let world = short().await;
    let get = || json!({ "key": "pool" });
    let request = world.authorized("turn_1", "store/get", get()).await.unwrap();
    world.clock.advance(secs(20));
    world.clock.set_wall(start());
    assert_eq!(request.dispatch().await.unwrap_err().code(), GateCode::G2);
    assert_eq!(world.authorized("turn_2", "store/get", get()).await.unwrap_err().code, GateCode::G2);

    // A value that either clock has shown as expired stays expired.
    let world = short().await;
    world.clock.set_wall(start() + secs(20));
    assert_eq!(world.authorized("turn_1", "store/get", get()).await.unwrap_err().code, GateCode::G2);
    world.clock.set_wall(start());
    assert_eq!(world.authorized("turn_2", "store/get", get()).await.unwrap_err().code, GateCode::G2);
    assert_eq!(world.seen.calls(), 0);
}

#[tokio::test(start_paused = true)]
async fn g2_a_call_that_runs_is_broken_off_whichever_way_the_clock_is_set() {
    // Whether the call runs when the clock is set, the time it is set to, and the total duration of the call: a grant
    // valid for 10 s more lasts 10 s at most, and setting the time of day forward is noticed within a second.
    for (runs, set_to, breaks_off) in [(false, 0, 10), (true, 20, 6), (true, 3_600, 6), (true, 0, 10)] {
        let world = short().await;
        world.seen.fail_with(Some(Fault::Timeout { after: Duration::ZERO }));
        let request = world.authorized("turn_1", "store/get", json!({ "key": "pool" })).await.unwrap();
        world.clock.advance(secs(10));
        let set = || world.clock.set_wall(start() + secs(set_to));
        if !runs {
            set();
        }
        let began = tokio::time::Instant::now();
        let meanwhile = async {
            if runs {
                tokio::time::sleep(Duration::from_millis(5_500)).await;
                set();
            }
        };
        let (outcome, ()) = tokio::join!(request.dispatch(), meanwhile);
        let stopped = outcome.unwrap_err();
        assert!(matches!(stopped, Stopped::BrokenOff(_)), "{stopped}");
        assert_eq!((stopped.code(), stopped.ran()), (GateCode::G2, Ran::Unknown), "{stopped}");
        assert_eq!((began.elapsed().as_secs(), world.seen.calls.load(Ordering::SeqCst)), (breaks_off, 1), "{set_to}");
    }
}
