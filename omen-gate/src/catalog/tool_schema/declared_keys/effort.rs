//! Cost of checking a value, computed in advance.
//!
//! Schemas come from servers, and values from planners or servers; both are untrusted. A schema that applies three
//! times to each level of a value applies 3^29 times to a value with 29 levels, and the validator evaluates all of
//! them. This computation visits each schema once per value and adds up the steps. The sum is an upper bound: it
//! includes all branches and patterns, because it is not yet known which will apply.

use std::collections::HashMap;

use serde_json::Value;

use super::DeclaredKeys;
use super::node::{Id, MatchComplexity, SchemaNode};

/// Cost of checking a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::catalog::tool_schema) struct Effort {
    /// Number of steps to decide whether the value is valid.
    pub(in crate::catalog::tool_schema) valid: u64,
    /// Number of steps to report all violations, including unnamed keys.
    pub(in crate::catalog::tool_schema) reported: u64,
    /// Number of steps to determine the evaluated members and elements.
    evaluated: u64,
    /// Depth of nested schema applications.
    pub(in crate::catalog::tool_schema) depth: usize,
}

/// Reason why a value is not checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::catalog::tool_schema) enum Beyond {
    Steps,
    Depth,
}

/// Subject to which schemas apply.
#[derive(Clone, Copy)]
enum Subject<'v> {
    Value(&'v Value),
    /// Key of an object.
    Key(&'v str),
}

impl DeclaredKeys {
    /// Counts the steps of checking a value.
    ///
    /// # Errors
    /// If deciding validity takes more than `most` steps, or schema applications nest deeper than `deepest`.
    pub(in crate::catalog::tool_schema) fn effort(
        &self,
        value: &Value,
        most: u64,
        deepest: usize,
    ) -> Result<Effort, Beyond> {
        let mut count = Count { names: self, counted: HashMap::new(), left: most, most, goes_back: false };
        let mut effort = count.effort_of(0, Subject::Value(value), deepest)?;
        if count.goes_back {
            effort.valid = effort.valid.saturating_mul(RUNS);
            effort.reported = effort.reported.saturating_mul(RUNS);
        }
        if effort.valid > most { Err(Beyond::Steps) } else { Ok(effort) }
    }
}

struct Count<'n> {
    names: &'n DeclaredKeys,
    /// Results by schema and by the address of the value, which does not move.
    counted: HashMap<(Id, usize), Effort>,
    /// Remaining applications to count; each is at least one step.
    left: u64,
    most: u64,
    /// Whether a match may exceed the backtracking limit.
    goes_back: bool,
}

impl Count<'_> {
    fn effort_of(&mut self, id: Id, subject: Subject<'_>, room: usize) -> Result<Effort, Beyond> {
        let Some(node) = self.names.nodes.get(id) else { return Ok(Effort::default()) };
        self.left = self.left.checked_sub(1).ok_or(Beyond::Steps)?;
        let key = match subject {
            Subject::Value(value @ (Value::Array(_) | Value::Object(_))) => {
                Some((id, std::ptr::from_ref(value).addr()))
            }
            // Scalars and keys contain nothing, and applications to a single value are already bounded.
            Subject::Value(_) | Subject::Key(_) => None,
        };
        if let Some(known) = key.and_then(|key| self.counted.get(&key)) {
            return if known.depth > room { Err(Beyond::Depth) } else { Ok(*known) };
        }
        let room = room.checked_sub(1).ok_or(Beyond::Depth)?;
        let mut sum = self.own(node, subject);
        for same in node.same_value() {
            let effort = self.effort_of(same, subject, room)?;
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
        // Each level reports the violations again.
        sum.reported = sum.reported.saturating_add(sum.valid);
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

    /// Returns the cost of a schema without the schemas that it leads to.
    fn own(&mut self, node: &SchemaNode, subject: Subject<'_>) -> Effort {
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
        Effort { valid: steps, reported: 0, evaluated: steps, depth: 0 }
    }

    fn matching(&mut self, pattern: MatchComplexity, text: &str) -> u64 {
        let scan = u64::try_from(text.len() / SCANNED).unwrap_or(u64::MAX).saturating_add(1);
        match pattern {
            MatchComplexity::Linear => scan,
            MatchComplexity::GoesBack => {
                self.goes_back = true;
                scan.saturating_add(GOING_BACK)
            }
        }
    }

    fn member(
        &mut self,
        node: &SchemaNode,
        key: &str,
        value: &Value,
        room: usize,
        sum: &mut Effort,
    ) -> Result<(), Beyond> {
        let subject = Subject::Value(value);
        if let Some(id) = node.silent.keys {
            sum.add(self.effort_of(id, Subject::Key(key), room)?);
        }
        for (_, pattern, id) in &node.patterns {
            let steps = self.matching(*pattern, key);
            sum.valid = sum.valid.saturating_add(steps);
            sum.evaluated = sum.evaluated.saturating_add(steps);
            sum.add(self.effort_of(*id, subject, room)?);
        }
        if let Some(id) = node.properties.get(key) {
            return self.effort_of(*id, subject, room).map(|effort| sum.add(effort));
        }
        if let Some(rest) = node.additional {
            sum.add(self.effort_of(rest.id, subject, room)?);
        }
        if let Some(rest) = node.unevaluated {
            let effort = self.effort_of(rest.id, subject, room)?;
            sum.add(effort);
            sum.evaluated = sum.evaluated.saturating_add(effort.valid);
        }
        Ok(())
    }

    fn element(
        &mut self,
        node: &SchemaNode,
        index: usize,
        item: &Value,
        room: usize,
        sum: &mut Effort,
    ) -> Result<(), Beyond> {
        let plain = node.first.get(index).copied().or(node.others);
        for id in plain.into_iter().chain(node.contains.map(|test| test.id)).chain(node.silent.elements.iter().copied())
        {
            let effort = self.effort_of(id, Subject::Value(item), room)?;
            sum.add(effort);
            sum.evaluated = sum.evaluated.saturating_add(effort.valid);
        }
        Ok(())
    }
}

impl Effort {
    fn add(&mut self, part: Self) {
        self.valid = self.valid.saturating_add(part.valid);
        self.reported = self.reported.saturating_add(part.reported);
        self.depth = self.depth.max(part.depth);
    }
}

/// Maximum number of cached results. Without caching, counting still stops at the bound.
const MOST_KEPT: usize = 1 << 18;
/// Bytes of a schema or text that one step covers.
const BYTES: usize = 64;
/// Bytes of a text that a match scans per step.
const SCANNED: usize = 16;
/// Factor for a match that may backtrack, up to its limit.
const GOING_BACK: u64 = 64;
/// Number of validator reruns after a match exceeds its limit, for each outcome of the match.
const RUNS: u64 = 64;
