//! Typed API: types and methods, and an explanation for every illegal call.

use std::collections::BTreeSet;

use super::super::codes::known_code;
use super::super::index::Index;
use super::super::kind::MistakeKind;
use super::super::node::Node;
use super::super::record::{self, FieldSpec, Want, may, need};
use super::super::report::Report;
use super::super::suggest;
use super::cells::known_fact;
use super::ids::{ids_at, known_event};
use super::states::States;
use crate::json::Json;
use crate::model::{self, Answer, Fsm, Location, Move, Text, Typestate};

const TYPED: &[FieldSpec] = &[
    need("description", Want::Text),
    need("states", Want::List),
    need("moves", Want::List),
    need("refused", Want::List),
];

const STATE: &[FieldSpec] = &[
    need("type", Want::Text),
    need("of", Want::Texts),
    may("open", Want::Flag),
    may("usually", Want::Texts),
    need("description", Want::Text),
];

const MOVE: &[FieldSpec] = &[
    need("method", Want::Text),
    need("events", Want::Texts),
    may("only", Want::Texts),
    may("except", Want::Texts),
    may("by_hand", Want::Flag),
    may("takes", Want::Texts),
    may("capability", Want::Record),
];

const CAPABILITY: &[FieldSpec] =
    &[need("name", Want::Text), need("then", Want::Text), may("per_state", Want::Flag), may("over", Want::Texts)];

const REFUSED: &[FieldSpec] = &[
    need("rules", Want::Texts),
    may("methods", Want::Texts),
    may("in", Want::Texts),
    need("message", Want::Text),
    need("note", Want::Text),
    may("python", Want::Text),
];

/// Result of the preceding checks of the state machine.
pub(super) struct Machine<'l, 'a> {
    pub(super) states: &'l States<'a>,
    pub(super) events: &'l [Node<'a>],
    pub(super) facts: &'l [Node<'a>],
    pub(super) json: &'l Json,
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
        for (name, at) in state.texts("usually") {
            known_fact(machine.facts, name, &at, report);
        }
    }
    if report.count() > 0 {
        return;
    }
    let moves = typed.list("moves");
    ids_at("method", &moves, report);
    for mv in &moves {
        record::check(report, mv, &[MOVE]);
        if let Some(capability) = mv.get("capability") {
            record::check(report, &capability, &[CAPABILITY]);
            ["name", "then"].iter().for_each(|key| named(&capability, key, report));
        }
        for (event, at) in mv.texts("events") {
            known_event(machine.events, event, &at, report);
        }
        ["only", "except"].iter().for_each(|key| known_types(&states, mv, key, report));
    }
    let refused = typed.list("refused");
    for text in &refused {
        record::check(report, text, &[REFUSED]);
        for (code, at) in text.texts("rules") {
            known_code(index, code, &at, report);
        }
        known_methods(&moves, text, report);
        known_types(&states, text, "in", report);
        plain(text, report);
    }
    if report.count() == 0
        && let Ok(fsm) = model::machine(&Location { file: typed.file, pointer: String::new() }, machine.json)
    {
        CallOutcomes { fsm: &fsm, moves: &moves, refused: &refused }.check(report);
    }
}

/// Checks that a type is valid Rust.
fn written(state: &Node<'_>, report: &mut Report) {
    if let (Some(ty), Some(at)) = (state.text("type"), state.get("type"))
        && syn::parse_str::<syn::TypePath>(ty).is_err()
    {
        report.add(
            MistakeKind::TypedState,
            &at,
            format!("`{ty}` is not a type"),
            "write it as in Rust, such as `Decide<Act>`",
        );
    }
}

/// Checks that a name is valid for a Rust trait or type.
fn named(node: &Node<'_>, key: &str, report: &mut Report) {
    if let (Some(name), Some(at)) = (node.text(key), node.get(key))
        && syn::parse_str::<syn::Ident>(name).is_err()
    {
        report.add(
            MistakeKind::TypedState,
            &at,
            format!("`{name}` is not the name of a type"),
            "write it as in Rust, such as `CanObserve`",
        );
    }
}

fn known_types(states: &[Node<'_>], node: &Node<'_>, key: &str, report: &mut Report) {
    let known: Vec<&str> = states.iter().filter_map(|state| state.text("type")).collect();
    for (ty, at) in node.texts(key) {
        if !known.contains(&ty) {
            let help = suggest::help(ty, known.iter().copied());
            report.add(MistakeKind::UnknownTypedState, &at, format!("no state is typed `{ty}`"), help);
        }
    }
}

/// Checks that a text has no braces, which rustc would interpret as type parameters.
fn plain(refused: &Node<'_>, report: &mut Report) {
    for key in ["message", "note", "python"] {
        if let (Some(text), Some(at)) = (refused.text(key), refused.get(key))
            && text.contains(['{', '}'])
        {
            report.add(
                MistakeKind::RefusalBraces,
                &at,
                "braces stand for types in a compile error",
                "write it without braces",
            );
        }
    }
}

fn known_methods(moves: &[Node<'_>], text: &Node<'_>, report: &mut Report) {
    let known: Vec<&str> = moves.iter().filter_map(|mv| mv.text("method")).collect();
    for (method, at) in text.texts("methods") {
        if !known.contains(&method) {
            let help = suggest::help(method, known.iter().copied());
            report.add(MistakeKind::UnknownMethod, &at, format!("unknown method `{method}`"), help);
        }
    }
}

/// All calls of methods in states, with their outcomes.
struct CallOutcomes<'l, 'a> {
    fsm: &'l Fsm,
    moves: &'l [Node<'a>],
    refused: &'l [Node<'a>],
}

