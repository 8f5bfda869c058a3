//! The verdict on a call, by reading all calls.

use serde_json::Value;

use super::facts::{Item, names, same, untils};
use super::{Event, Naive, No, Perhaps, Tell, When, Yes, both};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judgement {
    Allow,
    Wait,
    /// A code, and whether it is for want of records.
    Refuse(&'static str, bool),
}

use Judgement::{Allow, Refuse, Wait};

impl Naive {
    pub(super) fn judge(&self, index: usize) -> Judgement {
        let call = &self.calls[index];
        let (mut undecided, mut waits) = (None, false);
        for rule in self.rules(&call.tool) {
            let applies = rule.get("if").map_or(Yes, |test| self.args_fit(call, test));
            if applies == No {
                continue;
            }
            match (self.by_rule(call, &rule), applies) {
                (Allow, _) => {}
                (Wait, _) => waits = true,
                (Refuse("O-6", why), _) => drop(undecided.get_or_insert(why)),
                (Refuse(code, why), Yes) => return Refuse(code, why),
                (Refuse(..), _) => drop(undecided.get_or_insert(true)),
            }
        }
        if undecided.is_none() && self.is_unrecognisable(call) {
            undecided = Some(false);
        }
        match (undecided, waits) {
            (Some(why), _) => Refuse("O-6", why),
            (None, true) => Wait,
            (None, false) => Allow,
        }
    }

    fn by_rule(&self, call: &Event, rule: &Value) -> Judgement {
        match rule["kind"].as_str().unwrap() {
            "after" => {
                let any = rule["any"].as_array().unwrap().iter().map(|premise| self.after(call, premise));
                any.min_by_key(|judgement| match judgement {
                    Allow => 0,
                    Wait => 1,
                    Refuse("O-6", _) => 2,
                    Refuse(..) => 3,
                })
                .unwrap()
            }
            "never_after" => self.never(call, &rule["premise"]),
            "max" => self.max(call, rule),
            _ => Allow,
        }
    }

    /// The call's own members: an error if one cannot be compared.
    fn own(&self, call: &Event, premise: &Value) -> Result<Vec<Item>, Judgement> {
        let pairs = premise["same"].as_array().into_iter().flatten();
        pairs
            .map(|pair| match self.later(call, pair) {
                Item::Missing | Item::Odd => Err(Refuse("O-6", false)),
                Item::Unknown | Item::Coming => Err(Refuse("O-6", true)),
                item => Ok(item),
            })
            .collect()
    }

    fn is_near(call: &Event, other: &Event, premise: &Value, default: &str) -> bool {
        match premise["per"].as_str().unwrap_or(default) {
            "session" => call.session == other.session,
            "turn" => call.turn == other.turn,
            _ => true,
        }
    }

    /// Whether the earlier call's members equal the call's own.
    fn equal(&self, own: &[Item], other: &Event, premise: &Value, permits: bool, coming: Tell) -> Tell {
        let pairs = premise["same"].as_array().into_iter().flatten();
        pairs.zip(own).fold(Yes, |all, (pair, own)| {
            both(
                all,
                match self.earlier(other, pair) {
                    Item::Odd if permits => No,
                    Item::Coming => coming,
                    item => same(own, &item),
                },
            )
        })
    }

    fn age(&self, when: When, permits: bool) -> i64 {
        if permits { (self.t - when.permits).max(self.wall - when.wall) } else { self.t - when.bans }
    }

    fn is_young(&self, other: &Event, premise: &Value, was: &str, permits: bool) -> bool {
        let within = premise["within_ms"].as_i64();
        within.is_none_or(|within| self.age(fact_time(other, was), permits) < within)
    }

    /// Facts of a premise: those that count, and those of which that cannot be decided.
    fn facts<'n>(&'n self, call: &Event, premise: &Value, own: &[Item], was: &str, kind: &str) -> [Vec<&'n Event>; 2] {
        let permits = kind == "after";
        let mut facts = [Vec::new(), Vec::new()];
        for other in &self.calls {
            if other.id == call.id
                || !names(premise, &other.tool)
                || !Self::is_near(call, other, premise, if kind == "max" { "all" } else { "session" })
                || !is(other, was)
                || !self.is_young(other, premise, was, permits)
            {
                continue;
            }
            let fit = both(self.fits(other, premise, Perhaps), self.equal(own, other, premise, permits, Perhaps));
            let fit = match self.is_cancelled(call, other, premise, permits) {
                Yes => No,
                Perhaps => both(fit, Perhaps),
                No => fit,
            };
            match fit {
                Yes => facts[0].push(other),
                Perhaps => facts[1].push(other),
                No => {}
            }
        }
        facts
    }

    fn is_cancelled(&self, call: &Event, other: &Event, premise: &Value, permits: bool) -> Tell {
        let mut result = No;
        for until in untils(premise) {
            let was = until["was"].as_str().unwrap_or(if permits { "made" } else { "ok" });
            for canceller in &self.calls {
                if canceller.id == call.id
                    || canceller.id == other.id
                    || !names(&until, &canceller.tool)
                    || !Self::is_near(call, canceller, premise, "session")
                    || !is(canceller, was)
                {
                    continue;
                }
                let cancels = if permits { end(canceller) >= begin(other) } else { begin(canceller) > end(other) };
                if cancels {
                    match self.tied(canceller, other, &until, Perhaps) {
                        Yes => return Yes,
                        Perhaps => result = Perhaps,
                        No => {}
                    }
                }
            }
        }
        result
    }

    /// Whether a canceller fits, with members equal to those of the earlier call.
    fn tied(&self, canceller: &Event, other: &Event, until: &Value, coming: Tell) -> Tell {
        let pairs = until["same"].as_array().into_iter().flatten();
        pairs.fold(self.fits(canceller, until, coming), |all, pair| {
            both(
                all,
                match self.earlier(other, pair) {
                    Item::Coming => coming,
                    item => same(&self.later(canceller, pair), &item),
                },
            )
        })
    }

    /// Calls in flight that arrived before and could become facts.
    fn coming<'n>(&'n self, call: &'n Event, matcher: &'n Value, premise: &'n Value, was: &'n str) -> Vec<&'n Event> {
        let coming = self.calls.iter().filter(|other| {
            other.id != call.id
                && other.arrival < call.arrival
                && names(matcher, &other.tool)
                && Self::is_near(call, other, premise, "session")
                && match (was, other.state) {
                    ("ok" | "failed", "asked" | "made") | ("made" | "done" | "refused", "asked") => true,
                    ("confirmed", "asked") => self.policy()["tools"][&other.tool]["confirm"] == true,
                    ("confirmed", "made") => other.confirmed,
                    _ => false,
                }
        });
        coming.collect()
    }

    fn after(&self, call: &Event, premise: &Value) -> Judgement {
        let own = match self.own(call, premise) {
            Ok(own) => own,
            Err(refuse) => return refuse,
        };
        let was = premise["was"].as_str().unwrap_or("ok");
        let times = usize::try_from(premise["times"].as_u64().unwrap_or(1)).unwrap();
        let [certain, perhaps] = self.facts(call, premise, &own, was, "after");
        if certain.len() >= times {
            return Allow;
        }
        let coming = self.coming(call, premise, premise, was).into_iter().filter(|other| {
            self.fits(other, premise, Yes) == Yes
                && self.equal(&own, other, premise, true, Yes) == Yes
                && !(other.state == "made" && self.is_doomed(call, other, premise))
        });
        if certain.len() + coming.count() >= times {
            return Wait;
        }
        if certain.len() + perhaps.len() >= times { Refuse("O-6", true) } else { Refuse("O-1", false) }
    }

    /// Whether a call that has ended has cancelled a running one for certain.
    fn is_doomed(&self, call: &Event, other: &Event, premise: &Value) -> bool {
        untils(premise).iter().any(|until| {
            let was = until["was"].as_str().unwrap_or("made");
            self.calls.iter().any(|canceller| {
                canceller.id != call.id
                    && canceller.id != other.id
                    && !matches!(canceller.state, "asked" | "made")
                    && names(until, &canceller.tool)
                    && Self::is_near(call, canceller, premise, "session")
                    && is(canceller, was)
                    && end(canceller) >= begin(other)
                    && self.tied(canceller, other, until, Perhaps) == Yes
            })
        })
    }

    fn never(&self, call: &Event, premise: &Value) -> Judgement {
        let own = match self.own(call, premise) {
            Ok(own) => own,
            Err(refuse) => return refuse,
        };
        let was = premise["was"].as_str().unwrap_or("made");
        let times = usize::try_from(premise["times"].as_u64().unwrap_or(1)).unwrap();
        let [certain, perhaps] = self.facts(call, premise, &own, was, "never_after");
        if certain.len() + perhaps.len() >= times {
            let stay = certain.iter().chain(&perhaps).filter(|fact| !self.may_be_lifted(call, fact, premise));
            return match (stay.count() < times, certain.len() >= times) {
                (true, _) => Wait,
                (false, true) => Refuse("O-2", false),
                (false, false) => Refuse("O-6", true),
            };
        }
        let coming = match was {
            "ok" | "failed" | "confirmed" => self.coming(call, premise, premise, was),
            _ => Vec::new(),
        };
        let coming = coming
            .into_iter()
            .filter(|other| self.fits(other, premise, Yes) != No && self.equal(&own, other, premise, false, Yes) != No);
        if certain.len() + perhaps.len() + coming.count() >= times { Wait } else { Allow }
    }

    fn may_be_lifted(&self, call: &Event, fact: &Event, premise: &Value) -> bool {
        untils(premise).iter().any(|until| {
            let was = until["was"].as_str().unwrap_or("ok");
            self.coming(call, until, premise, was).into_iter().any(|lift| {
                lift.id != fact.id
                    && (lift.state == "asked" || begin(lift) > end(fact))
                    && self.tied(lift, fact, until, Yes) == Yes
            })
        })
    }

    fn max(&self, call: &Event, rule: &Value) -> Judgement {
        let premise = &rule["premise"];
        let own = match self.own(call, premise) {
            Ok(own) => own,
            Err(refuse) => return refuse,
        };
        let was = premise["was"].as_str().unwrap_or("made");
        let [certain, perhaps] = self.facts(call, premise, &own, was, "max");
        let mine = if names(premise, &call.tool) { self.fits(call, premise, Yes) } else { No };
        if let Some(limit) = rule["calls"].as_u64() {
            let limit = usize::try_from(limit).unwrap();
            let least = certain.len() + usize::from(mine == Yes);
            let most = certain.len() + perhaps.len() + usize::from(mine != No);
            return match (least > limit, most > limit) {
                (true, _) => Refuse("O-3", false),
                (false, true) => Refuse("O-6", true),
                (false, false) => Allow,
            };
        }
        let (at, limit) = (rule["sum"]["at"].as_str().unwrap(), rule["sum"]["limit"].as_u64().unwrap());
        let amount = match (mine, self.amount(call, at)) {
            (No, _) => 0,
            (_, Some(Ok(amount))) => amount,
            (_, Some(Err(()))) => return Refuse("O-6", false),
            (_, None) => return Refuse("O-6", true),
        };
        let amounts = |calls: &[&Event]| calls.iter().map(|other| self.amount(other, at)).collect::<Vec<_>>();
        let known = |amounts: &[Option<Result<u64, ()>>]| -> u64 {
            amounts.iter().filter_map(|amount| amount.and_then(Result::ok)).sum()
        };
        let (certain, perhaps) = (amounts(&certain), amounts(&perhaps));
        if known(&certain) + if mine == Yes { amount } else { 0 } > limit {
            return Refuse("O-3", false);
        }
        let is_odd = certain.iter().chain(&perhaps).any(|amount| !matches!(amount, Some(Ok(_))));
        if is_odd || known(&certain) + known(&perhaps) + amount > limit { Refuse("O-6", true) } else { Allow }
    }

    /// Whether a ban or a limit of any tool could not recognise the call.
    fn is_unrecognisable(&self, call: &Event) -> bool {
        let tools = self.policy()["tools"].as_object().unwrap();
        let rules = tools.values().flat_map(|tool| tool["rules"].as_array().into_iter().flatten());
        rules.filter(|rule| rule["kind"] == "never_after" || rule["kind"] == "max").any(|rule| {
            let premise = &rule["premise"];
            if !names(premise, &call.tool) || self.fits(call, premise, Yes) == No {
                return false;
            }
            let pairs = premise["same"].as_array().into_iter().flatten();
            let is_odd = pairs.filter(|pair| pair.get("answer").is_none());
            let mut is_odd = is_odd.map(|pair| matches!(self.earlier(call, pair), Item::Odd));
            let sum = rule.get("sum").map(|sum| self.amount(call, sum["at"].as_str().unwrap()));
            is_odd.any(|odd| odd) || sum == Some(Some(Err(())))
        })
    }
}

fn is(call: &Event, was: &str) -> bool {
    match was {
        "ok" => call.state == "ok",
        "failed" => ["failed", "unknown", "not_run"].contains(&call.state),
        "made" => ["made", "ok", "failed", "unknown"].contains(&call.state),
        "done" => ["made", "ok", "unknown"].contains(&call.state),
        "confirmed" => call.state == "ok" && call.confirmed,
        "asked" => true,
        "refused" => call.state == "refused",
        _ => unreachable!("{was}"),
    }
}

fn fact_time(call: &Event, was: &str) -> When {
    match was {
        "asked" => call.asked,
        "made" | "done" => call.begun.unwrap(),
        _ => call.ended.unwrap(),
    }
}

fn begin(call: &Event) -> i64 {
    call.begun.map_or(i64::MAX, |begun| begun.place)
}

fn end(call: &Event) -> i64 {
    call.ended.map_or(i64::MAX, |ended| ended.place)
}
