//! Sample values for testing rules: for each combination of results that a value can have, some values with that combination.

mod arrays;
mod commands;
mod product;
mod texts;
mod values;

use std::collections::BTreeSet;

use omen_order::Fit;
use serde_json::Value;

use super::number::is_exact;
use super::pointer::PointerStep;
use super::rule::Rule;
use super::rules::ArgumentRules;
use super::rules_test::RulesTest;
use values::{around, candidates, result};

impl ArgumentRules {
    /// Pointers of the values of which there are samples: those of the rules, up to a `*`.
    ///
    /// # Errors
    /// If the values cannot be sampled, with the reason.
    pub(crate) fn sampled(&self) -> Result<Vec<&str>, String> {
        let pointers = self.places().into_iter().map(|place| {
            let arrays = place.steps().iter().filter(|step| **step == PointerStep::Each).count();
            if arrays > 1 { Err(format!("`{place}` passes through several arrays")) } else { Ok(place.above_each()) }
        });
        pointers.collect()
    }

    fn at<'r>(&'r self, pointer: &'r str) -> impl Iterator<Item = &'r Rule> {
        self.all().iter().filter(move |rule| rule.place.above_each() == pointer)
    }
}

/// Classes of values at places that are compared with each other: each rule of the places takes all values of a class
/// alike. A class has `distinct` values, or all that there are. If integers are wanted, those from 0 on have classes of their own, in
/// which the wanted ones come first, the largest one and the smallest one.
///
/// # Errors
/// Why they cannot be represented.
pub(crate) fn samples(
    places: &[(&str, &RulesTest)],
    distinct: usize,
    wanted: &[i64],
) -> Result<Vec<Vec<Option<Value>>>, String> {
    let rules = places.iter().copied();
    let rules: Vec<_> =
        rules.flat_map(|(pointer, test)| test.rules().at(pointer).map(|rule| (rule, test.folder()))).collect();
    let mut known = BTreeSet::new();
    let mut classes: Vec<(Vec<Fit>, u8, Vec<Option<Value>>)> = Vec::new();
    let (of_value, of_elements): (Vec<_>, Vec<_>) =
        rules.iter().copied().partition(|(rule, _)| rule.place.below_each().is_empty());
    let lengths = around(&of_value)?;
    let listed = of_value.iter().flat_map(|(rule, _)| &rule.tests).filter(|test| test.is_list()).count();
    let arrays = arrays::arrays(&of_elements, &lengths, listed + 1)?;
    let amounts = wanted.iter().filter(|number| is_exact(**number)).map(|number| Some(Value::from(*number)));
    let values = candidates(&of_value, distinct)?.into_iter().chain(arrays.into_iter().map(Some)).chain(amounts);
    let amount = |value: &Option<Value>| {
        value.as_ref().and_then(Value::as_i64).filter(|number| *number >= 0 && is_exact(*number))
    };
    for value in values {
        if !known.insert(value.as_ref().map(ToString::to_string)) {
            continue;
        }
        let results: Vec<_> = rules.iter().map(|(rule, folder)| result(rule, value.as_ref(), folder)).collect();
        let kind = match &value {
            None => 0,
            Some(_) if !wanted.is_empty() && amount(&value).is_some() => 3,
            Some(Value::String(_) | Value::Bool(_)) => 1,
            Some(Value::Number(number)) if number.as_i64().is_some_and(is_exact) => 1,
            Some(_) => 2,
        };
        match classes.iter_mut().find(|class| class.0 == results && class.1 == kind) {
            Some((_, kind, class)) if class.len() < distinct || *kind == 3 => class.push(value),
            Some(_) => {}
            None => classes.push((results, kind, vec![value])),
        }
    }
    for (.., class) in classes.iter_mut().filter(|(_, kind, _)| *kind == 3) {
        let numbers: BTreeSet<_> = class.iter().filter_map(amount).collect();
        let ends = numbers.last().into_iter().chain(numbers.first());
        let first = wanted.iter().filter(|number| numbers.contains(number)).chain(ends).copied();
        let mut known = BTreeSet::new();
        let ordered = first.chain(numbers.iter().copied()).filter(|number| known.insert(*number));
        *class = ordered.take(distinct.max(wanted.len() + 2)).map(|number| Some(number.into())).collect();
    }
    Ok(classes.into_iter().map(|(.., class)| class).collect())
}
