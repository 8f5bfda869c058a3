//! Argument rules: a pointer, and tests of the values at it.

use std::fmt;
use std::path::Path;

use omen_order::Fit;
use serde_json::{Map, Value};

use super::command::CommandRule;
use super::length::Length;
use super::number::integer;
use super::path::FolderRule;
use super::pattern::Pattern;
use super::pointer::RulePointer;
use super::types::ValueTypes;
use super::url::Urls;
use super::violation::{RefusalReason, RuleViolation};
use crate::base::{bounded, secret};

/// Rule on the values at a pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) place: RulePointer,
    /// Whether the member may be missing.
    pub(crate) optional: bool,
    /// Tests that must all pass.
    pub(crate) tests: Vec<ArgumentTest>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ArgumentTest {
    /// Path to one of the folders or below it.
    Under(FolderRule),
    /// One of the listed values.
    In(Vec<Value>),
    /// Exactly this value.
    Equals(Value),
    /// Lower bound of an integer, inclusive.
    Min(i64),
    /// Upper bound of an integer, inclusive.
    Max(i64),
    /// Text that matches the pattern.
    Matches(Pattern),
    /// Text or array whose length is within the bounds.
    Length(Length),
    Host(Urls),
    /// Shell command that runs only listed programs.
    Command(CommandRule),
    /// The member must be missing.
    Absent,
}

impl Rule {
    pub(super) fn judge(&self, args: &Map<String, Value>, folder: &Path) -> Result<(), RuleViolation> {
        let mut judged = 0;
        self.place.visit(args, &mut |at, value| {
            let broken = |rule: String, RefusalReason { why, help }| RuleViolation {
                at: bounded(at),
                rule: Some(rule),
                why,
                help,
            };
            let Some(value) = value else {
                if self.optional || self.tests.contains(&ArgumentTest::Absent) {
                    return Ok(());
                }
                let first = self.tests.first().map(|test| self.shown(test)).unwrap_or_default();
                return Err(broken(
                    first,
                    RefusalReason::new("the member is missing", format!("pass `{}`", bounded(at))),
                ));
            };
            judged += 1;
            if judged > MAX_JUDGED {
                let first = self.tests.first().map(|test| self.shown(test)).unwrap_or_default();
                let why = RefusalReason::new(
                    format!("there are more than {MAX_JUDGED} values"),
                    "split the call into several",
                );
                return Err(broken(first, why));
            }
            self.tests.iter().try_for_each(|test| {
                test.judge(value, folder).map_err(|why| broken(self.shown(test), self.without_secret(test, why)))
            })
        })
    }

    /// Returns whether a past call fits the rule. Cases that the rule cannot judge are unknown, as are a path outside
    /// the folders and a URL with another host, which another program may read differently.
    pub(super) fn fit(&self, args: &Map<String, Value>, folder: &Path) -> Fit {
        let (mut fit, mut judged) = (Fit::Yes, 0);
        let visited = self.place.visit(args, &mut |_, value| {
            judged += 1;
            fit = fit.and(match value {
                _ if judged > MAX_JUDGED => Fit::Unknown,
                None if self.optional || self.tests.contains(&ArgumentTest::Absent) => Fit::Yes,
                None => Fit::Unknown,
                Some(value) => self.tests.iter().map(|test| test.fit(value, folder)).fold(Fit::Yes, Fit::and),
            });
            Ok(())
        });
        if visited.is_err() { Fit::Unknown } else { fit }
    }

    /// Returns the test as the operator wrote it, without values that may be secret.
    fn shown(&self, test: &ArgumentTest) -> String {
        if self.may_be_secret(test) { format!("{} = …", test.key()) } else { test.to_string() }
    }

    fn without_secret(&self, test: &ArgumentTest, why: RefusalReason) -> RefusalReason {
        if self.may_be_secret(test) {
            return RefusalReason { help: "ask the operator which values the configuration allows".to_owned(), ..why };
        }
        why
    }

    /// Returns whether the test's values may reveal a secret.
    fn may_be_secret(&self, test: &ArgumentTest) -> bool {
        matches!(test, ArgumentTest::In(_) | ArgumentTest::Equals(_) | ArgumentTest::Matches(_))
            && self.place.last_key().is_some_and(secret::is_name)
    }

    /// Returns the types of values that can pass.
    pub(super) fn types(&self) -> ValueTypes {
        let any = ValueTypes::STRING
            .or(ValueTypes::NUMBER)
            .or(ValueTypes::BOOLEAN)
            .or(ValueTypes::ARRAY)
            .or(ValueTypes::OBJECT)
            .or(ValueTypes::NULL);
        self.tests.iter().fold(any, |types, test| types.and(test.types()))
    }
}

