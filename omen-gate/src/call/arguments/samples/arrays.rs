//! Arrays that represent all others in rules on their elements, such as `/items/*/price`.
//!
//! A rule holds for an array if it holds for each element, so the results of an array follow from those of its elements: whether
//! one breaks the rule, cannot be judged, or has no place for the value. A few elements suffice for each combination, and
//! repeating them changes only the length.

use std::collections::BTreeSet;
use std::path::Path;

use omen_order::Fit;
use serde_json::{Map, Value, json};

use super::values::{candidates, nested, result};
use crate::call::arguments::RulePointer;
use crate::call::arguments::rule::{MAX_JUDGED, Rule};

/// Largest number of elements, and of combinations of their results, that are distinguished.
const MAX_ELEMENTS: usize = 512;

/// Result of each rule for an array; nothing where an element has no place for the value.
type Results = Vec<Option<Fit>>;

/// Arrays for all combinations of the results of rules on elements, each in as many of some lengths as there are.
///
/// # Errors
/// Why they cannot be found.
pub(super) fn arrays(rules: &[(&Rule, &Path)], lengths: &BTreeSet<u32>, needed: usize) -> Result<Vec<Value>, String> {
    let of_elements: Vec<_> = rules.iter().copied().filter(|(rule, _)| !rule.place.below_each().is_empty()).collect();
    if of_elements.is_empty() {
        return Ok(Vec::new());
    }
    let results = |items: &[Value]| -> Results {
        let array = Value::from(items.to_vec());
        let judge = |(rule, folder): &(&Rule, &Path)| {
            rule.has_places(&nested(rule, &array)).then(|| result(rule, Some(&array), folder))
        };
        of_elements.iter().map(judge).collect()
    };
    let mut known: Vec<(Results, Vec<Value>)> = Vec::new();
    let elements = elements(&of_elements)?;
    let mut ahead: std::collections::VecDeque<_> = elements.iter().map(|element| vec![element.clone()]).collect();
    while let Some(items) = ahead.pop_front() {
        let of_items = results(&items);
        if known.iter().any(|(results, _)| *results == of_items) {
            continue;
        }
        ahead.extend(elements.iter().map(|element| items.iter().chain([element]).cloned().collect::<Vec<_>>()));
        known.push((of_items, items));
        if known.len() > MAX_ELEMENTS {
            return Err(too_many());
        }
    }
    let mut arrays = vec![json!([])];
    for (_, items) in known {
        // Rules judge a limited number of elements, and can list whole arrays.
        let longer = items.len()..=items.len() + needed;
        let all = lengths.iter().map(|length| *length as usize).chain(longer).chain([MAX_JUDGED + 1]);
        let all: BTreeSet<_> = all.filter(|length| *length >= items.len()).collect();
        arrays.extend(
            all.into_iter().map(|length| items.iter().cycle().take(length).cloned().collect::<Vec<_>>().into()),
        );
    }
    Ok(arrays)
}

/// Elements that rules can tell apart.
fn elements(rules: &[(&Rule, &Path)]) -> Result<Vec<Value>, String> {
    let places: BTreeSet<_> = rules.iter().map(|(rule, _)| rule.place.below_each().trim_start_matches("/*")).collect();
    let is_above =
        |above: &str| places.iter().any(|place| place.strip_prefix(above).is_some_and(|rest| rest.starts_with('/')));
    if let Some(above) = places.iter().find(|place| is_above(place)) {
        return Err(format!("rules read both `*{above}` and a member below it"));
    }
    let mut partial: Vec<Option<Value>> = vec![None];
    for place in &places {
        let of_place: Vec<_> = rules
            .iter()
            .copied()
            .filter(|(rule, _)| rule.place.below_each().trim_start_matches("/*") == *place)
            .collect();
        let mut longer = Vec::new();
        for element in &partial {
            let mut seen = BTreeSet::new();
            for value in candidates(&of_place, 1)? {
                let element = with_member(element.clone(), place, value)?;
                let array = Value::from(vec![element.clone()]);
                let results: Vec<_> =
                    of_place.iter().map(|(rule, folder)| result(rule, Some(&array), folder)).collect();
                if seen.insert(results) {
                    longer.push(Some(element));
                }
            }
            if longer.len() > MAX_ELEMENTS {
                return Err(too_many());
            }
        }
        partial = longer;
    }
    // An element without a place for a member.
    Ok(partial.into_iter().flatten().chain([Value::Null]).collect())
}

fn too_many() -> String {
    format!("the rules distinguish too many elements of an array: more than {MAX_ELEMENTS}")
}

/// Element with a member, if that is there; the element itself has the empty pointer.
fn with_member(element: Option<Value>, pointer: &str, member: Option<Value>) -> Result<Value, String> {
    if pointer.is_empty() {
        // An element that is missing is none.
        return Ok(member.unwrap_or(Value::Null));
    }
    let mut element = element.unwrap_or_else(|| Value::Object(Map::new()));
    let Some(member) = member else { return Ok(element) };
    let mut place = &mut element;
    for step in omen_types::pointer::steps(pointer) {
        let Value::Object(members) = place else {
            return Err(format!("rules read both `*{pointer}` and a member above it"));
        };
        place = members.entry(step.into_owned()).or_insert_with(|| Value::Object(Map::new()));
    }
    *place = member;
    Ok(element)
}

impl RulePointer {
    /// Pointer of the array whose elements the rule is about, or of the value itself.
    pub(super) fn above_each(&self) -> &str {
        self.as_str().strip_suffix(self.below_each()).unwrap_or_default()
    }

    /// Rest of the pointer from its first `*` on; empty if it has none.
    pub(super) fn below_each(&self) -> &str {
        let text = self.as_str();
        let at = text.find("/*/").or_else(|| text.strip_suffix("/*").map(str::len));
        at.and_then(|at| text.get(at..)).unwrap_or_default()
    }
}

impl Rule {
    /// Whether the arguments have a place for each value that the rule is about.
    fn has_places(&self, args: &Map<String, Value>) -> bool {
        self.place.visit(args, &mut |_, _| Ok(())).is_ok()
    }
}
