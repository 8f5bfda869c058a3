//! Rules in the form of `gate.toml`: the keys of an entry of `[[allow]]`, and the table `[order]`.
//!
//! The types are generic over the tables of tests (`where`, `answer`, `if`), which belong to the gate. [`schema`] is the JSON
//! Schema of the keys, and [`Rules::build`] builds rules from them, or reports each mistake with its place and its fix.

mod schema;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use super::{MAX_RULES, Member, Pair, Per, Premise, Rule, RuleKind, Side, Test, Tool, Until, Was, duration};

pub use schema::schema;

/// One item, or several.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum OneOrMany<T> {
    /// Several.
    Many(Vec<T>),
    /// One.
    One(T),
}

impl<T> OneOrMany<T> {
    fn items(&self) -> &[T] {
        match self {
            Self::Many(items) => items,
            Self::One(item) => std::slice::from_ref(item),
        }
    }
}

/// Name of a tool, or a table with further keys.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum NameOrTable<T> {
    /// Name.
    Name(String),
    /// Table.
    Table(Box<T>),
}

/// Members that must be equal: `"/commit"`, or the pointers of both.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum SameTable {
    /// One pointer for both calls.
    Pointer(String),
    /// A pointer for each call.
    Pair {
        /// Pointer into the arguments of the later call.
        arg: String,
        /// Pointer into the arguments of the earlier call.
        #[serde(default)]
        earlier: Option<String>,
        /// Pointer into the answer of the earlier call.
        #[serde(default)]
        answer: Option<String>,
    },
}

/// Table of a premise, a limit, an obligation, or a canceller.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, bound = "W: Deserialize<'de>")]
pub struct PremiseTable<W> {
    #[serde(default)]
    tool: Option<OneOrMany<String>>,
    #[serde(default = "none")]
    any: Option<Vec<NameOrTable<PremiseTable<W>>>>,
    #[serde(default)]
    was: Option<String>,
    #[serde(default)]
    ok: Option<bool>,
    #[serde(default = "none", rename = "where")]
    args: Option<BTreeMap<String, W>>,
    #[serde(default = "none")]
    answer: Option<BTreeMap<String, W>>,
    #[serde(default)]
    same: Vec<SameTable>,
    #[serde(default)]
    within: Option<String>,
    #[serde(default = "none")]
    until: Option<Vec<NameOrTable<PremiseTable<W>>>>,
    #[serde(default)]
    only: Option<Vec<String>>,
    #[serde(default)]
    times: Option<u32>,
    #[serde(default)]
    per: Option<String>,
    #[serde(default = "none", rename = "if")]
    condition: Option<BTreeMap<String, W>>,
    #[serde(default)]
    calls: Option<u32>,
    #[serde(default)]
    sum: Option<BTreeMap<String, u64>>,
}

fn none<T>() -> Option<T> {
    None
}

/// Key `max`: a rate such as `10/min`, a limit, or several of them.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, bound = "W: Deserialize<'de>")]
pub enum Max<W> {
    /// Rate.
    Rate(String),
    /// Limits.
    Limits(Box<OneOrMany<PremiseTable<W>>>),
}

/// Order rules of one entry of `[[allow]]`.
#[derive(Debug)]
pub struct Rules<'r, W> {
    /// Key `after`.
    pub after: &'r [NameOrTable<PremiseTable<W>>],
    /// Key `never_after`.
    pub never_after: &'r [NameOrTable<PremiseTable<W>>],
    /// Tables of the key `max`.
    pub max: Option<&'r OneOrMany<PremiseTable<W>>>,
    /// Key `before_end`.
    pub before_end: &'r [NameOrTable<PremiseTable<W>>],
}

/// Mistake in the rules: its place, a description, and a fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// JSON pointer below the entry.
    pub pointer: String,
    /// Description of the mistake.
    pub message: String,
    /// How to fix it.
    pub help: String,
}

/// Context in which rules are built.
pub trait Surroundings<W> {
    /// Builds a test from a table, and reports mistakes in the table itself.
    fn test(&mut self, pointer: &str, table: &BTreeMap<String, W>, is_answer: bool) -> Option<Test>;

    /// Returns the allowed tools.
    fn tools(&self) -> &[Tool];

    /// Returns the tool nearest to a misspelled name, if any is near.
    fn nearest(&self, name: &str) -> Option<String>;

    /// Returns the smallest amount that the rules of the entry allow at a pointer.
    fn least(&self, pointer: &str) -> Option<i64>;
}

