//! Command lines that represent all others in rules on commands.
//!
//! A rule accepts a line if it accepts each of its commands, and a command if it accepts its program, each of its arguments and
//! each of its redirections. So the results of a line follow from those of its parts, and lines joined from parts have every
//! result that a line can have.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use super::texts::texts;
use crate::call::arguments::command::{CommandRule, subcommands};
use crate::call::arguments::rule::ArgumentTest;

/// Largest number of results that lines may have together.
const MAX_RESULTS: usize = 256;
/// Number of texts that are tried for one result of the patterns: some of them may make a program run others.
const TRIED: usize = 24;

/// Which rules accept a line.
type Acceptance = Vec<bool>;

/// Rules whose results the lines distinguish.
struct ComparedRules<'r>(&'r [(&'r CommandRule, &'r Path)]);

/// Lines for all combinations of the results of rules: `needed` of each.
///
/// # Errors
/// Why they cannot be found.
pub(super) fn lines(rules: &[(&CommandRule, &Path)], needed: usize) -> Result<Vec<String>, String> {
    let rules = ComparedRules(rules);
    let parts = rules.parts()?;
    let mut found: BTreeMap<Acceptance, String> = BTreeMap::new();
    let mut ahead: Vec<_> = parts.iter().map(|line| (rules.accepted(line), line.clone())).collect();
    while let Some((accepted, line)) = ahead.pop() {
        if found.contains_key(&accepted) {
            continue;
        }
        for part in &parts {
            let longer = format!("{line} ; {part}");
            ahead.push((rules.accepted(&longer), longer));
        }
        found.insert(accepted, line);
        if found.len() > MAX_RESULTS {
            return Err(format!("the rules on a command have more than {MAX_RESULTS} combined results"));
        }
    }
    // A shell expands these, so no rule accepts them.
    let refused = (0..needed).map(|index| format!("${index}"));
    let repeated = |line: String| (1..=needed).map(move |count| vec![line.as_str(); count].join(" ; "));
    Ok(refused.chain(found.into_values().flat_map(|line| repeated(line).collect::<Vec<_>>())).collect())
}

impl ComparedRules<'_> {
    fn accepted(&self, line: &str) -> Acceptance {
        let line = Value::from(line);
        self.0.iter().map(|(rule, folder)| rule.judge(&line, folder).is_ok()).collect()
    }

    /// Lines of one command with at most one argument or redirection that is not the same to all rules.
    fn parts(&self) -> Result<Vec<String>, String> {
        let programs: BTreeSet<_> = self.0.iter().flat_map(|(rule, _)| &rule.programs).collect();
        let patterns =
            self.0.iter().filter_map(|(rule, folder)| Some((ArgumentTest::Matches(rule.argument.clone()?), *folder)));
        let folders =
            self.0.iter().filter_map(|(rule, folder)| Some((ArgumentTest::Under(rule.redirect.clone()?), *folder)));
        let arguments = some_texts(&patterns.collect::<Vec<_>>())?;
        let files = some_texts(&folders.collect::<Vec<_>>())?;
        let mut parts = Vec::new();
        for program in programs {
            let word = quoted(program);
            let names = self.0.iter().map(|(rule, _)| rule.programs.contains(program)).collect::<Vec<_>>();
            for (is_file, texts) in [(false, &arguments), (true, &files)] {
                let mut wanted: BTreeMap<Acceptance, Option<String>> = BTreeMap::new();
                for text in texts {
                    let value = Value::from(text.as_str());
                    let takes = self.0.iter().zip(&names).map(|((rule, folder), names)| {
                        let takes = match is_file {
                            true => rule.redirect.as_ref().is_some_and(|folders| folders.judge(&value, folder).is_ok()),
                            false => rule.argument.as_ref().is_none_or(|pattern| pattern.judge(&value).is_ok()),
                        };
                        takes && *names
                    });
                    let takes: Acceptance = takes.collect();
                    if takes == names || !takes.contains(&true) {
                        continue;
                    }
                    let line = wanted.entry(takes.clone()).or_default();
                    if line.is_none() {
                        let text = quoted(text);
                        let direct = if is_file { format!("{word} > {text}") } else { format!("{word} {text}") };
                        // A program may take an argument only after a subcommand, which may leave it the same results.
                        let after = subcommands(program).map(|name| format!("{word} {name} {text}"));
                        *line = std::iter::once(direct).chain(after).find(|line| self.accepted(line) == takes);
                    }
                }
                if wanted.values().any(Option::is_none) {
                    return Err(format!(
                        "it depends on arguments of `{program}` for `command` that may make it run other programs"
                    ));
                }
                parts.extend(wanted.into_values().flatten());
            }
            parts.push(word);
        }
        Ok(parts)
    }
}

/// Some texts for all combinations of the results of tests.
fn some_texts(tests: &[(ArgumentTest, &Path)]) -> Result<Vec<String>, String> {
    let tests: Vec<_> = tests.iter().map(|(test, folder)| (test, *folder)).collect();
    Ok(texts(&tests, TRIED, 1)?.unwrap_or_default())
}

/// Word as a shell reads it back.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | ',' | ':' | '+' | '@');
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}
