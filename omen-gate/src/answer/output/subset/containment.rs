//! Containment check by keyword.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::containment_error::{ContainmentError, ContainmentFailure, refused, undecided};
use super::promise::{PartPromise, Promise, Types};
use super::references::References;
use crate::base::bounded;
use crate::base::json::below;
use crate::catalog::tool_schema::{Schema, annotates};

/// Checker of one document's promises against another document's schemas.
pub(super) struct ContainmentCheck<'v> {
    pub(super) promised: References<'v>,
    derived: References<'v>,
    /// Comparisons in progress or finished, so that a recursive schema is compared only once.
    seen: BTreeSet<(Vec<usize>, Types, usize)>,
    steps: usize,
}

impl<'v> ContainmentCheck<'v> {
    pub(super) fn new(promised: &'v Value, derived: &'v Value) -> Self {
        let (promised, derived) = (References::new(promised), References::new(derived));
        Self { promised, derived, seen: BTreeSet::new(), steps: MOST_STEPS }
    }

    /// Checks that every promised value is valid against a schema.
    pub(super) fn takes(&mut self, promise: &Promise<'v>, schema: &'v Value, at: &str) -> Result<(), ContainmentError> {
        let together = promise.together.iter().map(|schema| std::ptr::from_ref::<Value>(schema).addr()).collect();
        let key = (together, promise.types, std::ptr::from_ref(schema).addr());
        if promise.types.is_none() || self.seen.contains(&key) {
            return Ok(());
        }
        self.seen.insert(key.clone());
        let all = self.derived.together(schema).map_err(|unfit| ContainmentError { at: at.to_owned(), ..unfit })?;
        let judged = all.into_iter().try_for_each(|schema| self.takes_one(promise, schema, at));
        if judged.is_err() {
            // Results that assumed this comparison to hold are void.
            self.seen.clear();
        }
        judged
    }

    /// Checks one of the schemas that apply together; references and `allOf` are already resolved.
    fn takes_one(&mut self, promise: &Promise<'v>, schema: &'v Value, at: &str) -> Result<(), ContainmentError> {
        let Some(steps) = self.steps.checked_sub(1) else { return undecided(at, "the schemas are too large") };
        self.steps = steps;
        let members = match schema {
            Value::Object(members) => members,
            Value::Bool(false) => return refused(at, "is promised, but the type accepts no value there"),
            _ => return Ok(()),
        };
        if let Some(values) = promise.values() {
            let values: Vec<_> = values.into_iter().filter(|value| promise.may_be(value)).collect();
            return self.takes_values(&values, members, at);
        }
        let direct = self.takes_all(promise, schema, members, at);
        // A case analysis may prove what cannot be proven for the promise as a whole.
        match direct {
            Err(why) => match self.parts(promise, at)? {
                Some(parts) => parts.iter().try_for_each(|part| self.takes_one(part, schema, at)),
                None => Err(why),
            },
            ok => ok,
        }
    }

    /// Checks each listed value by validating it.
    fn takes_values(&self, values: &[&Value], schema: &Map<String, Value>, at: &str) -> Result<(), ContainmentError> {
        let mut schema = schema.clone();
        // `takes_one` receives these schemas separately.
        schema.remove("allOf");
        schema.remove("$ref");
        if !schema.values().chain(self.derived.root.get("$defs")).all(refers_to_definitions) {
            return undecided(at, "the type's schema refers to itself as a whole");
        }
        if let Some(defs) = self.derived.root.get("$defs") {
            schema.insert("$defs".to_owned(), defs.clone());
        }
        let schema = match Schema::compile(&schema) {
            Ok(schema) => schema,
            Err(why) => return undecided(at, why),
        };
        match values.iter().find(|value| !schema.accepts(value)) {
            Some(value) => {
                refused(at, format!("may be `{}`, which the type does not accept", bounded(&value.to_string())))
            }
            None => Ok(()),
        }
    }

