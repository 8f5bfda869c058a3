//! A rule: a place in the arguments, and what its values have to be.

use std::fmt;
use std::path::Path;

use serde_json::{Map, Value};

use super::broken::{Broken, Why};
use super::length::Length;
use super::number::integer;
use super::path::Under;
use super::pattern::Pattern;
use super::place::Place;
use super::types::Types;
use super::url::Urls;
use crate::base::{bounded, secret};

/// What the values at one place have to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) place: Place,
    /// Whether the member may be missing.
    pub(crate) optional: bool,
    /// Each has to hold.
    pub(crate) tests: Vec<Test>,
}

/// One demand on a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Test {
    /// A path below one of the folders.
    Under(Under),
    /// One of these values.
    In(Vec<Value>),
    /// This value.
    Equals(Value),
    /// An integer that is not smaller.
    Min(i64),
    /// An integer that is not larger.
    Max(i64),
    /// A text of this form.
    Matches(Pattern),
    /// A text or an array of this length.
    Length(Length),
    /// The URL of one of the hosts.
    Host(Urls),
    /// There is no such member.
    Absent,
}

impl Rule {
    pub(super) fn judge(&self, args: &Map<String, Value>, folder: &Path) -> Result<(), Broken> {
        let mut judged = 0;
        self.place.visit(args, &mut |at, value| {
            let broken = |rule: String, Why { why, help }| Broken { at: bounded(at), rule: Some(rule), why, help };
            let Some(value) = value else {
                if self.optional || self.tests.contains(&Test::Absent) {
                    return Ok(());
                }
                let first = self.tests.first().map(|test| self.shown(test)).unwrap_or_default();
                return Err(broken(first, Why::new("the member is missing", format!("pass `{}`", bounded(at)))));
            };
            judged += 1;
            if judged > MAX_JUDGED {
                let first = self.tests.first().map(|test| self.shown(test)).unwrap_or_default();
                let why = Why::new(format!("there are more than {MAX_JUDGED} values"), "split the call into several");
                return Err(broken(first, why));
            }
            self.tests.iter().try_for_each(|test| {
                test.judge(value, folder).map_err(|why| broken(self.shown(test), self.without_secret(test, why)))
            })
        })
    }

    /// A test as the operator wrote it, but for values that may be secret.
    fn shown(&self, test: &Test) -> String {
        if self.may_be_secret(test) { format!("{} = …", test.key()) } else { test.to_string() }
    }

    fn without_secret(&self, test: &Test, why: Why) -> Why {
        if self.may_be_secret(test) {
            return Why { help: "ask the operator which values the configuration allows".to_owned(), ..why };
        }
        why
    }

    /// Whether the values of a test say what a secret is.
    fn may_be_secret(&self, test: &Test) -> bool {
        matches!(test, Test::In(_) | Test::Equals(_) | Test::Matches(_))
            && self.place.last_key().is_some_and(secret::is_name)
    }

    /// The types that a value may have.
    pub(super) fn types(&self) -> Types {
        let any = Types::STRING.or(Types::NUMBER).or(Types::BOOLEAN).or(Types::ARRAY).or(Types::OBJECT).or(Types::NULL);
        self.tests.iter().fold(any, |types, test| types.and(test.types()))
    }
}

impl Test {
    pub(super) fn judge(&self, value: &Value, folder: &Path) -> Result<(), Why> {
        let one_of = |values: &[Value]| {
            if values.contains(value) {
                return Ok(());
            }
            let shown = bounded(&values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", "));
            let help = if values.len() == 1 { format!("pass {shown}") } else { format!("pass one of {shown}") };
            Err(Why::new(if values.len() == 1 { "it is another value" } else { "it is none of them" }, help))
        };
        match self {
            Self::Under(under) => under.judge(value, folder),
            Self::In(values) => one_of(values),
            Self::Equals(expected) => one_of(std::slice::from_ref(expected)),
            Self::Min(min) if integer(value)? < *min => Err(Why::new("it is smaller", format!("pass {min} or more"))),
            Self::Max(max) if integer(value)? > *max => Err(Why::new("it is larger", format!("pass {max} or less"))),
            Self::Min(_) | Self::Max(_) => Ok(()),
            Self::Matches(pattern) => pattern.judge(value),
            Self::Length(length) => length.judge(value),
            Self::Host(urls) => urls.judge(value),
            Self::Absent => Err(Why::new("the member is there", "leave it out")),
        }
    }

    /// The types of the values that pass.
    fn types(&self) -> Types {
        match self {
            Self::Under(_) | Self::Matches(_) | Self::Host(_) => Types::STRING,
            Self::In(values) => values.iter().fold(Types::NONE, |types, value| types.or(Types::of(value))),
            Self::Equals(value) => Types::of(value),
            Self::Min(_) | Self::Max(_) => Types::NUMBER,
            Self::Length(_) => Types::STRING.or(Types::ARRAY),
            Self::Absent => Types::NONE,
        }
    }

    /// The key of the configuration.
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
            Self::Absent => "absent",
        }
    }
}

/// As a configuration has it.
impl fmt::Display for Test {
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
            Self::Absent => f.write_str("absent = true"),
        }
    }
}

/// How many values of an array a rule judges in one call: a path asks the file system for each of its folders.
const MAX_JUDGED: usize = 1024;
