//! Conditions of an action as clauses, and each clause as a rule.

use serde_json::{Value, json};

use super::language::{Op, Outside};

/// What is asked of the calls of one tool.
#[derive(Clone, Debug, Default)]
pub(super) struct Entry {
    /// Order rules.
    pub(super) rules: Vec<Value>,
    /// Clauses about the call alone; of each, one test has to hold.
    pub(super) own: Vec<Vec<Own>>,
}

/// Test of a member of the call itself.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Own {
    pub(super) member: String,
    pub(super) demand: Demand,
    pub(super) holds: bool,
}

/// Condition of an action.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Condition {
    Const(bool),
    Own(Own),
    After(Value),
    Never(Value),
    Max(Value),
    All(Vec<Condition>),
    Any(Vec<Condition>),
}

use Condition::{After, All, Any, Const, Max, Never};

/// Largest number of clauses.
const MAX_CLAUSES: usize = 256;

/// Conjunction of clauses, each a disjunction.
pub(super) fn clauses(condition: &Condition) -> Result<Vec<Vec<Condition>>, Outside> {
    let all = match condition {
        Const(true) => vec![],
        Const(false) => vec![vec![]],
        All(parts) => {
            let mut all = Vec::new();
            for part in parts {
                all.extend(clauses(part)?);
            }
            all
        }
        Any(parts) => {
            let mut all = vec![vec![]];
            for part in parts {
                let part = clauses(part)?;
                let joined = all.iter().flat_map(|left| part.iter().map(move |right| [&left[..], right].concat()));
                all = joined.collect();
                if all.len() > MAX_CLAUSES {
                    return Err("too many alternatives");
                }
            }
            all
        }
        literal => vec![vec![literal.clone()]],
    };
    let mut unique: Vec<Vec<Condition>> = Vec::new();
    for mut clause in all {
        let mut index = 0;
        while index < clause.len() {
            if clause[..index].contains(&clause[index]) { drop(clause.remove(index)) } else { index += 1 }
        }
        if !unique.contains(&clause) && !is_always(&clause) {
            unique.push(clause);
        }
    }
    Ok(unique)
}

/// Whether a clause has a test and its contrary, or a premise and the ban of the same calls.
fn is_always(clause: &[Condition]) -> bool {
    clause.iter().any(|one| match one {
        Condition::Own(own) => clause.contains(&Condition::Own(Own { holds: !own.holds, ..own.clone() })),
        After(premise) => clause.contains(&Never(premise.clone())),
        _ => false,
    })
}

/// Makes a rule of a clause.
pub(super) fn rule(clause: Vec<Condition>, entry: &mut Entry) -> Result<(), Outside> {
    let (mut own, mut order) = (Vec::new(), Vec::new());
    for part in clause {
        match part {
            Condition::Own(test) => own.push(test),
            part => order.push(part),
        }
    }
    let mut rule = match &order[..] {
        [] => {
            entry.own.push(own);
            return Ok(());
        }
        [Never(premise)] => json!({ "kind": "never_after", "premise": premise }),
        [Max(rule)] => rule.clone(),
        _ if order.iter().all(|part| matches!(part, After(_))) => {
            let any: Vec<_> = order
                .iter()
                .filter_map(|part| match part {
                    After(premise) => Some(premise),
                    _ => None,
                })
                .collect();
            json!({ "kind": "after", "any": any })
        }
        _ => return Err("not both of two: a ban that something else lifts"),
    };
    // The rule concerns the calls for which no test of the clause holds.
    let mut conditions = vec![Value::Null];
    for test in own {
        let mut joined = Vec::new();
        for contrary in contrary(&test).ok_or("a condition that a member has another value")? {
            for condition in &conditions {
                let mut condition = condition.clone();
                demand(&mut condition, &test.member, contrary.clone())?;
                joined.push(condition);
            }
        }
        conditions = joined;
    }
    for condition in conditions {
        if !condition.is_null() {
            rule["if"] = condition;
        }
        entry.rules.push(rule.clone());
    }
    Ok(())
}

/// Adds a demand to a table of tests.
pub(super) fn demand(table: &mut Value, member: &str, (name, value): (&'static str, Value)) -> Result<(), Outside> {
    if table.is_null() {
        *table = json!({});
    }
    let slot = &mut table[member][name];
    if slot.is_null() || *slot == value {
        *slot = value;
        return Ok(());
    }
    let (old, new) = (slot.as_i64(), value.as_i64());
    *slot = match name {
        "min" => old.max(new).into(),
        "max" => old.min(new).into(),
        _ => return Err("two values of one member"),
    };
    Ok(())
}

/// What holds if a test does not: one of these.
pub(super) fn contrary(test: &Own) -> Option<Vec<Demand>> {
    let (name, value) = &test.demand;
    if !test.holds {
        return Some(vec![(name, value.clone())]);
    }
    let next = |step: i64| value.as_i64()?.checked_add(step).map(Value::from);
    Some(match *name {
        "min" => vec![("max", next(-1)?)],
        "max" => vec![("min", next(1)?)],
        _ if value.is_i64() => vec![("max", next(-1)?), ("min", next(1)?)],
        _ => vec![("equals", (!value.as_bool()?).into())],
    })
}

/// Test of one member: `equals`, `min` or `max`, and its value.
pub(super) type Demand = (&'static str, Value);

/// Demands that a comparison with a literal comes to; all have to hold, or their contrary.
pub(super) fn compared(op: Op, literal: &Value) -> Result<(Demand, bool), Outside> {
    let next = |step: i64| {
        let number = literal.as_i64().ok_or("a comparison of other values than integers")?;
        Ok::<_, Outside>(Value::from(number.saturating_add(step)))
    };
    Ok(match op {
        Op::Equal => (("equals", literal.clone()), true),
        Op::NotEqual => (("equals", literal.clone()), false),
        Op::Less => (("max", next(-1)?), true),
        Op::LessOrEqual => (("max", next(0)?), true),
        Op::Greater => (("min", next(1)?), true),
        Op::GreaterOrEqual => (("min", next(0)?), true),
    })
}
