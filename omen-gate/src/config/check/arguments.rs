//! Checks of argument rules: whether they are valid and can be satisfied.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Check;
use crate::base::bounded;
use crate::base::json::below;
use crate::call::arguments::{
    ArgumentRecording, ArgumentRules, ArgumentTest, BadPattern, CommandRule, FolderRule, Host, Length, Pattern,
    Recorder, Rule, RulePointer, UnsatisfiableRule, Urls, is_exact, is_runner, unsatisfiable_rules,
};
use crate::config::file::argument::{Argument, CommandKeys, Folders};

impl Check<'_, '_> {
    /// Builds the rules of a `where` table.
    pub(super) fn arguments(&mut self, pointer: &str, table: BTreeMap<String, Argument>) -> ArgumentRules {
        if table.len() > MAX_RULES {
            self.wrong(pointer, format!("there are more than {MAX_RULES} rules for one tool"), "remove some");
        }
        let before = self.errors.len();
        let (mut rules, mut places) = (Vec::new(), Vec::new());
        for (name, argument) in table {
            let at = below(pointer, &name);
            let place = match RulePointer::parse(&name) {
                Ok(place) => place,
                Err((message, help)) => {
                    self.wrong(&at, message, help);
                    continue;
                }
            };
            let optional = argument.optional;
            let tests = self.tests(&at, argument);
            rules.push(Rule { place, optional, tests });
            places.push(at);
        }
        // A rule with a missing part would mean something else.
        if self.errors.len() == before {
            for UnsatisfiableRule { rule, key, message, help } in unsatisfiable_rules(&rules) {
                let at = places.get(rule).map_or(pointer, String::as_str);
                let at = key.map_or_else(|| at.to_owned(), |key| below(at, key));
                self.wrong(&at, message, help);
            }
        }
        ArgumentRules::new(rules)
    }

    /// Builds the redaction settings.
    pub(super) fn recorder(&mut self, mode: ArgumentRecording, secrets: &[String], patterns: &[String]) -> Recorder {
        let before = self.errors.len();
        let mut places = Vec::new();
        for (index, secret) in secrets.iter().enumerate() {
            match RulePointer::parse(secret) {
                Ok(place) => places.push(place),
                Err((message, help)) => self.wrong(&format!("/audit/secrets/{index}"), message, help),
            }
        }
        for (index, pattern) in patterns.iter().enumerate() {
            let at = format!("/audit/secret_patterns/{index}");
            // Compiled together with the others below; compiled alone here so that its own error is reported.
            let _ = self.pattern(&at, pattern);
        }
        if self.errors.len() > before {
            return Recorder::default();
        }
        Recorder::new(mode, places, patterns).unwrap_or_else(|_| {
            self.wrong(
                "/audit/secret_patterns",
                "the patterns are too large in total",
                "use fewer or simpler patterns",
            );
            Recorder::default()
        })
    }

    fn tests(&mut self, at: &str, argument: Argument) -> Vec<ArgumentTest> {
        let mut tests = Vec::new();
        if let Some(folders) = argument.under {
            let folders = self.folders(&below(at, "under"), folders);
            if let Some(from) = &argument.relative_to {
                self.without_nul(&below(at, "relative_to"), "the path", from);
            }
            tests.push(ArgumentTest::Under(FolderRule { folders, relative_to: argument.relative_to }));
        } else if argument.relative_to.is_some() {
            let at = below(at, "relative_to");
            self.wrong(&at, "`relative_to` requires `under`", "add `under`, or remove `relative_to`");
        }
        if let Some(values) = argument.one_of {
            for (index, value) in values.iter().enumerate() {
                self.exact(&below(&below(at, "in"), &index.to_string()), value);
            }
            tests.push(ArgumentTest::In(values));
        }
        if let Some(value) = argument.equals {
            self.exact(&below(at, "equals"), &value);
            tests.push(ArgumentTest::Equals(value));
        }
        tests.extend(argument.min.map(ArgumentTest::Min));
        tests.extend(argument.max.map(ArgumentTest::Max));
        if let Some(text) = argument.matches {
            tests.extend(self.pattern(&below(at, "matches"), &text));
        }
        tests.extend(argument.length.map(|length| ArgumentTest::Length(Length { min: length.min, max: length.max })));
        let (scheme, port) = (argument.scheme, argument.port);
        match argument.host {
            Some(hosts) => tests.push(ArgumentTest::Host(Urls {
                hosts: self.hosts(&below(at, "host"), &hosts),
                schemes: self.schemes(&below(at, "scheme"), scheme),
                ports: port.unwrap_or_default(),
            })),
            None => {
                for (key, is_there) in [("scheme", scheme.is_some()), ("port", port.is_some())] {
                    if is_there {
                        let help = "add the hosts that the URL may have: `host = [\"api.example.com\"]`";
                        self.wrong(&below(at, key), format!("`{key}` needs `host`"), help);
                    }
                }
            }
        }
        if let Some(command) = argument.command {
            tests.extend(self.command(&below(at, "command"), command));
        }
        tests.extend(argument.absent.then_some(ArgumentTest::Absent));
        tests
    }

