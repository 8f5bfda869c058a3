//! Keywords that definitions and fields share.

use super::kind::MistakeKind;
use super::node::Node;
use super::report::Report;
use super::suggest;

/// The only definition that accepts any value.
pub(super) const ANY_VALUE: &str = "JsonValue";

/// Reports a `type` that is not one of `supported`.
pub(super) fn unsupported_type(at: &Node<'_>, supported: &[&str], report: &mut Report) {
    let (problem, help) = match at.json.as_str() {
        Some(word) => {
            (format!("the type `{word}` is not supported here"), suggest::help(word, supported.iter().copied()))
        }
        None => {
            ("this `type` is not supported here".to_owned(), format!("name one type: {}", suggest::list(supported)))
        }
    };
    report.add(MistakeKind::UnsupportedType, at, problem, help);
}

/// Checks that the bound `low` is not above the bound `high`.
pub(super) fn order(node: &Node<'_>, low: &str, high: &str, report: &mut Report) {
    let number = |key: &str| node.get(key).and_then(|at| at.json.as_f64());
    if let (Some(least), Some(most)) = (number(low), number(high))
        && least > most
    {
        report.add(
            MistakeKind::BoundsOrder,
            node,
            format!("`{low}` is above `{high}`, so no value fits"),
            "swap the two, or correct one",
        );
    }
}