impl ArgumentTest {
    pub(super) fn judge(&self, value: &Value, folder: &Path) -> Result<(), RefusalReason> {
        let one_of = |values: &[Value]| {
            if values.contains(value) {
                return Ok(());
            }
            let shown = bounded(&values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", "));
            let help = if values.len() == 1 { format!("pass {shown}") } else { format!("pass one of {shown}") };
            Err(RefusalReason::new(
                if values.len() == 1 { "it is a different value" } else { "it is not an allowed value" },
                help,
            ))
        };
        match self {
            Self::Under(under) => under.judge(value, folder),
            Self::In(values) => one_of(values),
            Self::Equals(expected) => one_of(std::slice::from_ref(expected)),
            Self::Min(min) if integer(value)? < *min => {
                Err(RefusalReason::new("it is smaller", format!("pass {min} or more")))
            }
            Self::Max(max) if integer(value)? > *max => {
                Err(RefusalReason::new("it is larger", format!("pass {max} or less")))
            }
            Self::Min(_) | Self::Max(_) => Ok(()),
            Self::Matches(pattern) => pattern.judge(value),
            Self::Length(length) => length.judge(value),
            Self::Host(urls) => urls.judge(value),
            Self::Command(command) => command.judge(value, folder),
            Self::Absent => Err(RefusalReason::new("the member is there", "leave it out")),
        }
    }

    pub(super) fn fit(&self, value: &Value, folder: &Path) -> Fit {
        let is_decided = match self {
            Self::In(_) | Self::Equals(_) => !value.is_number() || integer(value).is_ok(),
            Self::Min(_) | Self::Max(_) => integer(value).is_ok(),
            Self::Matches(_) => value.is_string(),
            Self::Length(_) => value.is_string() || value.is_array(),
            Self::Under(_) | Self::Host(_) | Self::Command(_) => self.judge(value, folder).is_ok(),
            Self::Absent => true,
        };
        match (is_decided, self.judge(value, folder)) {
            (false, _) => Fit::Unknown,
            (true, Ok(())) => Fit::Yes,
            (true, Err(_)) => Fit::No,
        }
    }

    /// Returns the types of values that can pass the test.
    fn types(&self) -> ValueTypes {
        match self {
            Self::Under(_) | Self::Matches(_) | Self::Host(_) | Self::Command(_) => ValueTypes::STRING,
            Self::In(values) => {
                values.iter().fold(ValueTypes::NONE, |types, value| types.or(ValueTypes::from_value(value)))
            }
            Self::Equals(value) => ValueTypes::from_value(value),
            Self::Min(_) | Self::Max(_) => ValueTypes::NUMBER,
            Self::Length(_) => ValueTypes::STRING.or(ValueTypes::ARRAY),
            Self::Absent => ValueTypes::NONE,
        }
    }

    /// Returns the folders that the test checks, if any.
    pub(super) fn folders(&self) -> Option<&FolderRule> {
        match self {
            Self::Under(folders) => Some(folders),
            Self::Command(command) => command.redirect.as_ref(),
            _ => None,
        }
    }

    /// Returns the configuration key of the test.
    pub(super) fn key(&self) -> &'static str {
        match self {
            Self::Under(_) => "under",
            Self::In(_) => "in",
            Self::Equals(_) => "equals",
            Self::Min(_) => "min",
            Self::Max(_) => "max",
            Self::Matches(_) => "matches",
            Self::Length(_) => "length",
            Self::Host(_) => "host",
            Self::Command(_) => "command",
            Self::Absent => "absent",
        }
    }
}

/// Writes the test in configuration syntax.
impl fmt::Display for ArgumentTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Under(under) => under.fmt(f),
            Self::In(values) => write!(f, "in = {}", bounded(&Value::from(values.clone()).to_string())),
            Self::Equals(value) => write!(f, "equals = {}", bounded(&value.to_string())),
            Self::Min(min) => write!(f, "min = {min}"),
            Self::Max(max) => write!(f, "max = {max}"),
            Self::Matches(pattern) => pattern.fmt(f),
            Self::Length(length) => length.fmt(f),
            Self::Host(urls) => urls.fmt(f),
            Self::Command(command) => command.fmt(f),
            Self::Absent => f.write_str("absent = true"),
        }
    }
}

/// Limit of array elements that a rule checks in one call: a path test queries the file system for each of its folders.
pub(super) const MAX_JUDGED: usize = 1024;
