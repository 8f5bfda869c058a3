//! The table of statements: what the documents of the protocol demand, each with the code, test and example that show it.
//!
//! `pages/statements/*.json` hold one document each, in our own words. Names become outdated, so each path, item, pointer, test,
//! example, rule and decision that they name is looked up.

mod lookup;
mod page;

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;

use serde::Deserialize;

use crate::evidence::{Evidence, Row};
use lookup::root;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Every statement of every document.
#[derive(Debug)]
pub struct Statements {
    documents: Vec<Document>,
    /// Why statements of a kind have no example.
    without: BTreeMap<String, String>,
}

/// The statements of one document.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    title: String,
    sections: Vec<Section>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    title: String,
    statements: Vec<Statement>,
}

/// One statement and what proves it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Statement {
    /// The statement, in our own words.
    says: String,
    state: State,
    /// The decisions that replace it or specify it further.
    #[serde(default)]
    decisions: Vec<String>,
    /// Why it cannot be checked, or what holds instead.
    reason: Option<String>,
    /// The codes of the rules that it is about.
    #[serde(default)]
    rules: Vec<String>,
    /// A code of the gate. The gate's evidence names its code, and its tests unless `tests` names more specific ones.
    gate: Option<String>,
    /// `path.json#/pointer`, `path.rs::Type::function`, or a file.
    #[serde(default)]
    code: Vec<String>,
    /// `path.rs::function`, or the file of a program that must not compile.
    #[serde(default)]
    tests: Vec<String>,
    /// Logs by their path in `schema/examples`, or programs.
    #[serde(default)]
    examples: Vec<String>,
    /// Why there is no example.
    without: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
enum State {
    Met,
    Decided,
    NotCheckable,
}

/// What statements can refer to.
#[derive(Debug)]
pub struct World {
    /// Every code of a finding and of the gate.
    pub codes: BTreeSet<String>,
    /// The names of decisions, from their headings.
    pub decisions: BTreeSet<String>,
    /// The evidence for each code of the gate.
    pub evidence: Evidence,
}

impl World {
    /// Reads the schema files, the page on the protocol, and the gate's evidence.
    ///
    /// # Errors
    /// If one of them cannot be read.
    pub fn read() -> Result<Self> {
        let model = omen_codegen::model(omen_schema::FILES.iter().copied()).map_err(|error| error.to_string())?;
        let rules = model.rules.iter().map(|rule| rule.code.clone());
        let page = fs::read_to_string(root().join("docs/protocol.md"))?;
        Ok(Self {
            codes: rules.chain(model.gate.codes.iter().map(|code| code.code.clone())).collect(),
            decisions: page
                .lines()
                .filter_map(|line| line.strip_prefix("### D"))
                .map(|name| format!("D{name}"))
                .collect(),
            evidence: Evidence::read()?,
        })
    }
}

