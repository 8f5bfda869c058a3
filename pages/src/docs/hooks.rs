//! The generated parts of the page on hooks.

use std::collections::BTreeMap;
use std::error::Error;

use serde::Deserialize;

use crate::markdown::{code, table};

/// Members of a dialect that the page shows.
#[derive(Deserialize)]
struct DialectFacts {
    title: String,
    seen: String,
    guarantees: Vec<(String, String)>,
    install: InstallFacts,
}

#[derive(Deserialize)]
struct InstallFacts {
    places: BTreeMap<String, SettingsPlace>,
}

#[derive(Deserialize)]
struct SettingsPlace {
    folder: BTreeMap<String, String>,
    file: String,
}

/// What each agent guarantees to a hook, one agent in each column.
pub(super) fn guarantees() -> Result<String, Box<dyn Error + Send + Sync>> {
    let facts = facts()?;
    let subjects = facts.first().map(|facts| facts.guarantees.as_slice()).unwrap_or_default();
    let rows = subjects.iter().map(|(subject, _)| {
        let holds = |facts: &DialectFacts| {
            let found = facts.guarantees.iter().find(|(other, _)| other == subject);
            found.map(|(_, holds)| holds.clone()).unwrap_or_default()
        };
        row(&facts, subject, holds)
    });
    let rows: Vec<_> = std::iter::once(row(&facts, "compared with", |facts| facts.seen.clone())).chain(rows).collect();
    Ok(by_agent(&facts, "", rows))
}

/// Settings files by scope; of managed ones, those on Linux.
pub(super) fn places() -> Result<String, Box<dyn Error + Send + Sync>> {
    let facts = facts()?;
    let path = |facts: &DialectFacts, scope: &str| {
        let place = facts.install.places.get(scope)?;
        let folder = place.folder.get("any").or_else(|| place.folder.get("linux"))?;
        Some(code(&format!("{folder}/{}", place.file)))
    };
    let rows = ["user", "project", "managed"]
        .map(|scope| row(&facts, &code(scope), |facts| path(facts, scope).unwrap_or_else(|| "–".to_owned())));
    Ok(by_agent(&facts, "`--scope`", rows.into()))
}

fn facts() -> Result<Vec<DialectFacts>, serde_json::Error> {
    omen_schema::HOOKS.iter().map(|(_, text)| serde_json::from_str(text)).collect()
}

fn row(facts: &[DialectFacts], first: &str, cell: impl Fn(&DialectFacts) -> String) -> Vec<String> {
    std::iter::once(first.to_owned()).chain(facts.iter().map(cell)).collect()
}

fn by_agent(facts: &[DialectFacts], first: &str, rows: Vec<Vec<String>>) -> String {
    let head = row(facts, first, |facts| facts.title.clone());
    table(&head.iter().map(String::as_str).collect::<Vec<_>>(), rows)
}
