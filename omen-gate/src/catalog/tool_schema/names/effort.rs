//! How many steps it takes to judge a value, counted before anything is judged.
//!
//! A tool's schema comes from its server, and a value from a planner or the same server. A schema that applies
//! three times to each level of a value applies 3^29 times to one of 29 levels, and the validator goes through all of them.
//! Here each schema is visited once for each value, and the steps are summed up. They are never fewer than those that are
//! taken; for branches and patterns, of which nobody knows yet which will apply, all are counted.

use std::collections::HashMap;

use serde_json::Value;

use super::Names;
use super::node::{Id, Node, Pattern};

/// What it takes to judge a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::catalog::tool_schema) struct Effort {
    /// Steps to say whether it is valid.
    pub(in crate::catalog::tool_schema) valid: u64,
    /// Steps to say all that is wrong with it, and which keys are not named.
    pub(in crate::catalog::tool_schema) told: u64,
    /// Steps to say what of it is evaluated.
    evaluated: u64,
    /// How many schemas lead on to each other.
    pub(in crate::catalog::tool_schema) depth: usize,
}

/// What is not judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::catalog::tool_schema) enum Beyond {
    Steps,
    Depth,
}

/// What schemas apply to.
#[derive(Clone, Copy)]
enum Subject<'v> {
    Value(&'v Value),
    /// A key of an object.
    Key(&'v str),
}

impl Names {
    /// Counts the steps.
    ///
    /// # Errors
    /// If there are more than `most` to say whether the value is valid, or schemas lead on to each other more than
    /// `deepest` times.
    pub(in crate::catalog::tool_schema) fn effort(
        &self,
        value: &Value,
        most: u64,
        deepest: usize,
    ) -> Result<Effort, Beyond> {
        let mut count = Count { names: self, counted: HashMap::new(), left: most, most, goes_back: false };
        let mut effort = count.of(0, Subject::Value(value), deepest)?;
        if count.goes_back {
            effort.valid = effort.valid.saturating_mul(RUNS);
            effort.told = effort.told.saturating_mul(RUNS);
        }
        if effort.valid > most { Err(Beyond::Steps) } else { Ok(effort) }
    }
}

struct Count<'n> {
    names: &'n Names,
    /// By schema and by the address of the value, which stays where it is.
    counted: HashMap<(Id, usize), Effort>,
    /// How many more applications are counted: each is at least one step.
    left: u64,
    most: u64,
    /// Whether there is a match that could go back too often.
    goes_back: bool,
}

