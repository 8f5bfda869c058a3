//! Policies of Dogwood as order rules in neutral JSON.
//!
//! Each event becomes a call that has ended at once: a request is one that was asked for, a response one that succeeded, an
//! error one that failed. The condition of an action is brought into a conjunction of clauses, and each clause is a rule.

use serde_json::{Value, json};

use super::body::Body;
use super::clause::Condition::{self, After, All, Any, Const, Max, Never};
use super::clause::{Entry, Own, clauses, compared, contrary, demand, rule};
use super::language::{Formula, Op, Outside, Term, events_with, replaced};
use super::policy::{Policy, Schema};

/// Tool that stands for a kind of event of an action.
pub(super) fn tool(kind: &str, action: &str) -> String {
    format!("{kind}/{action}")
}

/// What is asked of the requests for an action, or nothing if no policy permits them.
pub(super) fn entry(policies: &[Policy], schema: &Schema, action: &str) -> Result<Option<Entry>, Outside> {
    let own = Present { schema, action };
    let (mut permits, mut all) = (Vec::new(), Vec::new());
    for policy in policies.iter().filter(|policy| policy.action.as_deref().is_none_or(|name| name == action)) {
        let conditions = Formula::And(policy.conditions.clone());
        let condition = own.condition(&conditions, policy.permits)?;
        if policy.permits { permits.push(condition) } else { all.push(condition) }
    }
    if permits.is_empty() {
        return Ok(None);
    }
    all.push(Any(permits));
    let mut entry = Entry::default();
    for clause in clauses(&All(all))? {
        rule(clause, &mut entry)?;
    }
    let order = ["after", "never_after", "max"];
    entry.rules.sort_by_key(|rule| order.iter().position(|kind| rule["kind"] == *kind));
    entry.rules.dedup();
    Ok(Some(entry))
}

/// The request that is decided.
struct Present<'s> {
    schema: &'s Schema,
    action: &'s str,
}

