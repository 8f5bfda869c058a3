//! Rate limits of tools, and limits of calls in a turn and a session.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use omen_gate::audit::store::Memory;
use omen_gate::audit::{Audit, Key, Options};
use omen_gate::catalog::pin;
use omen_gate::{Blocked, Config, Gate, GateClock, GateCode, ManualClock, ServerName, Stopped, TurnId};

use crate::gates::{local, tools};
use crate::random::Random;
use crate::support::{clock, secs};

struct Limited {
    gate: Gate,
    memory: Memory,
    clock: Arc<ManualClock>,
}

/// Gate with the tool `store/get`, with a limit and further tables; on a log that may have entries.
async fn limited(max: &str, more: &str, memory: &Memory, clock: &Arc<ManualClock>) -> Limited {
    let tools = tools().await;
    let pin = pin(tools.iter().find(|tool| tool.name.as_str() == "get").unwrap()).unwrap();
    let text = format!(
        "[servers.store]\n[[allow]]\nserver = 'store'\ntool = 'get'\npermissions = ['READ']\npin = '{pin}'\n{max}\n\
         [[grants]]\nserver = 'store'\ntool = 'get'\npermissions = ['READ']\n{more}"
    );
    let shared: Arc<dyn GateClock> = clock.clone();
    let key = Key::from_bytes(&std::array::from_fn::<u8, 32, _>(|i| i as u8)).unwrap();
    let audit = Audit::over(memory.clone(), key, Arc::clone(&shared), Options::default()).unwrap();
    let builder = Gate::builder(Config::parse(&text).unwrap()).audit(audit).clock(shared);
    let gate = builder.server(ServerName::new("store").unwrap(), local()).build().unwrap();
    Limited { gate, memory: memory.clone(), clock: Arc::clone(clock) }
}

impl Limited {
    async fn call(&self, turn: &str, session: Option<&str>) -> Result<(), Blocked> {
        let request = self.gate.request(TurnId::new(turn).unwrap(), "q");
        let request = match session {
            Some(session) => request.of_session(TurnId::new(session).unwrap()),
            None => request,
        };
        let plan = r#"{"type":"call_tool","server":"store","tool":"get","args":{"key":"pool"}}"#;
        let planned = request.screen().await?.plan(plan).await?.call().unwrap();
        match planned.conform().await?.authorize().await?.dispatch().await {
            Ok(_) => Ok(()),
            Err(Stopped::Blocked(blocked)) => Err(blocked),
            Err(other) => panic!("{other}"),
        }
    }

    /// Replaces the gate by another one on the same log.
    async fn restarted(self, max: &str, more: &str) -> Self {
        let Self { gate, memory, clock } = self;
        drop(gate);
        limited(max, more, &memory, &clock).await
    }
}

#[tokio::test]
async fn a_window_slides() {
    let gate = limited("max = '2/min'", "", &Memory::default(), &clock()).await;
    assert_eq!(gate.call("a", None).await, Ok(()));
    gate.clock.advance(secs(30));
    assert_eq!(gate.call("b", None).await, Ok(()));
    gate.clock.advance(Duration::from_millis(29_500));
    let blocked = gate.call("c", None).await.unwrap_err();
    assert_eq!(blocked.code, GateCode::Pg3);
    assert_eq!(blocked.message, "`store/get` had 2 calls within the window of its limit, `max = \"2/min\"`");
    assert_eq!(blocked.help, "try again in 1 s, or ask the operator for a higher limit");
    gate.clock.advance(Duration::from_millis(500));
    assert_eq!(gate.call("d", None).await, Ok(()), "the first call has left the window");
    assert!(gate.call("e", None).await.is_err());
}

/// Compared with a list of all calls, over random times and restarts; with a clock that is set back in between.
#[tokio::test]
async fn no_window_ever_has_more_calls_than_its_limit() {
    let mut random = Random(7);
    for (max, most, window) in [("3/10s", 3, 10), ("5/min", 5, 60), ("1/s", 1, 1)] {
        let max = format!("max = '{max}'");
        let mut gate = limited(&max, "", &Memory::default(), &clock()).await;
        let (mut now, mut made, mut refused) = (Duration::ZERO, VecDeque::<Duration>::new(), 0);
        for turn in 0..300 {
            let step = Duration::from_secs(u64::try_from(random.below(window / 2 + 2)).unwrap());
            gate.clock.advance(step);
            now += step;
            if random.below(20) == 0 {
                gate = gate.restarted(&max, "").await;
            }
            let within = made.iter().filter(|at| now - **at < secs(u64::try_from(window).unwrap())).count();
            let called = gate.call(&format!("turn_{turn}"), None).await;
            assert_eq!(called.is_ok(), within < most, "{max}, turn {turn}: {within} calls: {called:?}");
            match called {
                Ok(()) => made.push_back(now),
                Err(_) => refused += 1,
            }
        }
        assert!(refused > 10 && made.len() > 10, "both happen: {refused}, {}", made.len());
    }
}

