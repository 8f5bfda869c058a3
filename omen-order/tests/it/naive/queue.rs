//! What happens to calls: they wait, are made, refused, and end; what is owed at an end.

use serde_json::Value;

use super::facts::same;
use super::verdict::Judgement;
use super::{Event, Naive, No, Perhaps, Yes, both};

impl Naive {
    pub(super) fn refuse(&mut self, call: usize) {
        let now = self.now();
        let epoch = self.epochs.len() - 1;
        let call = &mut self.calls[call];
        (call.state, call.begun, call.ended, call.epoch) = ("refused", Some(now), Some(now), epoch);
        (call.parked, call.is_asking) = (None, false);
    }

    fn make(&mut self, call: usize) {
        let now = self.now();
        let epoch = self.epochs.len() - 1;
        let call = &mut self.calls[call];
        (call.state, call.begun, call.epoch, call.parked) = ("made", Some(now), epoch, None);
    }

    pub(super) fn drop_call(&mut self, call: usize) {
        self.refuse(call);
        self.say(call, "cancelled");
    }

    fn say(&mut self, call: usize, verdict: &str) {
        let call = &self.calls[call];
        self.result.verdicts.insert(call.id.clone(), verdict.to_owned());
        self.result.times.insert(call.id.clone(), call.begun.map_or(0, |begun| begun.bans));
    }

    pub(super) fn end(&mut self, call: usize, state: &'static str, answer: Option<&Value>) {
        let now = self.now();
        let ended = &mut self.calls[call];
        (ended.state, ended.ended) = (state, Some(now));
        if state == "ok" {
            ended.answer = answer.cloned();
            self.settle();
        }
    }

    /// Judges a call; whether it was made or refused.
    pub(super) fn decide(&mut self, call: usize) -> bool {
        let verdict = self.judge(call);
        if self.observes {
            let text = match verdict {
                Judgement::Allow => "allow",
                Judgement::Wait => "O-5",
                Judgement::Refuse("O-6", true) => "undecidable",
                Judgement::Refuse(code, _) => code,
            };
            self.make(call);
            self.say(call, text);
            return true;
        }
        let gather = self.policy()["gather_ms"].as_i64().unwrap_or(100);
        let wait = self.policy()["wait_ms"].as_i64().unwrap_or(30_000);
        let t = self.t;
        match verdict {
            Judgement::Allow if self.calls[call].must_confirm => {
                let call = &mut self.calls[call];
                (call.is_asking, call.parked, call.hold) = (true, None, None);
                false
            }
            Judgement::Allow => {
                self.make(call);
                self.say(call, "allow");
                true
            }
            Judgement::Refuse("O-1", _) if self.calls[call].hold.is_some() => false,
            Judgement::Refuse("O-1", _) if !self.calls[call].was_held && gather > 0 => {
                self.calls[call].was_held = true;
                self.calls[call].hold = Some(t + gather);
                self.park(call);
                false
            }
            Judgement::Refuse(code, _) => {
                self.refuse(call);
                self.say(call, code);
                true
            }
            Judgement::Wait => {
                self.calls[call].hold = None;
                self.calls[call].patience.get_or_insert(t + wait);
                self.park(call);
                false
            }
        }
    }

    fn park(&mut self, call: usize) {
        if self.calls[call].parked.is_none() {
            self.calls[call].parked = Some(self.t);
            self.result.waits.push(self.calls[call].id.clone());
        }
    }

    /// Judges all that wait anew until nothing changes.
    pub(super) fn again(&mut self) {
        loop {
            let mut parked: Vec<_> = (0..self.calls.len()).filter(|call| self.calls[*call].parked.is_some()).collect();
            parked.sort_by_key(|call| self.calls[*call].arrival);
            if !parked.into_iter().any(|call| self.decide(call)) {
                return;
            }
        }
    }

    /// Lets the timers fire that are due before a time.
    pub(super) fn timers(&mut self, before: i64) {
        loop {
            let due = self.calls.iter().enumerate().filter_map(|(index, call)| {
                let due = call.hold.or(call.patience)?.max(call.parked?);
                (due < before).then_some((due, call.arrival, index))
            });
            let Some((due, _, call)) = due.min() else { return };
            self.t = self.t.max(due);
            self.overdue();
            if self.calls[call].hold.take().is_some() {
                self.arrivals += 1;
                self.calls[call].arrival = self.arrivals;
                self.decide(call);
            } else if self.judge(call) == Judgement::Wait {
                self.refuse(call);
                self.say(call, "O-5");
            } else {
                self.decide(call);
            }
            self.again();
        }
    }

