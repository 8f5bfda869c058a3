//! A second engine: it keeps every call with all that was said, and answers every question by reading all of them.
//!
//! It is written from the description of the rules, reads them from neutral JSON, and shares no code with the engine.

mod facts;
mod queue;
mod verdict;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

/// Result with three values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tell {
    Yes,
    No,
    Perhaps,
}

use Tell::{No, Perhaps, Yes};

fn both(a: Tell, b: Tell) -> Tell {
    match (a, b) {
        (No, _) | (_, No) => No,
        (Yes, Yes) => Yes,
        _ => Perhaps,
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct When {
    place: i64,
    bans: i64,
    permits: i64,
    wall: i64,
}

#[derive(Clone, Debug)]
struct Event {
    id: String,
    tool: String,
    session: String,
    /// Session and turn.
    turn: (String, String),
    args: Option<Value>,
    answer: Option<Value>,
    arrival: u64,
    /// `asked`, `made`, `refused`, `ok`, `failed`, `unknown`, `not_run`.
    state: &'static str,
    confirmed: bool,
    asked: When,
    begun: Option<When>,
    ended: Option<When>,
    /// Index of the configuration by which it was made.
    epoch: usize,
    closed: Vec<String>,
    must_confirm: bool,
    is_asking: bool,
    was_held: bool,
    hold: Option<i64>,
    patience: Option<i64>,
    parked: Option<i64>,
}

/// What a trace led to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Result {
    pub(crate) verdicts: BTreeMap<String, String>,
    pub(crate) waits: Vec<String>,
    pub(crate) times: BTreeMap<String, i64>,
    pub(crate) findings: Vec<(String, usize, String)>,
}

pub(crate) struct Naive {
    policies: Vec<Value>,
    current: usize,
    /// What each configuration so far has read of calls.
    epochs: Vec<BTreeSet<String>>,
    observes: bool,
    calls: Vec<Event>,
    generation: BTreeMap<String, u32>,
    t: i64,
    wall: i64,
    raw_wall: i64,
    /// Latest wall clock of an entry of the log.
    logged: i64,
    writes: bool,
    place: i64,
    arrivals: u64,
    result: Result,
}

/// Runs a trace.
pub(crate) fn run(value: &Value) -> Result {
    let policies = value["policies"].as_array().unwrap().clone();
    let mut naive = Naive {
        epochs: vec![facts::read_by(&policies[0])],
        policies,
        current: 0,
        observes: value["mode"] == "facts",
        calls: Vec::new(),
        generation: BTreeMap::new(),
        t: 0,
        wall: 0,
        raw_wall: 0,
        logged: 0,
        writes: false,
        place: 0,
        arrivals: 0,
        result: Result::default(),
    };
    for event in value["trace"].as_array().unwrap() {
        naive.event(event);
    }
    naive.result
}

impl Naive {
    fn policy(&self) -> &Value {
        &self.policies[self.current]
    }

    fn rules(&self, tool: &str) -> Vec<Value> {
        self.policy()["tools"][tool]["rules"].as_array().cloned().unwrap_or_default()
    }

    fn session(&self, name: &str) -> String {
        format!("{name}#{}", self.generation.get(name).copied().unwrap_or(0))
    }

    fn find(&self, id: &Value) -> Option<usize> {
        let id = id.as_str()?;
        self.calls.iter().position(|call| call.id == id)
    }

    fn event(&mut self, event: &Value) {
        let t = event["t"].as_i64().unwrap();
        self.raw_wall = event["w"].as_i64().unwrap_or(self.raw_wall + (t - self.t));
        let kind = event["ev"].as_str().unwrap();
        self.timers(if kind == "tick" { t + 1 } else { t });
        self.t = t;
        self.wall = self.wall.max(self.raw_wall);
        self.overdue();
        let who = self.find(&event["id"]);
        match kind {
            "ask" => self.ask(event),
            "confirm" => {
                if let Some(call) = who.filter(|call| self.calls[*call].is_asking) {
                    self.calls[call].is_asking = false;
                    if event["yes"] == json!(false) {
                        self.refuse(call);
                        let id = self.calls[call].id.clone();
                        self.result.verdicts.insert(id, "G3".to_owned());
                    } else {
                        let call = &mut self.calls[call];
                        (call.confirmed, call.must_confirm, call.patience) = (true, false, None);
                        let call = self.find(&event["id"]).unwrap();
                        self.decide(call);
                    }
                    self.again();
                }
            }
            "end" => {
                if let Some(call) = who.filter(|call| self.calls[*call].state == "made") {
                    let state = match event["result"].as_str().unwrap() {
                        "ok" => "ok",
                        "failed" => "failed",
                        "not_run" => "not_run",
                        _ => "unknown",
                    };
                    self.end(call, state, event.get("answer").filter(|answer| !answer.is_null()));
                    self.again();
                }
            }
            "cancel" => {
                let state = who.map(|call| self.calls[call].state);
                match state {
                    Some("asked") => self.drop_call(who.unwrap()),
                    Some("made") => self.end(who.unwrap(), "unknown", None),
                    _ => return self.flush(),
                }
                self.again();
            }
            "turn_end" => {
                let turn =
                    (self.session(event["session"].as_str().unwrap()), event["turn"].as_str().unwrap().to_owned());
                self.report("turn", |call| call.turn == turn, "end");
            }
            "session_end" => self.end_session(event["session"].as_str().unwrap()),
            "restart" => self.restart(),
            "reload" => {
                self.current = usize::try_from(event["policy"].as_u64().unwrap()).unwrap();
                self.epochs.push(facts::read_by(self.policy()));
                self.writes = true;
                self.overdue();
                self.again();
            }
            "tick" => self.again(),
            _ => unreachable!("{kind}"),
        }
        self.flush();
    }

    /// What was written in an event has its time, at the latest.
    fn flush(&mut self) {
        if std::mem::take(&mut self.writes) {
            self.logged = self.logged.max(self.wall);
        }
    }

    fn now(&mut self) -> When {
        self.place += 1;
        self.logged = self.logged.max(self.wall);
        When { place: self.place, bans: self.t, permits: self.t, wall: self.wall }
    }

    fn ask(&mut self, event: &Value) {
        let tool = event["tool"].as_str().unwrap();
        let id = event["id"].as_str().unwrap().to_owned();
        self.arrivals += 1;
        let Some(entry) = self.policy()["tools"].get(tool) else {
            self.result.verdicts.insert(id, "allow".to_owned());
            return;
        };
        let session = self.session(event["session"].as_str().unwrap());
        let call = Event {
            id: id.clone(),
            tool: tool.to_owned(),
            turn: (session.clone(), event["turn"].as_str().unwrap().to_owned()),
            session,
            args: Some(event["args"].clone()).filter(|args| !args.is_null()),
            answer: None,
            arrival: self.arrivals,
            state: "asked",
            confirmed: false,
            asked: When { place: 0, bans: self.t, permits: self.t, wall: self.wall },
            begun: None,
            ended: None,
            epoch: self.epochs.len() - 1,
            closed: Vec::new(),
            must_confirm: !self.observes && entry["confirm"] == json!(true),
            is_asking: false,
            was_held: false,
            hold: None,
            patience: None,
            parked: None,
        };
        self.calls.push(call);
        let call = self.calls.len() - 1;
        let refused = event.get("pre").or_else(|| event.get("refused")).filter(|code| !code.is_null());
        if let Some(code) = refused {
            self.refuse(call);
            self.result.verdicts.insert(id, code.as_str().unwrap().to_owned());
        } else {
            self.decide(call);
        }
        self.again();
    }

    fn end_session(&mut self, name: &str) {
        self.writes = true;
        let session = self.session(name);
        for call in 0..self.calls.len() {
            if self.calls[call].session == session {
                match self.calls[call].state {
                    "made" => self.end(call, "unknown", None),
                    "asked" => self.drop_call(call),
                    _ => {}
                }
            }
        }
        let turns: BTreeSet<_> =
            self.calls.iter().filter(|call| call.session == session).map(|call| call.turn.clone()).collect();
        for turn in turns {
            self.report("turn", |call| call.turn == turn, "end");
        }
        self.report("session", |call| call.session == session, "end");
        *self.generation.entry(name.to_owned()).or_default() += 1;
        self.again();
    }

    fn restart(&mut self) {
        self.flush();
        self.calls.retain(|call| call.state != "asked");
        let (t, raw, latest) = (self.t, self.raw_wall, self.logged.max(self.raw_wall));
        for call in &mut self.calls {
            for when in [Some(&mut call.asked), call.begun.as_mut(), call.ended.as_mut()].into_iter().flatten() {
                when.bans = t - (raw - when.wall).max(0);
                when.permits = t - (latest - when.wall);
            }
        }
        self.wall = latest;
        for call in 0..self.calls.len() {
            if self.calls[call].state == "made" {
                self.end(call, "unknown", None);
            }
        }
        self.overdue();
    }
}