#[tokio::test]
async fn a_clock_that_is_set_back_makes_no_call_older() {
    let clock = clock();
    let gate = limited("max = '1/min'", "", &Memory::default(), &clock).await;
    assert_eq!(gate.call("a", None).await, Ok(()));
    clock.set_wall(crate::support::start() - secs(3600));
    assert!(gate.call("b", None).await.is_err());
    let gate = gate.restarted("max = '1/min'", "").await;
    assert!(gate.call("c", None).await.is_err());
    clock.advance(secs(60));
    assert_eq!(gate.call("d", None).await, Ok(()));
}

#[tokio::test]
async fn what_is_refused_does_not_count() {
    let gate =
        limited("max = '2/min'\nwhere = { '/key' = { equals = 'other' } }", "", &Memory::default(), &clock()).await;
    for turn in ["a", "b", "c"] {
        let blocked = gate.call(turn, None).await.unwrap_err();
        assert!(blocked.message.contains("`/key`"), "{blocked}");
    }
    let gate = gate.restarted("max = '2/min'", "").await;
    assert_eq!(gate.call("d", None).await, Ok(()));
    assert_eq!(gate.call("e", None).await, Ok(()));
    assert!(gate.call("f", None).await.is_err());
}

#[tokio::test]
async fn a_turn_makes_so_many_calls_also_after_a_restart() {
    let more = "[budget]\nturn_calls = 3\n";
    let gate = limited("", more, &Memory::default(), &clock()).await;
    for _ in 0..2 {
        assert_eq!(gate.call("a", None).await, Ok(()));
    }
    let gate = gate.restarted("", more).await;
    assert_eq!(gate.call("a", None).await, Ok(()));
    let blocked = gate.call("a", None).await.unwrap_err();
    assert_eq!(blocked.code, GateCode::R2);
    assert_eq!(blocked.message, "the turn has made 3 calls, the most that it may make (`budget.turn_calls = 3`)");
    assert_eq!(gate.call("b", None).await, Ok(()), "another turn has a budget of its own");
}

#[tokio::test]
async fn a_session_makes_so_many_calls_over_all_its_turns() {
    let more = "[budget]\nsession_calls = 3\n";
    let gate = limited("", more, &Memory::default(), &clock()).await;
    assert_eq!(gate.call("s.1", Some("s")).await, Ok(()));
    assert_eq!(gate.call("s.2", Some("s")).await, Ok(()));
    let gate = gate.restarted("", more).await;
    assert_eq!(gate.call("s.3", Some("s")).await, Ok(()));
    let blocked = gate.call("s.4", Some("s")).await.unwrap_err();
    assert_eq!(blocked.code, GateCode::R2);
    assert_eq!(blocked.message, "the session has made 3 calls, the most that it may make (`budget.session_calls = 3`)");
    assert_eq!(gate.call("t.1", Some("t")).await, Ok(()), "another session has a budget of its own");
    assert_eq!(gate.call("u.1", None).await, Ok(()), "what belongs to no session has none");
    // A finished session is forgotten, also in the log.
    gate.gate.turn_is_over(&TurnId::new("s").unwrap(), "the client has gone").await.unwrap();
    let gate = gate.restarted("", more).await;
    assert_eq!(gate.call("s.5", Some("s")).await, Ok(()));
}

/// Simultaneous calls share the remaining room.
#[tokio::test]
async fn calls_at_once_do_not_share_the_last_place() {
    let gate = limited("max = '5/min'", "[budget]\nsession_calls = 4\n", &Memory::default(), &clock()).await;
    let turns: Vec<_> = (0..20).map(|turn| format!("s.{turn}")).collect();
    let mut made = 0;
    let calls: Vec<_> = turns.iter().map(|turn| gate.call(turn, Some("s"))).collect();
    let mut calls: Vec<_> = calls.into_iter().map(Box::pin).collect();
    // Polls all of them in turn.
    let mut done = vec![false; calls.len()];
    while done.iter().any(|done| !done) {
        for (call, done) in calls.iter_mut().zip(&mut done) {
            if !*done && let Ok(called) = tokio::time::timeout(Duration::from_millis(1), call.as_mut()).await {
                *done = true;
                made += usize::from(called.is_ok());
            }
        }
    }
    assert_eq!(made, 4);
}

#[test]
fn an_invalid_limit_is_an_error_with_place_and_fix() {
    let text = "[servers.s]\n[[allow]]\nserver = 's'\ntool = 't'\npermissions = ['READ']\nmax = '10 a minute'\n";
    let errors = Config::parse(text).unwrap_err();
    assert_eq!((errors.0[0].line, errors.0[0].path.as_str()), (6, "allow[0].max"));
    assert!(errors.0[0].message.starts_with("invalid limit `10 a minute`: expected a number of calls"), "{errors}");
    assert_eq!(errors.0[0].help, "write how often the tool may be called: `10/min`");
}