    /// Debts of a call: the number of the rule, the rule, and whether it applies for certain.
    fn owed_by(&self, call: &Event) -> Vec<(usize, Value, bool)> {
        if call.state != "ok" {
            return Vec::new();
        }
        let rules = self.rules(&call.tool).into_iter().enumerate();
        let owes = rules.filter(|(_, rule)| rule["kind"] == "owes" && !call.closed.contains(&rule.to_string()));
        owes.filter_map(|(number, rule)| {
            let applies = rule.get("if").map_or(Yes, |test| self.args_fit(call, test));
            (applies != No).then_some((number, rule, applies == Yes))
        })
        .collect()
    }

    /// Whether a call settles a debt of another one.
    fn settles(&self, later: &Event, opener: &Event, premise: &Value) -> super::Tell {
        let per = premise["per"].as_str().unwrap_or("session");
        let is_near = match per {
            "session" => later.session == opener.session,
            "turn" => later.turn == opener.turn,
            _ => true,
        };
        let is_later = later.begun.unwrap().place > opener.ended.unwrap().place;
        if later.state != "ok"
            || !is_near
            || !is_later
            || !premise["tools"].as_array().unwrap().contains(&later.tool.clone().into())
        {
            return No;
        }
        let pairs = premise["same"].as_array().into_iter().flatten();
        pairs.fold(self.fits(later, premise, Perhaps), |fit, pair| {
            both(fit, same(&self.later(later, pair), &self.earlier(opener, pair)))
        })
    }

    /// Closes the debts that are settled for certain.
    fn settle(&mut self) {
        let mut settled = Vec::new();
        for (index, opener) in self.calls.iter().enumerate() {
            for (_, rule, _) in self.owed_by(opener) {
                let ended = self.calls.iter().filter(|call| call.state == "ok");
                if ended.into_iter().any(|later| self.settles(later, opener, &rule["premise"]) == Yes) {
                    settled.push((index, rule.to_string()));
                }
            }
        }
        settled.into_iter().for_each(|(opener, rule)| self.calls[opener].closed.push(rule));
    }

    /// Reports debts of a scope.
    pub(super) fn report(&mut self, per: &str, is_of: impl Fn(&Event) -> bool, how: &str) {
        self.report_if(how, |_, call, premise| premise["per"].as_str().unwrap_or("session") == per && is_of(call));
    }

    /// Reports debts whose deadline has passed.
    pub(super) fn overdue(&mut self) {
        self.settle();
        let t = self.t;
        self.report_if("overdue", |naive, call, premise| {
            let _ = naive;
            premise["within_ms"].as_i64().is_some_and(|within| t - call.ended.unwrap().bans >= within)
        });
    }

    fn report_if(&mut self, how: &str, is_due: impl Fn(&Self, &Event, &Value) -> bool) {
        let mut due = Vec::new();
        for (index, opener) in self.calls.iter().enumerate() {
            for (number, rule, is_certain) in self.owed_by(opener) {
                let premise = &rule["premise"];
                let per = premise["per"].as_str().unwrap_or("session");
                // A session that has ended has reported all that is its own.
                let is_open = per == "all" || self.is_open(opener);
                if is_open && is_due(self, opener, premise) {
                    let ended = self.calls.iter().filter(|call| call.state == "ok");
                    let perhaps = ended.into_iter().any(|later| self.settles(later, opener, premise) == Perhaps);
                    let how = if perhaps || !is_certain { "undecidable" } else { how };
                    due.push((index, number, rule.to_string(), how.to_owned()));
                }
            }
        }
        for (opener, number, rule, how) in due {
            self.writes = true;
            self.calls[opener].closed.push(rule);
            self.result.findings.push((self.calls[opener].id.clone(), number, how));
        }
    }

    fn is_open(&self, call: &Event) -> bool {
        let (name, generation) = call.session.rsplit_once('#').unwrap();
        self.generation.get(name).copied().unwrap_or(0).to_string() == generation
    }
}
