//! The compile errors of illegal programs: single cases and tables for the page, and a gallery of all of them.
//!
//! They are read from the compile-fail cases of the packages, so the docs show exactly what a test has checked.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

use omen_codegen::model::{Model, Stage};

use crate::cases::{self, Case, PACKAGES};
use crate::markdown::{code, table};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// The code and the title of a rule.
type Rule<'m> = (&'m str, &'m str);

/// The cases of all packages.
pub(crate) struct Gallery {
    /// Each with its package.
    cases: Vec<(&'static str, Case)>,
}

impl Gallery {
    /// Reads the cases.
    ///
    /// # Errors
    /// As [`cases::read`], and if a case names an unknown rule.
    pub(crate) fn read(model: &Model) -> Result<Self> {
        let mut all = Vec::new();
        for package in PACKAGES {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(package).join("tests/ui");
            all.extend(cases::read(&folder)?.into_iter().map(|case| (package, case)));
        }
        let known = |package: &str, case: &Case| rules(model, package).iter().any(|(code, _)| *code == case.code);
        match all.iter().find(|(package, case)| !known(package, case)) {
            Some((_, stray)) => Err(format!("`{}` names an unknown rule: `{}`", stray.name, stray.code).into()),
            None => Ok(Self { cases: all }),
        }
    }

    /// The case of a name: its program, the error and the fix.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn case(&self, name: &str) -> Result<String> {
        let found = self.cases.iter().find(|(_, case)| case.name == name);
        let (package, case) = found.ok_or_else(|| format!("unknown compile-fail case `{name}`"))?;
        Ok(shown(package, case))
    }

    /// A table for each rule that has cases in a package, and the rules without one.
    pub(crate) fn tables(&self, model: &Model, package: &str) -> String {
        let (mut out, mut without) = (String::new(), Vec::new());
        for (rule, title) in rules(model, package) {
            let rows: Vec<_> = self
                .of(package, rule)
                .map(|case| vec![capital(&case.mistake), capital(&case.fix), link(package, case)])
                .collect();
            if rows.is_empty() {
                let same = same(model, rule).filter(|same| self.of(package, same).next().is_some());
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
                for (number, case) in self.of(package, rule).enumerate() {
                    // Writing to a string cannot fail.
                    let _ = match number {
                        0 => write!(out, "\n## {rule}: {title}\n"),
                        _ => Ok(()),
                    };
                    let _ = write!(out, "\n### {}\n{}", capital(&case.mistake), shown(package, case));
                }
            }
        }
        out
    }

    fn of(&self, package: &str, rule: &str) -> impl Iterator<Item = &Case> {
        self.cases.iter().filter(move |(of, case)| *of == package && case.code == rule).map(|(_, case)| case)
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

fn shown(package: &str, case: &Case) -> String {
    let Case { illegal, error, fix, fixed, .. } = case;
    format!(
        "\n{}\n\n```rust\n{illegal}\n```\n\n```text\n{error}\n```\n\nFixed: {fix}.\n\n```rust\n{fixed}\n```\n",
        link(package, case)
    )
}

/// A link to the program, from a folder in the root of the repository.
fn link(package: &str, case: &Case) -> String {
    format!("[{}](../{package}/tests/ui/{}.rs)", code(&case.name), case.name)
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
