//! References to rule codes.

use super::index::Index;
use super::kind::MistakeKind;
use super::node::Node;
use super::report::Report;
use super::suggest;

/// Checks that the codes in `x-omen-rules` exist.
pub(super) fn known_codes(index: &Index<'_>, node: &Node<'_>, report: &mut Report) {
    for (code, at) in node.texts("x-omen-rules") {
        known_code(index, code, &at, report);
    }
}

/// Checks that `code` is the code of a rule.
pub(super) fn known_code(index: &Index<'_>, code: &str, at: &Node<'_>, report: &mut Report) {
    let codes = index.code_names();
    if !codes.contains(&code) {
        let problem = format!("unknown rule `{code}`");
        report.add(MistakeKind::UnknownCode, at, problem, suggest::help(code, codes));
    }
}