impl Count<'_> {
    fn of(&mut self, id: Id, subject: Subject<'_>, room: usize) -> Result<Effort, Beyond> {
        let Some(node) = self.names.nodes.get(id) else { return Ok(Effort::default()) };
        self.left = self.left.checked_sub(1).ok_or(Beyond::Steps)?;
        let key = match subject {
            Subject::Value(value @ (Value::Array(_) | Value::Object(_))) => {
                Some((id, std::ptr::from_ref(value).addr()))
            }
            // These have nothing in them, and how often schemas apply to one value is bounded already.
            Subject::Value(_) | Subject::Key(_) => None,
        };
        if let Some(known) = key.and_then(|key| self.counted.get(&key)) {
            return if known.depth > room { Err(Beyond::Depth) } else { Ok(*known) };
        }
        let room = room.checked_sub(1).ok_or(Beyond::Depth)?;
        let mut sum = self.own(node, subject);
        for same in node.same_value() {
            let effort = self.of(same, subject, room)?;
            sum.add(effort);
            sum.evaluated = sum.evaluated.saturating_add(effort.evaluated).saturating_add(effort.valid);
        }
        match subject {
            Subject::Value(Value::Object(members)) if node.looks_at_members() => {
                for (key, value) in members {
                    self.member(node, key, value, room, &mut sum)?;
                }
            }
            Subject::Value(Value::Array(items)) if node.looks_at_elements() => {
                for (index, item) in items.iter().enumerate() {
                    self.element(node, index, item, room, &mut sum)?;
                }
            }
            _ => {}
        }
        if node.weight.unevaluated {
            sum.valid = sum.valid.saturating_add(sum.evaluated);
        }
        // What is wrong is said anew on each level.
        sum.told = sum.told.saturating_add(sum.valid);
        sum.depth = sum.depth.saturating_add(1);
        if sum.valid > self.most {
            return Err(Beyond::Steps);
        }
        if let Some(key) = key
            && self.counted.len() < MOST_KEPT
        {
            self.counted.insert(key, sum);
        }
        Ok(sum)
    }

    /// What a schema takes without those that it leads to.
    fn own(&mut self, node: &Node, subject: Subject<'_>) -> Effort {
        let parts = match subject {
            Subject::Value(Value::Object(members)) if node.looks_at_members() => members.len(),
            Subject::Value(Value::Array(items)) if node.looks_at_elements() => items.len(),
            _ => 0,
        };
        let text = match subject {
            Subject::Value(Value::String(text)) => Some(text.as_str()),
            Subject::Value(_) => None,
            Subject::Key(key) => Some(key),
        };
        let matches = match (text, node.weight.pattern) {
            (Some(text), Some(pattern)) => self.matching(pattern, text),
            _ => 0,
        };
        let steps = [1, node.weight.demands / BYTES, parts, text.map_or(0, str::len) / BYTES]
            .into_iter()
            .map(|steps| u64::try_from(steps).unwrap_or(u64::MAX))
            .fold(matches, u64::saturating_add);
        Effort { valid: steps, told: 0, evaluated: steps, depth: 0 }
    }

    fn matching(&mut self, pattern: Pattern, text: &str) -> u64 {
        let scan = u64::try_from(text.len() / SCANNED).unwrap_or(u64::MAX).saturating_add(1);
        match pattern {
            Pattern::Linear => scan,
            Pattern::GoesBack => {
                self.goes_back = true;
                scan.saturating_add(GOING_BACK)
            }
        }
    }

    fn member(&mut self, node: &Node, key: &str, value: &Value, room: usize, sum: &mut Effort) -> Result<(), Beyond> {
        let subject = Subject::Value(value);
        if let Some(id) = node.silent.keys {
            sum.add(self.of(id, Subject::Key(key), room)?);
        }
        for (_, pattern, id) in &node.patterns {
            let steps = self.matching(*pattern, key);
            sum.valid = sum.valid.saturating_add(steps);
            sum.evaluated = sum.evaluated.saturating_add(steps);
            sum.add(self.of(*id, subject, room)?);
        }
        if let Some(id) = node.properties.get(key) {
            return self.of(*id, subject, room).map(|effort| sum.add(effort));
        }
        if let Some(rest) = node.additional {
            sum.add(self.of(rest.id, subject, room)?);
        }
        if let Some(rest) = node.unevaluated {
            let effort = self.of(rest.id, subject, room)?;
            sum.add(effort);
            sum.evaluated = sum.evaluated.saturating_add(effort.valid);
        }
        Ok(())
    }

    fn element(
        &mut self,
        node: &Node,
        index: usize,
        item: &Value,
        room: usize,
        sum: &mut Effort,
    ) -> Result<(), Beyond> {
        let plain = node.first.get(index).copied().or(node.others);
        for id in plain.into_iter().chain(node.contains.map(|test| test.id)).chain(node.silent.elements.iter().copied())
        {
            let effort = self.of(id, Subject::Value(item), room)?;
            sum.add(effort);
            sum.evaluated = sum.evaluated.saturating_add(effort.valid);
        }
        Ok(())
    }
}

impl Effort {
    fn add(&mut self, part: Self) {
        self.valid = self.valid.saturating_add(part.valid);
        self.told = self.told.saturating_add(part.told);
        self.depth = self.depth.max(part.depth);
    }
}

/// How many counts are kept, so as not to count again; what is counted twice ends at the bound, too.
const MOST_KEPT: usize = 1 << 18;
/// How many bytes of a schema, or of a text, one step covers.
const BYTES: usize = 64;
/// How many bytes of a text a match gets through in one step.
const SCANNED: usize = 16;
/// What a match takes that may go back, as often as a match may.
const GOING_BACK: u64 = 64;
/// How often the validator judges anew where a match has gone back too often: for each of its outcomes.
const RUNS: u64 = 64;
