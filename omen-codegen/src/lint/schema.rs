//! Shape of definitions.
//!
//! A definition is an object, an enum (`oneOf` of described single values), a union (`oneOf` of references), a scalar
//! with its bounds, a free-form object, or any value at all. Everything that a shape does not support is refused, so
//! nothing in a schema is silently ignored.

use super::index::{Definition, Index, Shape};
use super::keyword::{ANY_VALUE, order, unsupported_type};
use super::kind::MistakeKind;
use super::node::Node;
use super::object;
use super::record::{self, FieldSpec, Want, may, need};
use super::report::Report;
use super::root::ROOT;
use super::suggest;
use crate::json::Json;
use crate::pattern::Pattern;
use crate::typify::packet_variant;

/// Largest integer that every language reads exactly, 2^53-1 (D41).
const MAX_INTEGER: u64 = 9_007_199_254_740_991;

const DESCRIPTION: FieldSpec = need("description", Want::Text);
const TYPE: FieldSpec = need("type", Want::Any);

const ANY: &[FieldSpec] = &[DESCRIPTION];
const FREE: &[FieldSpec] =
    &[DESCRIPTION, TYPE, need("additionalProperties", Want::Flag), may("minProperties", Want::Count)];
const ONE_OF: &[FieldSpec] = &[DESCRIPTION, need("oneOf", Want::List)];
const BRANCH: &[FieldSpec] =
    &[TYPE, need("enum", Want::List), DESCRIPTION, may("x-omen-stale-after-seconds", Want::Count)];
const TEXT: &[FieldSpec] = &[
    DESCRIPTION,
    TYPE,
    may("pattern", Want::Text),
    may("minLength", Want::Count),
    may("maxLength", Want::Count),
    may("format", Want::Text),
];
const INTEGER: &[FieldSpec] = &[DESCRIPTION, TYPE, may("minimum", Want::Number), may("maximum", Want::Number)];
const NUMBER: &[FieldSpec] = INTEGER;

pub(super) fn check(index: &Index<'_>, report: &mut Report) {
    for definition in index.definitions() {
        let fields = match definition.shape {
            Shape::Any => ANY,
            Shape::Free => FREE,
            Shape::Enum | Shape::Union => ONE_OF,
            Shape::Text => TEXT,
            Shape::Integer => INTEGER,
            Shape::Number => NUMBER,
            Shape::Object => object::fields(definition),
            Shape::Unknown => {
                unknown(&definition.node, report);
                continue;
            }
        };
        let root: &[FieldSpec] = if definition.key.1.is_none() { ROOT } else { &[] };
        record::check(report, &definition.node, &[root, fields]);
        match definition.shape {
            Shape::Object => object::check(index, definition, report),
            Shape::Enum => values(definition, report),
            Shape::Union => union(index, definition, report),
            Shape::Text => text(&definition.node, report),
            Shape::Integer => integer(&definition.node, report),
            Shape::Number => order(&definition.node, "minimum", "maximum", report),
            Shape::Free => free(&definition.node, report),
            Shape::Any => any(definition, report),
            Shape::Unknown => {}
        }
    }
}

/// Permits any value only in the definition intended for that: elsewhere, a `oneOf` may have been forgotten.
fn any(definition: &Definition<'_>, report: &mut Report) {
    if definition.name != ANY_VALUE {
        report.add(
            MistakeKind::Untyped,
            &definition.node,
            format!("`{}` has neither `type` nor `oneOf`, and takes any value", definition.name),
            format!("say what it is; for any value refer to `{ANY_VALUE}`"),
        );
    }
}

fn unknown(node: &Node<'_>, report: &mut Report) {
    let described =
        "write `oneOf` with one branch per value: `{ \"type\": \"string\", \"enum\": [VALUE], \"description\": … }`";
    if !matches!(node.json, Json::Object(_)) {
        record::malformed(report, node, "an object");
    } else if let Some(at) = node.get("const") {
        report.add(MistakeKind::ConstUsed, &at, "`const` is not supported", described);
    } else if let Some(at) = node.get("enum") {
        report.add(MistakeKind::EnumForm, &at, "the values of this enum have no descriptions", described);
    } else if let Some(at) = node.get("$ref") {
        report.add(
            MistakeKind::Alias,
            &at,
            "this definition is only an alias of another definition",
            "refer to the other definition where this one is used",
        );
    } else if let Some(at) = node.get("type") {
        unsupported_type(&at, &["object", "string", "integer", "number"], report);
    }
}