impl<W> Rules<'_, W> {
    /// Builds the rules of an entry, in the order in which they are judged.
    ///
    /// # Errors
    /// All mistakes.
    pub fn build(&self, own: &Tool, path: &str, with: &mut dyn Surroundings<W>) -> Result<Vec<Rule>, Vec<Mistake>> {
        let mut build = Build { own, path, with, mistakes: Vec::new(), is_incomplete: false };
        let mut rules = Vec::new();
        for (key, items) in [("after", self.after), ("never_after", self.never_after)] {
            for (index, item) in items.iter().enumerate() {
                rules.extend(build.rule(key, &format!("/{key}/{index}"), item));
            }
        }
        let is_list = matches!(self.max, Some(OneOrMany::Many(_)));
        for (index, table) in self.max.into_iter().flat_map(OneOrMany::items).enumerate() {
            let pointer = if is_list { format!("/max/{index}") } else { "/max".to_owned() };
            rules.extend(build.limits(&pointer, table));
        }
        for (index, item) in self.before_end.iter().enumerate() {
            rules.extend(build.rule("before_end", &format!("/before_end/{index}"), item));
        }
        if rules.len() > MAX_RULES {
            build.wrong("", format!("there are more than {MAX_RULES} order rules for one tool"), "remove some");
        }
        if build.mistakes.is_empty() && !build.is_incomplete { Ok(rules) } else { Err(build.mistakes) }
    }
}

struct Build<'b, W> {
    own: &'b Tool,
    path: &'b str,
    with: &'b mut dyn Surroundings<W>,
    mistakes: Vec<Mistake>,
    /// Whether a test has a mistake that was already reported.
    is_incomplete: bool,
}

