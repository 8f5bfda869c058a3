//! Guards of events, checked against the schemas that they refer to.
//!
//! The events of a packet type must partition its packets: for each combination of the values that their guards check,
//! exactly one event matches.

use std::collections::BTreeMap;

use super::index::{Definition, Index, Shape};
use super::kind::MistakeKind;
use super::node::Node;
use super::record::{self, FieldSpec, Want, may, need};
use super::report::Report;
use super::suggest;

const GUARD: &[FieldSpec] = &[may("pointer", Want::Text), may("derived", Want::Text), need("in", Want::Texts)];

/// Fact about packets of one type that is derived by code.
#[derive(Debug)]
pub(super) struct DerivedFact<'a> {
    pub(super) id: &'a str,
    pub(super) packet: &'a str,
    pub(super) values: Vec<&'a str>,
}

/// Treatment of a value that may be absent from a packet.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AbsentValue {
    /// The guard does not match.
    Allowed,
    /// The guard is a mistake, because no event would match.
    Refused,
}

/// Values that guards check, each with all possible values.
type Axes<'a> = BTreeMap<&'a str, Vec<&'a str>>;

/// Checks the form of a guard and its reference into `packet`.
pub(super) fn check<'a>(
    index: &Index<'a>,
    derived: &[DerivedFact<'a>],
    packet: &Definition<'a>,
    guard: &Node<'a>,
    absent: AbsentValue,
    report: &mut Report,
) {
    record::check(report, guard, &[GUARD]);
    let values = match (guard.get("pointer"), guard.get("derived")) {
        (Some(at), None) => {
            let Some(pointer) = at.json.as_str() else { return };
            match look(index, packet, pointer, absent) {
                Ok(values) => values,
                Err((kind, problem, help)) => return report.add(kind, &at, problem, help),
            }
        }
        (None, Some(at)) => match fact(derived, packet, &at, report) {
            Some(values) => values,
            None => return,
        },
        _ => {
            return report.add(
                MistakeKind::GuardForm,
                guard,
                "a guard has either `pointer` or `derived`",
                "write one of the two",
            );
        }
    };
    for (value, at) in guard.texts("in") {
        if !values.contains(&value) {
            let problem = format!("the value that this guard checks is never `{value}`");
            let help = suggest::help(value, values.iter().copied());
            report.add(MistakeKind::GuardValue, &at, problem, help);
        }
    }
}

fn fact<'a>(
    derived: &[DerivedFact<'a>],
    packet: &Definition<'_>,
    at: &Node<'_>,
    report: &mut Report,
) -> Option<Vec<&'a str>> {
    let id = at.json.as_str()?;
    let Some(fact) = derived.iter().find(|fact| fact.id == id) else {
        let problem = format!("unknown derived fact `{id}`");
        let help = suggest::help(id, derived.iter().map(|fact| fact.id));
        report.add(MistakeKind::UnknownDerived, at, problem, help);
        return None;
    };
    if fact.packet != packet.name {
        report.add(
            MistakeKind::DerivedPacket,
            at,
            format!("`{id}` is a fact about `{}`, not about `{}`", fact.packet, packet.name),
            "check something that this packet has",
        );
        return None;
    }
    Some(fact.values.clone())
}

/// Returns the values of the enum that `pointer` leads to in `packet`.
fn look<'a>(
    index: &Index<'a>,
    packet: &Definition<'a>,
    pointer: &str,
    absent: AbsentValue,
) -> Result<Vec<&'a str>, (MistakeKind, String, String)> {
    let mut here = packet;
    let path = pointer.strip_prefix('/').ok_or_else(|| {
        let help = format!("did you mean `/{pointer}`?");
        (MistakeKind::GuardPointer, format!("`{pointer}` does not start with `/`"), help)
    })?;
    for step in path.split('/') {
        let Some(property) = here.property(step) else {
            let help = suggest::help(step, here.property_names());
            return Err((MistakeKind::GuardPointer, format!("`{}` has no `{step}`", here.name), help));
        };
        if absent == AbsentValue::Refused && !here.requires(step) {
            return Err((
                MistakeKind::GuardOptional,
                format!("`{step}` of `{}` may be absent, and then no event holds", here.name),
                "check a required field or a derived fact".to_owned(),
            ));
        }
        let Some(next) = index.referred(&property) else {
            return Err(not_enum(step));
        };
        here = next;
    }
    if here.shape == Shape::Enum { Ok(here.value_names()) } else { Err(not_enum(pointer)) }
}

