//! The compile errors of illegal programs: single cases and tables for the page, and a gallery of all of them.
//!
//! They are read from the compile-fail cases, so the docs show exactly what a test has checked.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

use omen_codegen::model::{Model, Stage};

use crate::cases::{self, Case};
use crate::markdown::{code, table};

/// The folder of the cases, from the root of the repository.
const FOLDER: &str = "compile-tests/tests/ui";

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// The code and the title of a rule.
type Rule<'m> = (&'m str, &'m str);

/// All cases.
pub(crate) struct Gallery(Vec<Case>);

/// The packages whose types hold rules.
const PACKAGES: [&str; 2] = ["omen-sdk", "omen-gate"];

impl Gallery {
    /// Reads the cases.
    ///
    /// # Errors
    /// As [`cases::read`], and if a case names an unknown rule.
    pub(crate) fn read(model: &Model) -> Result<Self> {
        let all = cases::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(FOLDER))?;
        let known: Vec<_> = PACKAGES.into_iter().flat_map(|package| rules(model, package)).collect();
        match all.iter().find(|case| !known.iter().any(|(code, _)| *code == case.code)) {
            Some(stray) => Err(format!("`{}` names an unknown rule: `{}`", stray.name, stray.code).into()),
            None => Ok(Self(all)),
        }
    }

    /// The case of a name: its program, the error and the fix.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn case(&self, name: &str) -> Result<String> {
        let found = self.0.iter().find(|case| case.name == name);
        found.map(shown).ok_or_else(|| format!("unknown compile-fail case `{name}`").into())
    }

    /// A table for each rule that has cases in a package, and the rules without one.
    pub(crate) fn tables(&self, model: &Model, package: &str) -> String {
        let (mut out, mut without) = (String::new(), Vec::new());
        for (rule, title) in rules(model, package) {
            let rows: Vec<_> =
                self.cases(rule).map(|case| vec![capital(&case.mistake), capital(&case.fix), link(case)]).collect();
            if rows.is_empty() {
                let same = same(model, rule).filter(|same| self.cases(same).next().is_some());
                let note = same.map_or_else(String::new, |same| format!(" (the same rule as {})", code(same)));
                without.push(code(rule) + &note);
                continue;
            }
            // Writing to a string cannot fail.
            let _ = write!(out, "\n### {rule}: {title}\n\n{}", table(&["Mistake", "Fix", "Program"], rows));
        }
        if !without.is_empty() {
            let _ = write!(out, "\nCodes without a program: {}.\n", without.join(", "));
        }
        out
    }

    /// All cases as one page.
    pub(crate) fn page(&self, model: &Model) -> String {
        let mut out = "# All compile errors\n".to_owned();
        for package in PACKAGES {
            for (rule, title) in rules(model, package) {
                for (number, case) in self.cases(rule).enumerate() {
                    // Writing to a string cannot fail.
                    let _ = match number {
                        0 => write!(out, "\n## {rule}: {title}\n"),
                        _ => Ok(()),
                    };
                    let _ = write!(out, "\n### {}\n{}", capital(&case.mistake), shown(case));
                }
            }
        }
        out
    }

    fn cases(&self, rule: &str) -> impl Iterator<Item = &Case> {
        self.0.iter().filter(move |case| case.code == rule)
    }
}

/// The rules of a package, in their order. Those of the schema come last: the others are the purpose of the typed API.
fn rules<'m>(model: &'m Model, package: &str) -> Vec<Rule<'m>> {
    if package == "omen-gate" {
        return model.gate.codes.iter().map(|code| (&*code.code, &*code.title)).collect();
    }
    let (schema, others): (Vec<_>, Vec<_>) = model.rules.iter().partition(|rule| rule.stage == Stage::Schema);
    others.into_iter().chain(schema).map(|rule| (&*rule.code, &*rule.title)).collect()
}

/// The code of another stage for the same rule.
fn same<'m>(model: &'m Model, code: &str) -> Option<&'m str> {
    model.rules.iter().find(|rule| rule.code == code)?.shared_with.as_deref()
}

fn shown(case: &Case) -> String {
    let Case { illegal, error, fix, fixed, .. } = case;
    format!(
        "\n{}\n\n```rust\n{illegal}\n```\n\n```text\n{error}\n```\n\nFixed: {fix}.\n\n```rust\n{fixed}\n```\n",
        link(case)
    )
}

/// A link to the program, from a folder in the root of the repository.
fn link(case: &Case) -> String {
    format!("[{}](../{FOLDER}/{}.rs)", code(&case.name), case.name)
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