fn free(node: &Node<'_>, report: &mut Report) {
    let bound = node.get("minProperties");
    if let Some(at) = bound.filter(|at| at.json.as_u64().is_some_and(|least| least != 1)) {
        report.add(
            MistakeKind::BoundType,
            &at,
            "the only bound of a free-form object is at least one member",
            "write 1, or remove it",
        );
    }
}

fn values(definition: &Definition<'_>, report: &mut Report) {
    let branches = definition.node.list("oneOf");
    if let (Some(at), true) = (definition.node.get("oneOf"), branches.is_empty()) {
        let problem = format!("`{}` has no value", definition.name);
        report.add(MistakeKind::EmptyEnum, &at, problem, "add a branch for each value");
    }
    for node in &branches {
        branch(node, report);
    }
    let mut seen: Vec<(String, &str)> = Vec::new();
    for (value, at) in definition.values() {
        // The names in code, such as `ToolOutput` for `tool_output`, must differ.
        let folded = value.replace('_', "").to_ascii_lowercase();
        if let Some((_, other)) = seen.iter().find(|(seen, _)| *seen == folded) {
            report.add(
                MistakeKind::EnumTwice,
                &at,
                format!("the values `{value}` and `{other}` would get the same name in code"),
                "remove or rename one of the two",
            );
        }
        seen.push((folded, value));
    }
}

fn branch(node: &Node<'_>, report: &mut Report) {
    if node.get("const").is_none() {
        record::check(report, node, &[BRANCH]);
    } else {
        // Further mistakes would only be consequences of the `const`.
        return unknown(node, report);
    }
    if let Some(at) = node.get("type").filter(|at| at.json.as_str() != Some("string")) {
        unsupported_type(&at, &["string"], report);
    }
    let Some(list) = node.get("enum") else { return };
    match list.json.elements() {
        [] => report.add(MistakeKind::EmptyEnum, &list, "this branch has no value", "name its value"),
        [one] => value(&list, one, report),
        _ => report.add(
            MistakeKind::EnumSeveral,
            &list,
            "this branch lists several values",
            "use one branch per value, so that each has a description",
        ),
    }
}

fn value(list: &Node<'_>, value: &Json, report: &mut Report) {
    let is_name = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    if !value.as_str().is_some_and(is_name) {
        report.add(
            MistakeKind::EnumValue,
            list,
            "this value cannot be turned into a name",
            "write a string of ASCII letters, digits and `_` that starts with a letter",
        );
    }
}

fn union(index: &Index<'_>, definition: &Definition<'_>, report: &mut Report) {
    variants(index, definition, report);
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for node in definition.node.list("oneOf") {
        if node.get("$ref").is_none() || node.json.members().len() != 1 {
            report.add(
                MistakeKind::UnionBranch,
                &node,
                "a branch of a union is a reference and nothing else",
                "define this in `$defs`, and write `{ \"$ref\": … }`",
            );
            continue;
        }
        // All packets are objects; the header distinguishes them.
        let Some(target) = index.referred(&node).filter(|_| !definition.is_packet_union()) else {
            continue;
        };
        let Some(json_type) = json_type(target.shape) else {
            let name = target.name;
            report.add(
                MistakeKind::UnionBranch,
                &node,
                format!("`{name}` has no JSON type of its own, so a value of it cannot be recognized"),
                "refer to an object, an enum or a scalar",
            );
            continue;
        };
        if let Some((_, other)) = seen.iter().find(|(seen, _)| *seen == json_type) {
            report.add(
                MistakeKind::UnionOverlap,
                &node,
                format!("`{}` and `{other}` are both of JSON type {json_type}", target.name),
                "keep one branch for each JSON type, so that the type decides the branch",
            );
        }
        seen.push((json_type, target.name));
    }
}