impl CallOutcomes<'_, '_> {
    /// Checks that every illegal call has a text, that every text is used, and that no text applies to a call that is
    /// legal or has another code: the rows alone determine where a method is legal, and the code is that of the cell.
    fn check(&self, report: &mut Report) {
        let typed = &self.fsm.typed;
        let before = report.count();
        let mut given = vec![ExplainedCalls::default(); typed.texts.len()];
        for (mv, node) in typed.moves.iter().zip(self.moves) {
            for state in &typed.states {
                match self.fsm.answer(state, mv) {
                    Answer::Legal => self.legal(state, mv, report),
                    Answer::Refused { code, text: None } => {
                        let problem = format!("nothing explains {code} of this call in `{}`", state.ty);
                        let fix = format!("add an entry with `{code}` in `rules` to `refused`");
                        report.add(MistakeKind::RefusalGap, node, problem, fix);
                    }
                    Answer::Refused { code, text: Some(text) } => {
                        self.other_code(state, mv, &code, report);
                        let at = typed.texts.iter().position(|known| std::ptr::eq(known, text));
                        if let Some(given) = at.and_then(|at| given.get_mut(at)) {
                            given.add(&code, mv, state);
                        }
                    }
                }
            }
            self.exceptions(mv, node, report);
        }
        // A text that contradicts the rows explains no call, which would be reported a second time.
        if report.count() == before {
            given.iter().zip(self.refused).for_each(|(given, node)| given.check(node, report));
        }
    }

    /// Reports a text that names a method and a state in which it is legal.
    fn legal(&self, state: &Typestate, mv: &Move, report: &mut Report) {
        for (text, node) in self.named(state, mv) {
            let rows: Vec<String> = mv
                .events
                .iter()
                .filter(|event| !self.fsm.targets(state, std::slice::from_ref(*event)).is_empty())
                .map(|event| format!("`{event}` from `{}`", state.of.join("` and `")))
                .collect();
            report.add(
                MistakeKind::RefusalContradicts,
                node,
                format!("`{}` is legal in `{}`: the table has a row for {}", mv.method, state.ty, rows.join(" and ")),
                match text.within.len() {
                    1 => {
                        format!("remove this entry, or the row, or name `{}` in `except` of `{}`", state.ty, mv.method)
                    }
                    _ => format!("remove `{}` from `in`, or remove the row", state.ty),
                },
            );
        }
    }

    /// Reports a text that names a method and a state in which the code is different.
    fn other_code(&self, state: &Typestate, mv: &Move, code: &str, report: &mut Report) {
        for (_, node) in self.named(state, mv).filter(|(text, _)| !text.rules.iter().any(|rule| rule == code)) {
            report.add(
                MistakeKind::RefusalContradicts,
                node,
                format!("the code of `{}` in `{}` is {code}", mv.method, state.ty),
                format!("add `{code}` to `rules`, or change `cells`"),
            );
        }
    }

    /// Returns the texts that name both a method and a state.
    fn named<'s>(&'s self, state: &'s Typestate, mv: &'s Move) -> impl Iterator<Item = (&'s Text, &'s Node<'s>)> {
        let names =
            |(text, _): &(&Text, &Node<'_>)| text.methods.contains(&mv.method) && text.within.contains(&state.ty);
        self.fsm.typed.texts.iter().zip(self.refused).filter(names)
    }

    /// Checks that each state that a method excludes has a row for its event, and that another method covers this row.
    fn exceptions(&self, mv: &Move, node: &Node<'_>, report: &mut Report) {
        for (ty, at) in node.texts("except") {
            let Some(state) = self.fsm.typed.states.iter().find(|state| state.ty == ty) else { continue };
            let has_row = |event: &&String| !self.fsm.targets(state, std::slice::from_ref(*event)).is_empty();
            let stands =
                |event: &String| {
                    self.fsm.typed.moves.iter().any(|other| {
                        other.events.contains(event) && matches!(self.fsm.answer(state, other), Answer::Legal)
                    })
                };
            let mut with_row = mv.events.iter().filter(has_row).peekable();
            if with_row.peek().is_none() {
                let problem = format!("the table has no row for `{}` in `{ty}`", mv.method);
                report.add(MistakeKind::RefusalIdle, &at, problem, "remove it: the rows say it already");
            } else if let Some(event) = with_row.find(|event| !stands(event)) {
                let problem = format!("the table has a row for `{event}` in `{ty}`, but no method covers it");
                report.add(MistakeKind::RefusalContradicts, &at, problem, "remove it, or the row");
            }
        }
    }
}

/// Codes, methods and states of the calls that a text explains.
#[derive(Clone, Default)]
struct ExplainedCalls {
    rules: BTreeSet<String>,
    methods: BTreeSet<String>,
    states: BTreeSet<String>,
}

impl ExplainedCalls {
    fn add(&mut self, code: &str, mv: &Move, state: &Typestate) {
        self.rules.insert(code.to_owned());
        self.methods.insert(mv.method.clone());
        self.states.insert(state.ty.clone());
    }

    /// Checks that a text applies to a call, and that each name in it does.
    fn check(&self, node: &Node<'_>, report: &mut Report) {
        if self.rules.is_empty() {
            return report.add(
                MistakeKind::RefusalIdle,
                node,
                "this answer applies to no call",
                "remove it, or correct `in`",
            );
        }
        for (key, given) in [("rules", &self.rules), ("methods", &self.methods), ("in", &self.states)] {
            for (name, at) in node.texts(key).into_iter().filter(|(name, _)| !given.contains(*name)) {
                report.add(
                    MistakeKind::RefusalIdle,
                    &at,
                    format!("this answer never applies to `{name}`"),
                    "remove it",
                );
            }
        }
    }
}