    fn folders(&mut self, at: &str, folders: Folders) -> Vec<String> {
        let folders = match folders {
            Folders::One(folder) => vec![folder],
            Folders::Many(folders) => folders,
        };
        for folder in &folders {
            self.without_nul(at, "the path", folder);
        }
        folders
    }

    /// Builds the rule on a shell command.
    fn command(&mut self, at: &str, command: CommandKeys) -> Option<ArgumentTest> {
        for (index, program) in command.program.iter().enumerate() {
            let at = below(&below(at, "program"), &index.to_string());
            if program.is_empty() || program.chars().any(|c| c.is_whitespace() || c.is_control()) {
                self.wrong(
                    &at,
                    format!("invalid program `{}`", bounded(program)),
                    "write a name without spaces, such as `git`",
                );
            } else if is_runner(program) {
                let message =
                    format!("`{}` runs other programs, so a rule on programs cannot hold for it", bounded(program));
                self.wrong(&at, message, "remove it, or write a rule with `matches` for its exact commands");
            }
        }
        let argument = match command.argument.map(|text| self.pattern(&below(at, "argument"), &text)) {
            Some(Some(ArgumentTest::Matches(pattern))) => Some(pattern),
            Some(_) => return None,
            None => None,
        };
        let redirect = command
            .redirect
            .map(|folders| FolderRule { folders: self.folders(&below(at, "redirect"), folders), relative_to: None });
        Some(ArgumentTest::Command(CommandRule { programs: command.program, argument, redirect }))
    }

    /// Refuses a number that cannot occur in any call.
    fn exact(&mut self, at: &str, value: &Value) {
        if value.is_number() && !value.as_i64().is_some_and(is_exact) {
            self.wrong(
                at,
                format!("the number `{value}` is outside ±9007199254740991"),
                "write it as a string, if the tool takes one",
            );
        }
    }

    fn pattern(&mut self, at: &str, text: &str) -> Option<ArgumentTest> {
        match Pattern::new(text) {
            Ok(pattern) => return Some(ArgumentTest::Matches(pattern)),
            Err(BadPattern::Invalid(why)) => {
                let help = "see the documentation of the crate `regex` for the syntax";
                self.wrong(at, format!("invalid regular expression: {}", bounded(&why)), help);
            }
            Err(BadPattern::Large) => {
                self.wrong(at, "the compiled pattern is too large", "make it simpler");
            }
        }
        None
    }

    fn hosts(&mut self, at: &str, hosts: &[String]) -> Vec<Host> {
        let mut checked = Vec::new();
        for (index, host) in hosts.iter().enumerate() {
            match Host::parse(host) {
                Ok(host) => checked.push(host),
                Err(why) => {
                    let message = format!("invalid host `{}`: {why}", bounded(host));
                    self.wrong(
                        &below(at, &index.to_string()),
                        message,
                        "write a host such as `api.example.com` or `*.example.com`",
                    );
                }
            }
        }
        checked
    }

    fn schemes(&mut self, at: &str, schemes: Option<Vec<String>>) -> Vec<String> {
        let Some(schemes) = schemes else { return vec!["https".to_owned()] };
        for (index, scheme) in schemes.iter().enumerate() {
            let is_plain = scheme.starts_with(|c: char| c.is_ascii_lowercase())
                && scheme.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "+-.".contains(c));
            if !is_plain {
                let message = format!("invalid scheme `{}`", bounded(scheme));
                self.wrong(
                    &below(at, &index.to_string()),
                    message,
                    "write it in lower case without `:`, such as `https`",
                );
            }
        }
        schemes
    }
}

/// Maximum number of rules per tool.
const MAX_RULES: usize = 1000;