impl Statements {
    /// Reads the files, in the order in which `documents.json` lists them.
    ///
    /// # Errors
    /// If a file cannot be read or is invalid.
    pub fn read() -> Result<Self> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Index {
            documents: Vec<String>,
            without: BTreeMap<String, String>,
        }
        let folder = root().join("pages/statements");
        let index: Index = serde_json::from_str(&fs::read_to_string(folder.join("documents.json"))?)?;
        let read = |name: &String| {
            let text = fs::read_to_string(folder.join(name)).map_err(|error| format!("{name}: {error}"))?;
            Ok(Document::parse(&text).map_err(|error| format!("{name}: {error}"))?)
        };
        let documents = index.documents.iter().map(read).collect::<Result<_>>()?;
        Ok(Self { documents, without: index.without })
    }

    /// Creates a table of the given documents.
    #[must_use]
    pub fn new(documents: Vec<Document>, without: BTreeMap<String, String>) -> Self {
        Self { documents, without }
    }

    /// The number of statements.
    #[must_use]
    pub fn count(&self) -> usize {
        self.all().count()
    }

    /// Lists every fault.
    #[must_use]
    pub fn faults(&self, world: &World) -> Vec<String> {
        let mut faults = Vec::new();
        let mut said = BTreeSet::new();
        let mut named = BTreeSet::new();
        let mut kinds = BTreeSet::new();
        for (document, section, statement) in self.all() {
            let at = format!("{}, {}: \"{}\"", document.title, section.title, statement.says);
            if !said.insert((&document.title, &section.title, &statement.says)) {
                faults.push(format!("{at} is repeated"));
            }
            named.extend(statement.rules.iter().chain(&statement.gate).cloned());
            kinds.extend(statement.without.clone());
            faults.extend(statement.faults(world).into_iter().map(|fault| format!("{at}: {fault}")));
            if let Some(kind) = statement.without.as_ref().filter(|kind| !self.without.contains_key(*kind)) {
                faults.push(format!("{at}: unknown kind `{kind}` in `without`"));
            }
        }
        faults.extend(world.codes.difference(&named).map(|code| format!("no statement names the code {code}")));
        let unused = self.without.keys().filter(|kind| !kinds.contains(*kind));
        faults.extend(unused.map(|kind| format!("no statement has the kind `{kind}`")));
        faults
    }

    fn all(&self) -> impl Iterator<Item = (&Document, &Section, &Statement)> {
        let sections =
            self.documents.iter().flat_map(|document| document.sections.iter().map(move |of| (document, of)));
        sections.flat_map(|(document, section)| section.statements.iter().map(move |of| (document, section, of)))
    }
}

impl Document {
    /// Parses a document.
    ///
    /// # Errors
    /// If the text is invalid.
    pub fn parse(text: &str) -> Result<Self> {
        Ok(serde_json::from_str(text)?)
    }
}

impl Statement {
    fn faults(&self, world: &World) -> Vec<String> {
        let mut faults = Vec::new();
        if !self.says.ends_with('.') || self.says.len() < 12 {
            faults.push("`says` is not a sentence with a full stop".to_owned());
        }
        if self.state == State::Decided && self.decisions.is_empty() {
            faults.push("missing `decisions`".to_owned());
        }
        if self.state == State::NotCheckable {
            if self.reason.is_none() {
                faults.push("missing `reason`".to_owned());
            }
        } else {
            let evidence = self.gate.is_some();
            if self.code.is_empty() && !evidence {
                faults.push("missing `code`".to_owned());
            }
            if self.tests.is_empty() && !evidence {
                faults.push("missing `tests`".to_owned());
            }
            let programs = self.gate.as_ref().and_then(|code| world.evidence.row(code)).is_some_and(Row::has_programs);
            if (self.examples.is_empty() && !programs) == self.without.is_none() {
                faults.push("expected either `examples` or `without`".to_owned());
            }
        }
        let missing = |list: &[String], known: &BTreeSet<String>, what: &str| -> Vec<String> {
            list.iter().filter(|name| !known.contains(*name)).map(|name| format!("unknown {what} {name}")).collect()
        };
        faults.extend(missing(&self.decisions, &world.decisions, "decision"));
        faults.extend(missing(&self.rules, &world.codes, "code"));
        if let Some(code) = self.gate.as_ref().filter(|code| world.evidence.row(code).is_none()) {
            faults.push(format!("the gate has no evidence for {code}"));
        }
        faults.extend(self.code.iter().filter_map(|code| lookup::code(code)));
        faults.extend(self.tests.iter().filter_map(|test| lookup::test(test)));
        faults.extend(self.examples.iter().filter_map(|example| lookup::example(example)));
        faults.extend(self.silent());
        faults
    }

    /// If the statement names rules, an example with findings must have a finding of one of them.
    fn silent(&self) -> Option<String> {
        let found: BTreeSet<_> = self.examples.iter().flat_map(|example| lookup::findings(example)).collect();
        let silent = !self.rules.is_empty() && !found.is_empty() && !self.rules.iter().any(|code| found.contains(code));
        silent.then(|| format!("no example has a finding of {}", self.rules.join(" or ")))
    }
}