impl<W> Build<'_, W> {
    fn wrong(&mut self, pointer: &str, message: impl Into<String>, help: impl Into<String>) {
        self.mistakes.push(Mistake { pointer: pointer.to_owned(), message: message.into(), help: help.into() });
    }

    /// Returns the path of a rule in TOML: `allow[1].after[0]`.
    fn shown(&self, pointer: &str) -> String {
        let mut path = self.path.to_owned();
        for step in pointer.split('/').skip(1) {
            match step.parse::<usize>() {
                Ok(index) => path.push_str(&format!("[{index}]")),
                Err(_) => path.push_str(&format!(".{step}")),
            }
        }
        path
    }

    fn rule(&mut self, key: &str, pointer: &str, item: &NameOrTable<PremiseTable<W>>) -> Option<Rule> {
        let table = match item {
            NameOrTable::Table(table) => Some(table.as_ref()),
            NameOrTable::Name(_) => None,
        };
        let condition = table.and_then(|table| self.test(&format!("{pointer}/if"), table.condition.as_ref(), false));
        let kind = match (key, table.and_then(|table| table.any.as_ref())) {
            ("after", Some(any)) => {
                if table.is_some_and(|table| table.tool.is_some()) {
                    self.wrong(
                        &format!("{pointer}/any"),
                        "`any` and `tool` cannot be combined",
                        "add the tool to `any`, or write a separate rule",
                    );
                }
                let at = |index| format!("{pointer}/any/{index}");
                let any = any.iter().enumerate().map(|(index, item)| self.premise("after", &at(index), item));
                let any: Vec<_> = any.collect();
                if any.is_empty() {
                    self.wrong(&format!("{pointer}/any"), "`any` is empty", "list premises, any one of which suffices");
                }
                RuleKind::After(any.into_iter().collect::<Option<_>>()?)
            }
            ("after", None) => RuleKind::After(vec![self.premise(key, pointer, item)?]),
            ("never_after", _) => RuleKind::NeverAfter(self.premise(key, pointer, item)?),
            _ => RuleKind::BeforeEnd(self.premise(key, pointer, item)?),
        };
        Some(Rule { kind, condition, path: self.shown(pointer) })
    }

    fn limits(&mut self, pointer: &str, table: &PremiseTable<W>) -> Vec<Rule> {
        let mut rules = Vec::new();
        let condition = self.test(&format!("{pointer}/if"), table.condition.as_ref(), false);
        let Some(premise) = self.table("max", pointer, table) else { return rules };
        if table.calls.is_none() && table.sum.as_ref().is_none_or(BTreeMap::is_empty) {
            self.wrong(pointer, "missing key `calls` or `sum`", "write `calls = 3`, or `sum = { \"/amount\" = 1000 }`");
        }
        let path = self.shown(pointer);
        if let Some(calls) = table.calls {
            if calls == 0 && premise.tools.contains(self.own) {
                self.wrong(
                    &format!("{pointer}/calls"),
                    "`calls = 0` allows no call at all",
                    "remove the entry, or name another `tool`",
                );
            }
            let kind = RuleKind::MaxCalls(calls, premise.clone());
            rules.push(Rule { kind, condition: condition.clone(), path: path.clone() });
        }
        for (at, limit) in table.sum.iter().flatten() {
            let place = format!("{pointer}/sum");
            self.pointer(&place, at, true);
            if let Some(least) = self.with.least(at).and_then(|least| u64::try_from(least).ok())
                && least > *limit
                && premise.tools.contains(self.own)
            {
                let message =
                    format!("`sum` allows {limit} of `{at}`, but `where` allows no call with less than {least}");
                self.wrong(&place, message, "raise the limit, or lower `min` in `where`");
            }
            let kind = RuleKind::MaxSum(*limit, at.as_str().into(), premise.clone());
            rules.push(Rule { kind, condition: condition.clone(), path: path.clone() });
        }
        rules
    }

    fn premise(&mut self, key: &str, pointer: &str, item: &NameOrTable<PremiseTable<W>>) -> Option<Premise> {
        match item {
            NameOrTable::Name(name) => {
                let tool = self.tool(pointer, name)?;
                Some(Premise::new(vec![tool], default(key)))
            }
            NameOrTable::Table(table) => self.table(key, pointer, table),
        }
    }

    fn table(&mut self, key: &str, pointer: &str, table: &PremiseTable<W>) -> Option<Premise> {
        let tools = match &table.tool {
            Some(names) => self.tools(&format!("{pointer}/tool"), names.items()),
            None if key == "max" => Some(vec![self.own.clone()]),
            None => {
                self.wrong(pointer, "missing key `tool`", "name the tool: `tool = \"run_tests\"`");
                None
            }
        };
        let was = self.was(pointer, table).unwrap_or_else(|| default(key));
        if key == "max" && !matches!(was, Was::Made | Was::Done | Was::Asked) {
            let help = "write `was = \"made\"`, `\"done\"` or `\"asked\"`";
            self.wrong(&format!("{pointer}/was"), "a limit counts calls before they have ended", help);
        }
        let per = table.per.as_deref().and_then(Per::parse);
        let per = per.unwrap_or(if key == "max" { Per::All } else { Per::Session });
        let within_ms = table.within.as_deref().and_then(|text| {
            let ms = duration(text, false);
            if ms.is_none() {
                let message = format!("invalid duration `{text}`");
                self.wrong(
                    &format!("{pointer}/within"),
                    message,
                    "write a time of at most 31 days: `30s`, `10min`, `24h`, `7day`",
                );
            }
            ms
        });
        if per == Per::All && table.within.is_none() {
            let help =
                if key == "max" { "add `within = \"1h\"`, or `per = \"session\"`" } else { "add `within = \"24h\"`" };
            self.wrong(pointer, "a rule over all sessions needs `within`", help);
        }
        let untils = self.untils(key, pointer, table);
        let same = self.pairs(pointer, &table.same, was.has_answer() || key == "before_end");
        if table.answer.is_some() && !was.has_answer() && key != "before_end" {
            let help = "write `was = \"ok\"`: only the answers of successful calls are known";
            self.wrong(&format!("{pointer}/answer"), "`answer` needs calls that have succeeded", help);
        }
        let args = self.test(&format!("{pointer}/where"), table.args.as_ref(), false);
        let answer = self.test(&format!("{pointer}/answer"), table.answer.as_ref(), true);
        let times = table.times.unwrap_or(1);
        Some(Premise { tools: tools?, was, args, answer, same, within_ms, times, per, until: untils })
    }

    fn untils(&mut self, key: &str, pointer: &str, table: &PremiseTable<W>) -> Vec<Until> {
        let mut untils = Vec::new();
        if let Some(only) = &table.only {
            if table.until.is_some() {
                self.wrong(
                    &format!("{pointer}/only"),
                    "`only` and `until` cannot be combined",
                    "remove one of them: with `only`, every other tool cancels",
                );
            }
            let tools = self.tools(&format!("{pointer}/only"), only).unwrap_or_default();
            untils.push(Until { tools, is_other: true, was: Was::Made, args: None, answer: None, same: Vec::new() });
        }
        let default = if key == "after" { Was::Made } else { Was::Ok };
        for (index, item) in table.until.iter().flatten().enumerate() {
            let pointer = format!("{pointer}/until/{index}");
            let until = match item {
                NameOrTable::Name(name) => self.tool(&pointer, name).map(|tool| Until {
                    tools: vec![tool],
                    is_other: false,
                    was: default,
                    args: None,
                    answer: None,
                    same: Vec::new(),
                }),
                NameOrTable::Table(table) => {
                    let names = table.tool.as_ref().map_or(&[][..], OneOrMany::items);
                    let tools = self.tools(&format!("{pointer}/tool"), names);
                    let was = self.was(&pointer, table).unwrap_or(default);
                    if names.is_empty() {
                        self.wrong(&pointer, "missing key `tool`", "name the tool: `tool = \"write_file\"`");
                    }
                    if table.answer.is_some() && !was.has_answer() {
                        let help = "write `was = \"ok\"`: only the answers of successful calls are known";
                        self.wrong(&format!("{pointer}/answer"), "`answer` needs calls that have succeeded", help);
                    }
                    let args = self.test(&format!("{pointer}/where"), table.args.as_ref(), false);
                    let answer = self.test(&format!("{pointer}/answer"), table.answer.as_ref(), true);
                    let same = self.pairs(&pointer, &table.same, true);
                    tools.map(|tools| Until { tools, is_other: false, was, args, answer, same })
                }
            };
            untils.extend(until);
        }
        untils
    }

    fn was(&mut self, pointer: &str, table: &PremiseTable<W>) -> Option<Was> {
        match (&table.was, table.ok) {
            (Some(_), Some(_)) => {
                self.wrong(&format!("{pointer}/ok"), "`ok` and `was` cannot be combined", "remove `ok`");
                None
            }
            (Some(was), None) => Was::parse(was),
            (None, Some(true)) => Some(Was::Ok),
            (None, Some(false)) => Some(Was::Failed),
            (None, None) => None,
        }
    }

    fn tools(&mut self, pointer: &str, names: &[String]) -> Option<Vec<Tool>> {
        let tools: Vec<_> = names.iter().map(|name| self.tool(pointer, name)).collect();
        tools.into_iter().collect()
    }

    /// Finds a tool by name: first on the entry's own server, then as `server/tool`.
    fn tool(&mut self, pointer: &str, name: &str) -> Option<Tool> {
        let own = Tool::new(&self.own.server, name);
        let matching = self.with.tools().iter().filter(|tool| **tool == own || tool.to_string() == name);
        let matching: Vec<_> = matching.cloned().collect();
        match matching.as_slice() {
            [tool] => Some(tool.clone()),
            [] => {
                let help = match self.with.nearest(name) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "add an entry to `allow`; calls of other tools are not recorded".to_owned(),
                };
                self.wrong(pointer, format!("the tool `{name}` is not allowed"), help);
                None
            }
            [first, second, ..] => {
                let message = format!(
                    "`{name}` is both the tool `{}` of `{}` and the tool `{}` of `{}`",
                    first.name, first.server, second.name, second.server
                );
                self.wrong(pointer, message, "give one of the servers another name");
                None
            }
        }
    }

    fn pairs(&mut self, pointer: &str, same: &[SameTable], has_answer: bool) -> Vec<Pair> {
        let mut pairs = Vec::new();
        for (index, pair) in same.iter().enumerate() {
            let at = format!("{pointer}/same/{index}");
            let (arg, earlier) = match pair {
                SameTable::Pointer(pointer) => (pointer, Some((Side::Args, pointer))),
                SameTable::Pair { arg, earlier: Some(earlier), answer: None } => (arg, Some((Side::Args, earlier))),
                SameTable::Pair { arg, earlier: None, answer: Some(answer) } => (arg, Some((Side::Answer, answer))),
                SameTable::Pair { arg, .. } => (arg, None),
            };
            let Some((side, earlier)) = earlier else {
                self.wrong(
                    &at,
                    "expected either `earlier` or `answer` beside `arg`",
                    "write `{ arg = \"/sha\", earlier = \"/commit\" }`",
                );
                continue;
            };
            if side == Side::Answer && !has_answer {
                self.wrong(
                    &at,
                    "`same` with `answer` needs calls that have succeeded",
                    "write `was = \"ok\"`: only the answers of successful calls are known",
                );
            }
            if self.pointer(&at, arg, false) && (earlier == arg || self.pointer(&at, earlier, false)) {
                let earlier = Member { side, pointer: earlier.as_str().into() };
                pairs.push(Pair { arg: Arc::from(arg.as_str()), earlier });
            }
        }
        pairs
    }

    fn pointer(&mut self, at: &str, pointer: &str, has_each: bool) -> bool {
        if !pointer.starts_with('/') {
            self.wrong(
                at,
                format!("invalid JSON pointer `{pointer}`: expected a `/` at its start"),
                format!("write `/{pointer}`"),
            );
            return false;
        }
        if !has_each && pointer.split('/').any(|step| step == "*") {
            self.wrong(at, format!("`{pointer}` leads to several members"), "name one member, without `*`");
            return false;
        }
        true
    }

    fn test(&mut self, pointer: &str, table: Option<&BTreeMap<String, W>>, is_answer: bool) -> Option<Test> {
        let table = table.filter(|table| !table.is_empty())?;
        let test = self.with.test(pointer, table, is_answer);
        self.is_incomplete |= test.is_none();
        test
    }
}

fn default(key: &str) -> Was {
    if matches!(key, "after" | "before_end") { Was::Ok } else { Was::Made }
}