    /// Splits a promise into cases: the branches of a union, otherwise the types.
    fn parts(&self, promise: &Promise<'v>, at: &str) -> Result<Option<Vec<Promise<'v>>>, ContainmentError> {
        for key in ["anyOf", "oneOf"] {
            let union = promise.together.iter().position(|schema| schema.get(key).is_some_and(Value::is_array));
            let Some(position) = union else { continue };
            let mut rest = promise.clone();
            let schema = rest.together.swap_remove(position);
            let branches = schema.get(key).and_then(Value::as_array).into_iter().flatten();
            let parts = branches.map(|branch| rest.and(branch, &self.promised)).collect::<Result<Vec<_>, _>>();
            return parts.map(Some).map_err(|unfit| ContainmentError { at: at.to_owned(), ..unfit });
        }
        let types: Vec<_> = promise.types.each().collect();
        if types.len() < 2 {
            return Ok(None);
        }
        Ok(Some(types.into_iter().map(|types| Promise { types, ..promise.clone() }).collect()))
    }

    fn takes_all(
        &mut self,
        promise: &Promise<'v>,
        whole: &'v Value,
        schema: &'v Map<String, Value>,
        at: &str,
    ) -> Result<(), ContainmentError> {
        let missing = promise.types.without(Types::from_schema(whole));
        if !missing.is_none() {
            return refused(at, format!("may be {}, which the type does not accept", missing.words()));
        }
        for (key, value) in schema {
            let about = |types: Types| !promise.types.and(types).is_none();
            match key.as_str() {
                "type" | "$ref" | "allOf" => {}
                key if annotates(key) => {}
                "enum" | "const" => return refused(at, "may have values that the type does not accept"),
                "anyOf" | "oneOf" => self.takes_union(promise, value, key == "oneOf", at)?,
                "properties" | "required" | "additionalProperties" if !about(Types::OBJECT) => {}
                "properties" => self.takes_members(promise, value, at)?,
                "required" => required(promise, value, at)?,
                "additionalProperties" => self.takes_others(promise, value, schema, at)?,
                "items" | "prefixItems" if !about(Types::ARRAY) => {}
                "items" | "prefixItems" => self.takes_elements(promise, schema, at)?,
                // Number formats are those of Rust types; only the bounds next to them matter.
                "format" if !about(Types::STRING) => {}
                "multipleOf" if *value == 1 && promise.types.and(Types::NUMBER).words() == "integer" => {}
                key => bound(promise, key, value, at)?,
            }
        }
        Ok(())
    }

    fn takes_union(
        &mut self,
        promise: &Promise<'v>,
        union: &'v Value,
        one: bool,
        at: &str,
    ) -> Result<(), ContainmentError> {
        let branches = union.as_array().map_or(&[][..], Vec::as_slice);
        let mut why = None;
        for (index, branch) in branches.iter().enumerate() {
            match self.takes(promise, branch, at) {
                Ok(()) if !one => return Ok(()),
                Ok(()) => {
                    let others = branches.iter().enumerate().filter(|(other, _)| *other != index);
                    let mut apart = true;
                    for (_, other) in others {
                        apart = apart && self.apart(promise, other)?;
                    }
                    return if apart { Ok(()) } else { undecided(at, "it may match several branches of a `oneOf`") };
                }
                Err(unfit) => why = Some(unfit),
            }
        }
        match why {
            Some(unfit) if branches.len() == 1 => Err(unfit),
            Some(ContainmentError { why: why @ ContainmentFailure::Undecided(_), at }) => {
                Err(ContainmentError { at, why })
            }
            _ => refused(at, "matches no variant of the type"),
        }
    }

    /// Returns whether no promised value can be valid against a schema, judged by type or by a distinguishing member.
    fn apart(&self, promise: &Promise<'v>, schema: &'v Value) -> Result<bool, ContainmentError> {
        let other = Promise::new(schema, &self.derived)?;
        if promise.types.and(other.types).is_none() {
            return Ok(true);
        }
        if promise.types != Types::OBJECT {
            return Ok(false);
        }
        for key in promise.keys().filter(|key| promise.requires(key)) {
            let (PartPromise::Is(ours), PartPromise::Is(theirs)) =
                (promise.member(key, &self.promised)?, other.member(key, &self.derived)?)
            else {
                return Ok(true);
            };
            if let (Some(ours), Some(theirs)) = (ours.values(), theirs.values())
                && !ours.iter().any(|value| theirs.contains(value))
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn takes_members(&mut self, promise: &Promise<'v>, members: &'v Value, at: &str) -> Result<(), ContainmentError> {
        for (key, schema) in members.as_object().into_iter().flatten() {
            if let PartPromise::Is(member) = promise.member(key, &self.promised)? {
                self.takes(&member, schema, &below(at, key))?;
            }
        }
        Ok(())
    }

    fn takes_others(
        &mut self,
        promise: &Promise<'v>,
        rest: &'v Value,
        schema: &Map<String, Value>,
        at: &str,
    ) -> Result<(), ContainmentError> {
        if schema.contains_key("patternProperties") {
            return undecided(at, "`patternProperties` is not compared");
        }
        let known = schema.get("properties").and_then(Value::as_object);
        for key in promise.keys().filter(|key| !known.is_some_and(|known| known.contains_key(*key))) {
            if let PartPromise::Is(member) = promise.member(key, &self.promised)? {
                self.takes(&member, rest, &below(at, key))?;
            }
        }
        match promise.others(&self.promised)? {
            PartPromise::Never => Ok(()),
            PartPromise::Is(_) if *rest == Value::Bool(false) => {
                refused(at, "may have additional members, which the type does not accept")
            }
            PartPromise::Is(others) => self.takes(&others, rest, &below(at, "*")),
        }
    }

    fn takes_elements(
        &mut self,
        promise: &Promise<'v>,
        schema: &'v Map<String, Value>,
        at: &str,
    ) -> Result<(), ContainmentError> {
        let first = schema.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let rest = schema.get("items");
        for index in 0..first.len().max(promise.first(&self.promised)) {
            if let Some(schema) = first.get(index).or(rest)
                && let PartPromise::Is(element) = promise.element(index, &self.promised)?
                && promise.at_most(&["maxItems"]).is_none_or(|most| most > index as f64)
            {
                self.takes(&element, schema, &format!("{at}/{index}"))?;
            }
        }
        let most = first.len().max(promise.first(&self.promised));
        if let Some(schema) = rest
            && let PartPromise::Is(elements) = promise.elements(&self.promised)?
            && promise.at_most(&["maxItems"]).is_none_or(|at_most| at_most > most as f64)
        {
            self.takes(&elements, schema, &below(at, "*"))?;
        }
        Ok(())
    }
}

/// Returns whether all references point to definitions and therefore keep their meaning in another document with the
/// same definitions.
fn refers_to_definitions(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().all(refers_to_definitions),
        Value::Object(members) => members.iter().all(|(key, value)| match value {
            Value::String(reference) if key == "$ref" => reference.starts_with("#/$defs/"),
            value => refers_to_definitions(value),
        }),
        _ => true,
    }
}

fn required(promise: &Promise<'_>, keys: &Value, at: &str) -> Result<(), ContainmentError> {
    match keys.as_array().into_iter().flatten().filter_map(Value::as_str).find(|key| !promise.requires(key)) {
        Some(key) => refused(at, format!("may lack `{}`, which the type requires", bounded(key))),
        None => Ok(()),
    }
}

/// Checks keywords that bound a value, and refuses unknown keywords.
fn bound(promise: &Promise<'_>, key: &str, value: &Value, at: &str) -> Result<(), ContainmentError> {
    let about = |types: Types| !promise.types.and(types).is_none();
    let (types, holds) = match (key, value.as_f64()) {
        ("minimum", Some(least)) => (
            Types::NUMBER,
            promise.at_least(&["minimum", "exclusiveMinimum"]).is_some_and(|promised| promised >= least),
        ),
        ("maximum", Some(most)) => {
            (Types::NUMBER, promise.at_most(&["maximum", "exclusiveMaximum"]).is_some_and(|promised| promised <= most))
        }
        ("exclusiveMinimum", Some(least)) => {
            let above = promise.at_least(&["minimum"]).is_some_and(|promised| promised > least);
            (Types::NUMBER, above || promise.at_least(&[key]).is_some_and(|promised| promised >= least))
        }
        ("exclusiveMaximum", Some(most)) => {
            let beneath = promise.at_most(&["maximum"]).is_some_and(|promised| promised < most);
            (Types::NUMBER, beneath || promise.at_most(&[key]).is_some_and(|promised| promised <= most))
        }
        ("minLength", Some(least)) => (Types::STRING, promise.at_least(&[key]).is_some_and(|got| got >= least)),
        ("maxLength", Some(most)) => (Types::STRING, promise.at_most(&[key]).is_some_and(|got| got <= most)),
        ("minItems", Some(least)) => (Types::ARRAY, promise.at_least(&[key]).is_some_and(|got| got >= least)),
        ("maxItems", Some(most)) => (Types::ARRAY, promise.at_most(&[key]).is_some_and(|got| got <= most)),
        ("minProperties", Some(least)) => (Types::OBJECT, promise.at_least(&[key]).is_some_and(|got| got >= least)),
        ("maxProperties", Some(most)) => (Types::OBJECT, promise.at_most(&[key]).is_some_and(|got| got <= most)),
        ("multipleOf", _) => (Types::NUMBER, promise.has(key, value)),
        ("pattern" | "format", _) => (Types::STRING, promise.has(key, value)),
        ("uniqueItems", _) => (Types::ARRAY, *value == Value::Bool(false) || promise.has(key, value)),
        _ => return undecided(at, format!("`{}` is not compared", bounded(key))),
    };
    if holds || !about(types) {
        Ok(())
    } else {
        refused(at, format!("is not bound by `{key}` {}", bounded(&value.to_string())))
    }
}

/// Maximum number of comparisons in one check.
const MOST_STEPS: usize = 10_000;
