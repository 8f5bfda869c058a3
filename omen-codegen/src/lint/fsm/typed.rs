//! The typed API: its types and methods, and that every call that is not legal has an answer.

use super::super::index::Index;
use super::super::kind::Kind;
use super::super::node::Node;
use super::super::property::known_code;
use super::super::record::{self, Field, Want, may, need};
use super::super::report::Report;
use super::super::suggest;
use super::rows::Table;
use super::states::States;
use super::{ids_at, known_event};

const TYPED: &[Field] = &[need("description", Want::Text), need("states", Want::List), need("moves", Want::List)];

const STATE: &[Field] =
    &[need("type", Want::Text), need("of", Want::Texts), may("open", Want::Flag), need("description", Want::Text)];

const MOVE: &[Field] = &[
    need("method", Want::Text),
    need("events", Want::Texts),
    may("only", Want::Texts),
    may("by_hand", Want::Flag),
    may("takes", Want::Texts),
    need("refused", Want::List),
];

const REFUSED: &[Field] =
    &[need("rule", Want::Text), may("in", Want::Texts), need("message", Want::Text), need("note", Want::Text)];

/// What the rest of the state machine says.
pub(super) struct Machine<'l, 'a> {
    pub(super) states: &'l States<'a>,
    pub(super) events: &'l [Node<'a>],
    pub(super) table: Option<&'l Table<'a>>,
}

pub(super) fn check(index: &Index<'_>, machine: &Machine<'_, '_>, typed: &Node<'_>, report: &mut Report) {
    record::check(report, typed, &[TYPED]);
    let states = typed.list("states");
    ids_at("type", &states, report);
    for state in &states {
        record::check(report, state, &[STATE]);
        written(state, report);
        for (name, at) in state.texts("of") {
            if machine.states.to(name).is_none() {
                machine.states.unknown(name, None, &at, report);
            }
        }
    }
    if report.count() > 0 {
        return;
    }
    let moves = typed.list("moves");
    ids_at("method", &moves, report);
    for mv in &moves {
        record::check(report, mv, &[MOVE]);
        for (event, at) in mv.texts("events") {
            known_event(machine.events, event, &at, report);
        }
        known_types(&states, mv, "only", report);
        for refused in mv.list("refused") {
            record::check(report, &refused, &[REFUSED]);
            if let (Some(code), Some(at)) = (refused.text("rule"), refused.get("rule")) {
                known_code(index, code, &at, report);
            }
            known_types(&states, &refused, "in", report);
            plain(&refused, report);
        }
    }
    if report.count() == 0
        && let Some(table) = machine.table
    {
        moves.iter().for_each(|mv| answers(table, &states, mv, report));
    }
}

/// Asks that a type is written as Rust writes it.
fn written(state: &Node<'_>, report: &mut Report) {
    if let (Some(ty), Some(at)) = (state.text("type"), state.get("type"))
        && syn::parse_str::<syn::TypePath>(ty).is_err()
    {
        report.add(Kind::TypedState, &at, format!("`{ty}` is no type"), "write it as in Rust, such as `Decide<Act>`");
    }
}

fn known_types(states: &[Node<'_>], node: &Node<'_>, key: &str, report: &mut Report) {
    let known: Vec<&str> = states.iter().filter_map(|state| state.text("type")).collect();
    for (ty, at) in node.texts(key) {
        if !known.contains(&ty) {
            let mend = suggest::mend(ty, known.iter().copied());
            report.add(Kind::UnknownTypedState, &at, format!("no state is typed `{ty}`"), mend);
        }
    }
}

/// Asks that a text has no braces: rustc would take them for the names of types.
fn plain(refused: &Node<'_>, report: &mut Report) {
    for key in ["message", "note"] {
        if let (Some(text), Some(at)) = (refused.text(key), refused.get(key))
            && text.contains(['{', '}'])
        {
            report.add(
                Kind::RefusalBraces,
                &at,
                "braces stand for types in a compile error",
                "write it without braces",
            );
        }
    }
}

/// Asks that every call that is not legal has an answer, and that every answer is given to a call.
fn answers(table: &Table<'_>, states: &[Node<'_>], mv: &Node<'_>, report: &mut Report) {
    let refused = mv.list("refused");
    let lists = |refusal: &Node<'_>, ty: &str| refusal.texts("in").iter().any(|(name, _)| *name == ty);
    let mut given = vec![false; refused.len()];
    for state in states {
        let Some(ty) = state.text("type") else { continue };
        let listed = refused.iter().position(|refusal| lists(refusal, ty));
        let answer = listed.or_else(|| {
            if is_legal(table, state, mv) {
                return None;
            }
            let rest = refused.iter().position(|refusal| refusal.texts("in").is_empty());
            if rest.is_none() {
                let problem = format!("nothing answers this call in `{ty}`, where it is not legal");
                report.add(Kind::RefusalGap, mv, problem, "add to `refused` an entry without `in`");
            }
            rest
        });
        if let Some(given) = answer.and_then(|at| given.get_mut(at)) {
            *given = true;
        }
    }
    for (refusal, _) in refused.iter().zip(given).filter(|(_, given)| !given) {
        report.add(Kind::RefusalIdle, refusal, "no call ever gets this answer", "remove it, or correct `in`");
    }
}

fn is_legal(table: &Table<'_>, state: &Node<'_>, mv: &Node<'_>) -> bool {
    let only = mv.texts("only");
    let offered = only.is_empty() || only.iter().any(|(name, _)| Some(*name) == state.text("type"));
    let has_row = state
        .texts("of")
        .iter()
        .any(|(leaf, _)| mv.texts("events").iter().any(|(event, _)| table.contains_key(&((*leaf).to_owned(), *event))));
    offered && has_row
}
