//! The table of statements as a page.

use std::fmt::Write as _;

use super::{Document, State, Statement, Statements};
use crate::evidence::{Evidence, Proof};
use crate::markdown::{code, table};

impl Statements {
    /// The generated part of the page: the counts, the reasons why some statements have no example, and one table for each section.
    #[must_use]
    pub fn page(&self, evidence: &Evidence) -> String {
        let mut out = counts(self);
        out.push_str("\nStatements without an example are of these kinds:\n\n");
        let kinds = self.without.iter().map(|(kind, reason)| vec![kind.clone(), reason.clone()]);
        out.push_str(&table(&["Kind", "Why there is no example"], kinds));
        for document in &self.documents {
            // Writing to a string cannot fail.
            let _ = write!(out, "\n## {}\n", document.title);
            for section in &document.sections {
                let rows = section.statements.iter().map(|statement| row(statement, evidence));
                let head = ["Statement", "State", "Code", "Test", "Example"];
                let _ = write!(out, "\n### {}\n\n{}", section.title, table(&head, rows));
            }
        }
        out
    }
}

fn counts(statements: &Statements) -> String {
    let row = |name: &str, documents: &[Document]| {
        let all: Vec<_> =
            documents.iter().flat_map(|of| &of.sections).flat_map(|of| &of.statements).map(|of| of.state).collect();
        let of = |state| all.iter().filter(|found| **found == state).count().to_string();
        vec![name.to_owned(), all.len().to_string(), of(State::Met), of(State::Decided), of(State::NotCheckable)]
    };
    let rows = statements.documents.iter().map(|document| row(&document.title, std::slice::from_ref(document)));
    let sum = row("All", &statements.documents);
    table(&["Document", "Statements", "Met", "Decided otherwise", "Not checkable"], rows.chain([sum]))
}

fn row(statement: &Statement, evidence: &Evidence) -> Vec<String> {
    let gate = statement.gate.as_ref().and_then(|code| evidence.row(code));
    let proofs = |proofs: &[Proof]| proofs.iter().map(Proof::link).collect::<Vec<_>>();
    let code = gate.map(|row| proofs(&row.enforced)).into_iter().flatten();
    let code = code.chain(statement.code.iter().map(|name| link(name)));
    let (programs, tests): (Vec<_>, Vec<_>) =
        gate.map(|row| proofs(&row.shown)).unwrap_or_default().into_iter().partition(|link| link.starts_with("[`ui/"));
    // Tests that the statement names are more specific than those of the whole code.
    let tests =
        if statement.tests.is_empty() { tests } else { statement.tests.iter().map(|name| link(name)).collect() };
    let examples = statement.examples.iter().map(|name| example(name)).chain(programs);
    let without = statement.without.iter().map(|kind| format!("– ({kind})"));
    vec![
        statement.says.clone(),
        state(statement),
        code.collect::<Vec<_>>().join("<br>"),
        tests.join("<br>"),
        examples.chain(without).collect::<Vec<_>>().join("<br>"),
    ]
}

fn state(statement: &Statement) -> String {
    let decisions = statement.decisions.iter().map(|name| format!("[{name}](protocol.md#{})", name.to_lowercase()));
    let word = match statement.state {
        State::Met => "met",
        State::Decided => "decided",
        State::NotCheckable => "not checkable",
    };
    let head = [word.to_owned()].into_iter().chain(decisions).collect::<Vec<_>>().join(" ");
    match &statement.reason {
        Some(reason) => format!("{head}: {reason}"),
        None => head,
    }
}

/// A link to code or a test, by the shortest name that identifies it.
fn link(name: &str) -> String {
    let path = name.split(['#', ':']).next().unwrap_or(name);
    let file = path.rsplit('/').next().unwrap_or(path);
    let item = name.strip_prefix(path).unwrap_or_default();
    let text = match item.rsplit_once("::") {
        // The name of a test identifies it.
        Some((_, function)) if path.contains("/tests/") => function.to_owned(),
        // Many functions have the same name; the file tells them apart.
        Some(("", function)) => format!("{}::{function}", file.trim_end_matches(".rs")),
        Some(_) => item.trim_start_matches("::").to_owned(),
        None => format!("{file}{item}"),
    };
    format!("[{}](../{path})", code(&text))
}

fn example(name: &str) -> String {
    if name.ends_with(".jsonl") {
        return format!("[{}](../schema/examples/{name})", code(name));
    }
    link(name)
}