fn not_enum(step: &str) -> (MistakeKind, String, String) {
    let problem = format!("`{step}` is not an enum");
    (MistakeKind::GuardNotEnum, problem, "check an enum or a derived fact".to_owned())
}

/// Checks that exactly one of `events` matches every packet of the type `packet`.
///
/// The guards must be free of other mistakes.
pub(super) fn partition<'a>(
    index: &Index<'a>,
    derived: &[DerivedFact<'a>],
    packet: &Definition<'a>,
    events: &[&Node<'a>],
    list: &Node<'a>,
    report: &mut Report,
) {
    let axes = axes(index, derived, packet, events);
    let mut untaken = Vec::new();
    let mut disputed: Vec<(&str, &str)> = Vec::new();
    for combination in combinations(&axes) {
        let mut takers = events.iter().filter(|event| holds(event, &combination));
        let Some(first) = takers.next() else {
            untaken.push(say(&combination));
            continue;
        };
        for second in takers {
            let pair = (first.text("id").unwrap_or("?"), second.text("id").unwrap_or("?"));
            if disputed.contains(&pair) {
                continue;
            }
            disputed.push(pair);
            report.add(
                MistakeKind::GuardOverlap,
                second,
                format!("both `{}` and `{}` hold for {}", pair.0, pair.1, say(&combination)),
                "let each combination of values be taken by one event",
            );
        }
    }
    if let Some(first) = untaken.first() {
        let more = match untaken.len() {
            1 => String::new(),
            n => format!(", nor for {} more", n - 1),
        };
        report.add(
            MistakeKind::GuardGap,
            list,
            format!("no event of `{}` holds for {first}{more}", packet.name),
            "add an event for it, or add the value to a guard",
        );
    }
}

fn axes<'a>(index: &Index<'a>, derived: &[DerivedFact<'a>], packet: &Definition<'a>, events: &[&Node<'a>]) -> Axes<'a> {
    let mut axes = Axes::new();
    for guard in events.iter().flat_map(|event| event.list("when")) {
        if let Some(pointer) = guard.text("pointer") {
            let values = look(index, packet, pointer, AbsentValue::Refused);
            axes.insert(pointer, values.unwrap_or_default());
        } else if let Some(id) = guard.text("derived") {
            let fact = derived.iter().find(|fact| fact.id == id);
            axes.insert(id, fact.map(|fact| fact.values.clone()).unwrap_or_default());
        }
    }
    axes
}

/// Returns every combination with one value for each axis.
fn combinations<'a>(axes: &Axes<'a>) -> Vec<Vec<(&'a str, &'a str)>> {
    axes.iter().fold(vec![Vec::new()], |chosen, (axis, values)| {
        let with =
            |choice: &Vec<(&'a str, &'a str)>, value: &'a str| choice.iter().copied().chain([(*axis, value)]).collect();
        chosen.iter().flat_map(|choice| values.iter().map(move |value| with(choice, value))).collect()
    })
}

fn holds(event: &Node<'_>, combination: &[(&str, &str)]) -> bool {
    event.list("when").iter().all(|guard| {
        let axis = guard.text("pointer").or(guard.text("derived"));
        combination
            .iter()
            .filter(|(other, _)| Some(*other) == axis)
            .all(|(_, value)| guard.texts("in").iter().any(|(listed, _)| listed == value))
    })
}

fn say(combination: &[(&str, &str)]) -> String {
    let parts: Vec<String> = combination.iter().map(|(axis, value)| format!("`{axis}` = `{value}`")).collect();
    if parts.is_empty() { "any packet".to_owned() } else { parts.join(" and ") }
}