/// Checks the names of variants. typify names each variant after the words of its branch that not all branches share.
fn variants(index: &Index<'_>, definition: &Definition<'_>, report: &mut Report) {
    let branches = definition.node.list("oneOf");
    let names: Vec<&str> = branches.iter().filter_map(|node| index.referred(node)).map(|target| target.name).collect();
    if let [name] = names[..]
        && branches.len() == 1
    {
        report.add(
            MistakeKind::Alias,
            &definition.node,
            format!("this union is only another name for `{name}`"),
            format!("refer to `{name}` where this one is used, or add a branch"),
        );
        return;
    }
    let goes_on = |name: &str, with: &str| {
        let (name, with) = (packet_variant(name), packet_variant(with));
        name == with || name.strip_prefix(with).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
    };
    for (node, name) in branches.iter().zip(&names) {
        if names.len() == branches.len() && names.iter().all(|other| goes_on(other, name)) {
            report.add(
                MistakeKind::UnionBranch,
                node,
                format!("every name of a branch begins with `{name}`, so that no name is left for the variant"),
                "rename this definition",
            );
        }
    }
}

fn json_type(shape: Shape) -> Option<&'static str> {
    match shape {
        Shape::Object | Shape::Free => Some("object"),
        Shape::Enum | Shape::Text => Some("string"),
        Shape::Integer | Shape::Number => Some("number"),
        Shape::Any | Shape::Union | Shape::Unknown => None,
    }
}

fn text(node: &Node<'_>, report: &mut Report) {
    if let Some(at) = node.get("pattern")
        && let Some(Err(problem)) = at.json.as_str().map(Pattern::parse)
    {
        report.add(
            MistakeKind::UnsupportedPattern,
            &at,
            format!("this pattern is not supported: {problem}"),
            "write `^literal[class]+$`, such as `^pkt_[a-zA-Z0-9_-]+$`",
        );
    }
    if let Some(at) = node.get("format")
        && let Some(format) = at.json.as_str().filter(|format| *format != "date-time")
    {
        let problem = format!("the format `{format}` is not supported");
        report.add(MistakeKind::UnsupportedFormat, &at, problem, suggest::help(format, ["date-time"]));
    }
    for key in ["minLength", "maxLength"] {
        if let Some(at) = node.get(key)
            && at.json.as_u64().is_some_and(|bound| bound > u64::from(u32::MAX))
        {
            let problem = format!("`{key}` exceeds 2^32-1, the maximum length of a text");
            report.add(MistakeKind::BoundType, &at, problem, format!("write {} or less", u32::MAX));
        }
    }
    order(node, "minLength", "maxLength", report);
    let has = |key: &str| node.get(key).is_some();
    let length = has("minLength") || has("maxLength");
    if u8::from(has("pattern")) + u8::from(has("format")) + u8::from(length) > 1 {
        report.add(
            MistakeKind::MixedConstraints,
            node,
            "a string has more than one of a pattern, a format and bounds of length",
            "keep the strictest one",
        );
    }
}

fn integer(node: &Node<'_>, report: &mut Report) {
    for key in ["minimum", "maximum"] {
        let Some(at) = node.get(key) else {
            report.add(
                MistakeKind::IntegerUnbounded,
                node,
                format!("this integer has no `{key}`"),
                format!("add `minimum` and `maximum`, both from 0 to {MAX_INTEGER}"),
            );
            continue;
        };
        if at.json.as_f64().is_some_and(|bound| bound < 0.0) {
            let problem = format!("`{key}` is below 0: negative integers are not supported");
            report.add(MistakeKind::IntegerNegative, &at, problem, "write 0 or more");
        } else if at.json.as_f64().is_some() && at.json.as_u64().is_none() {
            let problem = format!("`{key}` of an integer is not an integer");
            report.add(MistakeKind::BoundType, &at, problem, "write it without fraction and exponent");
        } else if at.json.as_u64().is_some_and(|bound| bound > MAX_INTEGER) {
            report.add(
                MistakeKind::IntegerUnbounded,
                &at,
                format!("`{key}` exceeds 2^53-1, which not all languages read exactly"),
                format!("write {MAX_INTEGER} or less"),
            );
        }
    }
    order(node, "minimum", "maximum", report);
}