impl Present<'_> {
    /// Condition that a formula, or its contrary, comes to.
    fn condition(&self, formula: &Formula, holds: bool) -> Result<Condition, Outside> {
        Ok(match formula {
            Formula::And(parts) => {
                let parts = parts.iter().map(|part| self.condition(part, holds)).collect::<Result<_, _>>()?;
                if holds { All(parts) } else { Any(parts) }
            }
            Formula::Not(inner) => self.condition(inner, !holds)?,
            Formula::Event(_) => self.now(&Body::new(formula)?, holds)?,
            Formula::Compare(left, op, right) => self.compare(left, if holds { *op } else { op.not() }, right)?,
            Formula::Exists(name, inner) => {
                let inner = self.resolved(name, inner);
                if events_with(&inner, name) > 1 {
                    return Err("a value that several events share");
                }
                self.condition(&inner, holds)?
            }
            Formula::Moment(_) => Const(holds),
            Formula::Formerly(within, inner) => {
                let body = Body::new(inner)?;
                let earlier = self.earlier(&body, *within, Value::Null, 1, holds)?;
                self.with(&body, earlier, holds)?
            }
            Formula::Previous(within, inner) => {
                let body = Body::new(inner)?;
                let only = json!([{ "tools": [], "other": true, "was": "asked" }]);
                let earlier = self.earlier(&body, *within, only, 1, holds)?;
                match body.event {
                    Some(_) => {
                        let own = Formula::And(body.own.clone());
                        let parts = vec![self.condition(&own, holds)?, earlier];
                        if holds { All(parts) } else { Any(parts) }
                    }
                    None => return Err("a moment without an event"),
                }
            }
            Formula::Since(left, within, right) => self.since(left, *within, right, holds)?,
        })
    }

    /// `formerly`: the present request, or an earlier one; and what is said of the present request alone.
    fn with(&self, body: &Body, earlier: Condition, holds: bool) -> Result<Condition, Outside> {
        let now = self.now(body, holds)?;
        let own = self.condition(&Formula::And(body.own.clone()), holds)?;
        Ok(match holds {
            true => All(vec![own, Any(vec![now, earlier])]),
            false => Any(vec![own, All(vec![now, earlier])]),
        })
    }

    /// Whether the present request is the event, or is not.
    fn now(&self, body: &Body, holds: bool) -> Result<Condition, Outside> {
        let Some(event) = &body.event else { return Ok(Const(holds)) };
        if event.kind != self.schema.decides || event.action != self.action {
            return Ok(Const(!holds));
        }
        let fields = event.fields.iter().map(|(member, term)| (member, Op::Equal, term));
        let tests = body.tests.iter().map(|(member, op, term)| (member, *op, term));
        let mut parts = vec![self.condition(&Formula::And(body.own.clone()), holds)?];
        for (member, op, term) in fields.chain(tests) {
            if *term == Term::Any {
                continue;
            }
            let member = Term::Own(self.schema.canonical(member));
            parts.push(self.compare(&member, if holds { op } else { op.not() }, term)?);
        }
        Ok(if holds { All(parts) } else { Any(parts) })
    }

    fn compare(&self, left: &Term, op: Op, right: &Term) -> Result<Condition, Outside> {
        match (left, right) {
            (Term::Own(left), Term::Own(right)) if left == right => {
                Ok(Const(matches!(op, Op::Equal | Op::LessOrEqual | Op::GreaterOrEqual)))
            }
            (Term::Own(member), Term::Literal(literal)) => {
                let (demand, holds) = compared(op, literal)?;
                Ok(Condition::Own(Own { member: member.clone(), demand, holds }))
            }
            (Term::Count(..) | Term::Sum(..), Term::Literal(literal)) => self.aggregate(left, op, literal),
            (Term::Literal(_), Term::Own(_) | Term::Count(..) | Term::Sum(..)) => {
                self.compare(right, op.flipped(), left)
            }
            (Term::Literal(left), Term::Literal(right)) => {
                let order = left.as_i64().cmp(&right.as_i64());
                Ok(Const(match op {
                    Op::Equal => left == right,
                    Op::NotEqual => left != right,
                    Op::Less => order.is_lt(),
                    Op::LessOrEqual => order.is_le(),
                    Op::Greater => order.is_gt(),
                    Op::GreaterOrEqual => order.is_ge(),
                }))
            }
            (Term::Own(_), Term::Own(_)) => Err("a comparison of two members of the call"),
            (Term::Variable(_), _) | (_, Term::Variable(_)) => Err("a value that several events share"),
            _ => Err("a comparison of two counts or sums"),
        }
    }

    /// Premise about an earlier event, or its ban.
    fn earlier(&self, body: &Body, within: i64, until: Value, times: i64, holds: bool) -> Result<Condition, Outside> {
        let Some(mut premise) = self.premise(body)? else { return Ok(Const(!holds)) };
        premise["within_ms"] = (within + 1).into();
        if !until.is_null() {
            premise["until"] = until;
        }
        if times > 1 {
            premise["times"] = times.into();
        }
        Ok(if holds { After(premise) } else { Never(premise) })
    }

    /// Matcher of an event: tools, tests and pairs.
    fn premise(&self, body: &Body) -> Result<Option<Value>, Outside> {
        let Some(event) = &body.event else { return Ok(None) };
        let mut premise = json!({ "tools": [tool(&event.kind, &event.action)], "was": was(&event.kind, self.schema) });
        let pins = self.pins(&event.kind).iter();
        let pins = pins.map(|(member, own)| (member.clone(), Op::Equal, Term::Own(own.clone())));
        let fields = event.fields.iter().map(|(member, term)| (member.clone(), Op::Equal, term.clone()));
        for (member, op, term) in fields.chain(body.tests.iter().cloned()).chain(pins) {
            let (side, member) = side(&self.schema.canonical(&member), premise["was"] == "ok");
            match term {
                Term::Any => {}
                Term::Own(own) if op == Op::Equal => {
                    let mut pair = json!({ "arg": own });
                    pair[if side == "answer" { "answer" } else { "earlier" }] = member.into();
                    pairs(&mut premise).push(pair);
                }
                Term::Literal(literal) => {
                    let (test, holds) = compared(op, &literal)?;
                    if holds {
                        demand(&mut premise[side], &member, test)?;
                        continue;
                    }
                    let own = Own { member: member.clone(), demand: test, holds: true };
                    match &contrary(&own).ok_or("a member that has another value")?[..] {
                        [one] => demand(&mut premise[side], &member, one.clone())?,
                        _ => return Err("a member that has another value"),
                    }
                }
                _ => return Err("a comparison of two calls by more than equality"),
            }
        }
        Ok(Some(premise))
    }

    /// Pins of a kind of event that are not the session of all.
    fn pins(&self, kind: &str) -> &[(String, String)] {
        match self.schema.pins.iter().find(|(name, _)| name == kind) {
            Some((_, pins)) if self.schema.sessions() != pins => pins,
            _ => &[],
        }
    }

    /// `left since right`: the right event is the present one, or the left side holds now and has held since.
    fn since(&self, left: &Formula, within: i64, right: &Formula, holds: bool) -> Result<Condition, Outside> {
        let body = Body::new(right)?;
        let Some(premise) = self.premise(&body)? else { return Err("a moment without an event") };
        let (mut until, mut left_now) = (Vec::new(), Vec::new());
        let parts = match left {
            Formula::And(parts) => &parts[..],
            one => std::slice::from_ref(one),
        };
        for part in parts {
            match part {
                Formula::Not(inner) => {
                    let canceller = Body::new(inner)?;
                    if !canceller.own.is_empty() {
                        return Err("what cancels depends on the present call");
                    }
                    until.push(self.tied(&canceller, &premise)?);
                    left_now.push(self.now(&canceller, !holds)?);
                }
                Formula::Compare(..) => left_now.push(self.condition(part, holds)?),
                _ => {
                    let streak = Body::new(part)?;
                    if !streak.own.is_empty() {
                        return Err("what cancels depends on the present call");
                    }
                    let now = self.now(&streak, holds)?;
                    // Where it does not hold now, nothing else matters.
                    if now != Const(!holds) {
                        until.extend(self.others(&streak)?);
                    }
                    left_now.push(now);
                }
            }
        }
        let until = if until.is_empty() { Value::Null } else { until.into() };
        left_now.push(self.earlier(&body, within, until, 1, holds)?);
        let earlier = if holds { All(left_now) } else { Any(left_now) };
        self.with(&body, earlier, holds)
    }

    /// A formula without a variable that one of its parts gives a value: a comparison, or the present request.
    fn resolved(&self, name: &str, formula: &Formula) -> Formula {
        let parts = match formula {
            Formula::And(parts) => &parts[..],
            one => std::slice::from_ref(one),
        };
        let is_variable = |term: &Term| *term == Term::Variable(name.to_owned());
        let value = parts.iter().enumerate().find_map(|(index, part)| match part {
            Formula::Compare(left, Op::Equal, right) if is_variable(left) || is_variable(right) => {
                let value = if is_variable(left) { right } else { left };
                (!matches!(value, Term::Variable(_))).then(|| (Some(index), value.clone()))
            }
            Formula::Event(event) if event.kind == self.schema.decides && event.action == self.action => {
                let (member, _) = event.fields.iter().find(|(_, term)| is_variable(term))?;
                Some((None, Term::Own(self.schema.canonical(member))))
            }
            _ => None,
        });
        let Some((place, value)) = value else { return formula.clone() };
        let rest = parts.iter().enumerate().filter(|(index, _)| Some(*index) != place);
        Formula::And(rest.map(|(_, part)| replaced(part, name, &value)).collect())
    }

    /// Matcher of calls that cancel, tied to the premise.
    fn tied(&self, canceller: &Body, premise: &Value) -> Result<Value, Outside> {
        let mut until = self.premise(canceller)?.ok_or("a moment without an event")?;
        let own = pairs(&mut until).clone();
        pairs(&mut until).clear();
        for pair in own {
            let of_premise = premise["same"].as_array().into_iter().flatten().find(|other| other["arg"] == pair["arg"]);
            let mut tie = of_premise.ok_or("`until` tied to the present call instead of to its premise")?.clone();
            // Arguments have the members of the answer, too.
            tie["arg"] = pair.get("earlier").or_else(|| pair.get("answer")).unwrap().clone();
            pairs(&mut until).push(tie);
        }
        Ok(until)
    }

    /// Matchers of all calls that are not the event.
    fn others(&self, streak: &Body) -> Result<Vec<Value>, Outside> {
        let premise = self.premise(streak)?.ok_or("a moment without an event")?;
        let mut others = vec![json!({ "tools": premise["tools"], "other": true, "was": "asked" })];
        if premise["same"].as_array().is_some_and(|pairs| !pairs.is_empty()) {
            return Err("nothing came between but calls with a member of the present one");
        }
        for (side, tests) in [("where", &premise["where"]), ("answer", &premise["answer"])] {
            for (member, demands) in tests.as_object().into_iter().flatten() {
                for (name, value) in demands.as_object().unwrap() {
                    let name = ["equals", "min", "max"].into_iter().find(|known| known == name).unwrap();
                    let own = Own { member: member.clone(), demand: (name, value.clone()), holds: true };
                    for (name, value) in contrary(&own).ok_or("nothing came between but calls with one value")? {
                        let mut until = json!({ "tools": premise["tools"], "was": premise["was"] });
                        until[side][member][name] = value;
                        others.push(until);
                    }
                }
            }
        }
        Ok(others)
    }

    /// A count or a sum, compared with a number.
    fn aggregate(&self, aggregate: &Term, op: Op, literal: &Value) -> Result<Condition, Outside> {
        let (binders, inner) = match aggregate {
            Term::Count(binders, inner) | Term::Sum(_, binders, inner) => (binders, &**inner),
            _ => unreachable!(),
        };
        let (within, inner) = windowed(inner);
        let body = Body::new(inner)?;
        let moments = binders.iter().filter(|(_, kind)| kind == "Timepoint").count();
        match (moments, &body.moments[..]) {
            (0, _) => return Err("distinct values"),
            (1, [_]) => {}
            _ => return Err("pairs of moments"),
        }
        if binders.iter().any(|(name, kind)| kind != "Timepoint" && !body.variables.contains_key(name)) {
            return Err("distinct values");
        }
        if !body.own.is_empty() {
            return Err("a count that depends on the present call");
        }
        let limit = literal.as_i64().ok_or("a comparison of other values than integers")?;
        let Term::Sum(summand, ..) = aggregate else { return self.count(&body, within, op, limit) };
        let Some(within) = within else { return Err("a sum within the present moment") };
        let most = match op {
            Op::Less => limit.saturating_sub(1),
            Op::LessOrEqual => limit,
            _ => return Err("a sum of at least or exactly"),
        };
        let member = body.variables.get(summand).ok_or("distinct values")?;
        let Ok(most) = u64::try_from(most) else { return Err("a sum below zero") };
        let mut premise = self.limited(&body, within)?;
        // Sums are of arguments, which have the members of the answer, too.
        premise["was"] = if premise["was"] == "ok" { "done".into() } else { premise["was"].clone() };
        let sum = json!({ "at": self.schema.canonical(member), "limit": most });
        Ok(Max(json!({ "kind": "max", "sum": sum, "premise": premise })))
    }

    fn limited(&self, body: &Body, within: i64) -> Result<Value, Outside> {
        let mut premise = self.premise(body)?.ok_or("a moment without an event")?;
        premise["within_ms"] = (within + 1).into();
        premise["per"] = "session".into();
        Ok(premise)
    }

    /// Number of events in a window, or at the present moment, compared with a number.
    fn count(&self, body: &Body, within: Option<i64>, op: Op, limit: i64) -> Result<Condition, Outside> {
        let earlier = |least: i64, holds: bool| match within {
            _ if least < 1 => Ok(Const(holds)),
            None => Ok(Const(!holds)),
            Some(within) => self.earlier(body, within, Value::Null, least, holds),
        };
        // So many with the present request, or without it.
        let at_least = |least: i64, holds: bool| -> Result<Condition, Outside> {
            if least < 1 {
                return Ok(Const(holds));
            }
            let (now, before) = (self.now(body, holds)?, [earlier(least - 1, holds)?, earlier(least, holds)?]);
            let [fewer, all] = before;
            Ok(match holds {
                true => Any(vec![All(vec![now, fewer]), all]),
                false => All(vec![Any(vec![now, fewer]), all]),
            })
        };
        Ok(match op {
            Op::Greater => at_least(limit + 1, true)?,
            Op::GreaterOrEqual => at_least(limit, true)?,
            Op::Less => at_least(limit, false)?,
            Op::LessOrEqual => at_least(limit + 1, false)?,
            Op::Equal => All(vec![at_least(limit, true)?, at_least(limit + 1, false)?]),
            Op::NotEqual => Any(vec![at_least(limit, false)?, at_least(limit + 1, true)?]),
        })
    }
}

/// Pairs of a matcher.
fn pairs(matcher: &mut Value) -> &mut Vec<Value> {
    let pairs = &mut matcher["same"];
    if pairs.is_null() {
        *pairs = json!([]);
    }
    pairs.as_array_mut().unwrap()
}

/// Outcome of the calls that stand for a kind of event.
fn was(kind: &str, schema: &Schema) -> &'static str {
    match kind {
        kind if kind == schema.decides => "asked",
        "error" => "failed",
        _ => "ok",
    }
}

/// Part of the call that a member of an event is in.
fn side(member: &str, has_answer: bool) -> (&'static str, String) {
    let is_answer = has_answer && member.starts_with("/output/");
    (if is_answer { "answer" } else { "where" }, member.to_owned())
}

/// What is counted, and the window of all of it.
fn windowed(formula: &Formula) -> (Option<i64>, &Formula) {
    match formula {
        Formula::Formerly(within, inner) => (Some(*within), inner),
        Formula::And(parts) if parts.len() == 1 => windowed(&parts[0]),
        other => (None, other),
    }
}
