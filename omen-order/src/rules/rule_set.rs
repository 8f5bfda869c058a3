//! Rules with their index: the facts read of each tool's calls, and the rules that depend on them.
//!
//! A call is compared only with the matchers that name its tool, and a verdict reads only the rules of its own tool,
//! so the cost of both is independent of the rules of other tools.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Weak};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{MAX_CALLS, Member, Per, Policy, Premise, Rule, RuleKind, Side, Test, Tool, Until, Was};

/// Identifies the content of a rule or of something read from calls. A content that exists before and after a reload
/// keeps its memory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct ContentId(Arc<str>);

impl From<String> for ContentId {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl From<ContentId> for String {
    fn from(content: ContentId) -> Self {
        content.0.as_ref().to_owned()
    }
}

impl ContentId {
    fn new(parts: &[&str]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update(part.len().to_string());
            hash.update(":");
            hash.update(part);
        }
        let digest = hash.finalize();
        Self(base16ct::lower::encode_string(digest.get(..8).unwrap_or_default()).into())
    }
}

/// Rules of all tools, indexed.
#[derive(Debug)]
pub struct RuleSet {
    /// Maximum time in milliseconds that a call waits.
    pub(crate) wait_ms: i64,
    /// Time in milliseconds for which a call without its premise is held back.
    pub(crate) gather_ms: i64,
    /// Idle time in milliseconds after which a session ends.
    pub(crate) idle_ms: i64,
    pub(crate) tools: HashMap<Tool, Arc<ToolRules>>,
    /// Whether a rule has the scope of a turn, so that turns are remembered.
    pub(crate) has_turns: bool,
}

/// Facts read of a tool's calls, and the tool's rules.
#[derive(Debug, Default)]
pub(crate) struct ToolRules {
    pub(crate) may_confirm: bool,
    pub(crate) tests: Vec<(ContentId, Side, Test)>,
    pub(crate) members: Vec<(ContentId, Member)>,
    pub(crate) sums: Vec<(ContentId, Arc<str>)>,
    /// Matchers that name the tool.
    pub(crate) links: Vec<Arc<Link>>,
    /// Rules about the tool's calls, in the order in which they are judged.
    pub(crate) duties: Vec<Duty>,
}

/// Matcher of calls: a premise of a rule, or its canceller.
#[derive(Debug)]
pub(crate) struct Watch {
    /// Number that is unique among the matchers of a rule set.
    pub(crate) id: usize,
    pub(crate) role: Role,
    pub(crate) per: Per,
    pub(crate) was: Was,
    pub(crate) within: Option<i64>,
    pub(crate) times: usize,
    /// Matchers that cancel a call of this one.
    pub(crate) untils: Vec<Arc<Watch>>,
    /// How the matcher sees each of its tools. The tools own the links, which own the matcher.
    pub(crate) links: std::sync::OnceLock<HashMap<Tool, Weak<Link>>>,
    /// Names of the tools, for texts.
    pub(crate) named: Vec<Tool>,
    /// Pointers of `same` into the later call, for texts.
    pub(crate) args: Vec<Arc<str>>,
    /// Premise as written, for texts.
    pub(crate) within_ms: Option<u64>,
}

impl Watch {
    pub(crate) fn link(&self, tool: &Tool) -> Option<Arc<Link>> {
        self.links.get()?.get(tool)?.upgrade()
    }

    pub(crate) fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.links.get().into_iter().flat_map(HashMap::keys)
    }
}

/// Purpose of a matcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Premise of `after`.
    Permits,
    /// Premise of `never_after`.
    Forbids,
    /// Premise of `max`, with the number of calls that decide it.
    Limits(usize),
    /// Call that `before_end` owes.
    Settles,
    /// Call that cancels a premise of `after`.
    Cancels,
    /// Call that lifts a ban.
    Lifts,
}

impl Role {
    /// Returns whether forgetting a fact of the matcher would permit something.
    pub(crate) fn must_remember(self) -> bool {
        matches!(self, Self::Forbids | Self::Limits(_) | Self::Settles | Self::Cancels)
    }
}

/// How a matcher sees the calls of one tool. Numbers are positions in [`ToolRules`].
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) watch: Arc<Watch>,
    pub(crate) tests: Vec<usize>,
    /// Members that `same` compares, in the order of its pairs.
    pub(crate) members: Vec<usize>,
    pub(crate) sum: Option<usize>,
    /// Members that the `same` of each `until` compares.
    pub(crate) untils: Vec<Vec<usize>>,
}

/// Rule of a tool, as applied to its calls. Numbers are positions in [`ToolRules`].
#[derive(Debug)]
pub(crate) struct Duty {
    pub(crate) number: usize,
    pub(crate) content: ContentId,
    pub(crate) path: String,
    pub(crate) condition: Option<usize>,
    pub(crate) bound: Bound,
    /// Matchers, each with the members of the call's own arguments that its `same` compares. For `before_end`, these
    /// are the opener's members.
    pub(crate) premises: Vec<(Arc<Watch>, Vec<usize>)>,
}

/// Question that a rule asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    After,
    Never,
    Calls(usize),
    Sum(u64),
    Owes,
}

impl RuleSet {
    /// Indexes the rules of a policy.
    #[must_use]
    pub fn new(policy: &Policy) -> Self {
        let mut build = Builder { reads: BTreeMap::new(), watches: 0 };
        for tool in policy.tools.keys() {
            build.reads.insert(tool.clone(), ToolRules::default());
        }
        for (tool, entry) in &policy.tools {
            let mut duties = Vec::new();
            for (number, rule) in entry.rules.iter().enumerate() {
                duties.push(build.duty(tool, number, rule));
            }
            if let Some(reads) = build.reads.get_mut(tool) {
                reads.may_confirm = entry.may_confirm;
                reads.duties = duties;
            }
        }
        let has_turns = policy.rule_per_turn().is_some();
        let signed = |ms: u64| i64::try_from(ms).unwrap_or(i64::MAX);
        let tools = build.reads.into_iter().map(|(tool, reads)| (tool, Arc::new(reads))).collect();
        let (wait_ms, gather_ms) = (signed(policy.wait_ms), signed(policy.gather_ms));
        Self { wait_ms, gather_ms, idle_ms: signed(policy.idle_ms), tools, has_turns }
    }

    /// Returns whether there are no rules.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.values().all(|tool| tool.duties.is_empty())
    }

    /// Returns the contents that these rules read of calls.
    pub fn contents(&self) -> impl Iterator<Item = &ContentId> {
        self.tools.values().flat_map(|tool| {
            let tests = tool.tests.iter().map(|(content, ..)| content);
            let members = tool.members.iter().map(|(content, _)| content);
            tests.chain(members).chain(tool.sums.iter().map(|(content, _)| content))
        })
    }
}

struct Builder {
    reads: BTreeMap<Tool, ToolRules>,
    watches: usize,
}

impl Builder {
    fn duty(&mut self, tool: &Tool, number: usize, rule: &Rule) -> Duty {
        let condition = rule.condition.as_ref().and_then(|test| self.test(tool, Side::Args, test));
        let (bound, sum) = match &rule.kind {
            RuleKind::After(_) => (Bound::After, None),
            RuleKind::NeverAfter(_) => (Bound::Never, None),
            RuleKind::MaxCalls(calls, _) => (Bound::Calls(*calls as usize), None),
            RuleKind::MaxSum(limit, at, _) => (Bound::Sum(*limit), Some(at)),
            RuleKind::BeforeEnd(_) => (Bound::Owes, None),
        };
        let mut text = format!("{bound:?} {:?}", rule.condition.as_ref().map(|test| test.content()));
        let premises = rule
            .kind
            .premises()
            .iter()
            .map(|premise| {
                text.push_str(&described(premise));
                let watch = self.watch(premise, bound, sum);
                // Between two calls, `arg` refers to the later one: the deciding call, or the settling one.
                let own = premise.same.iter().filter_map(|pair| match bound {
                    Bound::Owes => self.member(tool, &pair.earlier),
                    _ => self.member(tool, &Member { side: Side::Args, pointer: Arc::clone(&pair.arg) }),
                });
                (watch, own.collect())
            })
            .collect();
        let content = ContentId::new(&["rule", &tool.server, &tool.name, &text, sum.map_or("", |at| at)]);
        Duty { number, content, path: rule.path.clone(), condition, bound, premises }
    }

    fn watch(&mut self, premise: &Premise, bound: Bound, sum: Option<&Arc<str>>) -> Arc<Watch> {
        let role = match bound {
            Bound::After => Role::Permits,
            Bound::Never => Role::Forbids,
            Bound::Calls(calls) => Role::Limits(calls),
            Bound::Sum(_) => Role::Limits(MAX_CALLS as usize),
            Bound::Owes => Role::Settles,
        };
        let until = if role == Role::Permits { Role::Cancels } else { Role::Lifts };
        let untils: Vec<_> = premise.until.iter().map(|until_| self.until(until_, premise.per, until)).collect();
        self.watches += 1;
        let watch = Arc::new(Watch {
            id: self.watches,
            role,
            per: premise.per,
            was: premise.was,
            within: premise.within_ms.and_then(|ms| i64::try_from(ms).ok()),
            times: premise.times as usize,
            untils,
            links: std::sync::OnceLock::new(),
            named: premise.tools.clone(),
            args: premise.same.iter().map(|pair| Arc::clone(&pair.arg)).collect(),
            within_ms: premise.within_ms,
        });
        let links = premise.tools.iter().filter_map(|tool| {
            let tests = self.tests(tool, premise.args.as_ref(), premise.answer.as_ref())?;
            let earlier = premise.same.iter().filter_map(|pair| match role {
                Role::Settles => self.member(tool, &Member { side: Side::Args, pointer: Arc::clone(&pair.arg) }),
                _ => self.member(tool, &pair.earlier),
            });
            let members = earlier.collect();
            let untils = premise
                .until
                .iter()
                .map(|until| until.same.iter().filter_map(|pair| self.member(tool, &pair.earlier)).collect());
            let untils = untils.collect();
            let sum = sum.and_then(|at| self.sum(tool, at));
            let link = Arc::new(Link { watch: Arc::clone(&watch), tests, members, sum, untils });
            let weak = Arc::downgrade(&link);
            self.reads.get_mut(tool)?.links.push(link);
            Some((tool.clone(), weak))
        });
        let links = links.collect();
        let _ = watch.links.set(links);
        watch
    }

    fn until(&mut self, until: &Until, per: Per, role: Role) -> Arc<Watch> {
        self.watches += 1;
        let watch = Arc::new(Watch {
            id: self.watches,
            role,
            per,
            was: until.was,
            within: None,
            times: 1,
            untils: Vec::new(),
            links: std::sync::OnceLock::new(),
            named: until.tools.clone(),
            args: until.same.iter().map(|pair| Arc::clone(&pair.arg)).collect(),
            within_ms: None,
        });
        let tools: Vec<_> = match until.is_other {
            true => self.reads.keys().filter(|tool| !until.tools.contains(tool)).cloned().collect(),
            false => until.tools.clone(),
        };
        let links = tools.into_iter().filter_map(|tool| {
            let tests = self.tests(&tool, until.args.as_ref(), until.answer.as_ref())?;
            let later = until
                .same
                .iter()
                .filter_map(|pair| self.member(&tool, &Member { side: Side::Args, pointer: Arc::clone(&pair.arg) }));
            let members = later.collect();
            let link = Arc::new(Link { watch: Arc::clone(&watch), tests, members, sum: None, untils: Vec::new() });
            let weak = Arc::downgrade(&link);
            self.reads.get_mut(&tool)?.links.push(link);
            Some((tool, weak))
        });
        let links = links.collect();
        let _ = watch.links.set(links);
        watch
    }

    /// Returns the positions of tests; `None` if the tool is not allowed.
    fn tests(&mut self, tool: &Tool, args: Option<&Test>, answer: Option<&Test>) -> Option<Vec<usize>> {
        self.reads.get(tool)?;
        let args = args.and_then(|test| self.test(tool, Side::Args, test));
        let answer = answer.and_then(|test| self.test(tool, Side::Answer, test));
        Some(args.into_iter().chain(answer).collect())
    }

    fn test(&mut self, tool: &Tool, side: Side, test: &Test) -> Option<usize> {
        let content = ContentId::new(&["test", &tool.server, &tool.name, side.as_str(), &test.content()]);
        let tests = &mut self.reads.get_mut(tool)?.tests;
        Some(tests.iter().position(|(known, ..)| *known == content).unwrap_or_else(|| {
            tests.push((content, side, Arc::clone(test)));
            tests.len() - 1
        }))
    }

    fn member(&mut self, tool: &Tool, member: &Member) -> Option<usize> {
        let content = ContentId::new(&["member", &tool.server, &tool.name, member.side.as_str(), &member.pointer]);
        let members = &mut self.reads.get_mut(tool)?.members;
        Some(members.iter().position(|(known, _)| *known == content).unwrap_or_else(|| {
            members.push((content, member.clone()));
            members.len() - 1
        }))
    }

    fn sum(&mut self, tool: &Tool, at: &Arc<str>) -> Option<usize> {
        let content = ContentId::new(&["sum", &tool.server, &tool.name, at]);
        let sums = &mut self.reads.get_mut(tool)?.sums;
        Some(sums.iter().position(|(known, _)| *known == content).unwrap_or_else(|| {
            sums.push((content, Arc::clone(at)));
            sums.len() - 1
        }))
    }
}

impl Side {
    fn as_str(self) -> &'static str {
        match self {
            Self::Args => "args",
            Self::Answer => "answer",
        }
    }
}

/// Returns a text that is equal for equal premises.
pub(crate) fn described(premise: &Premise) -> String {
    let test = |test: &Option<Test>| test.as_ref().map(|test| test.content());
    let Premise { tools, was, args, answer, same, within_ms, times, per, until } = premise;
    let (args, answer) = (test(args), test(answer));
    let mut text = format!(" {tools:?} {was:?} {args:?} {answer:?} {same:?} {within_ms:?} {times} {per:?}");
    for Until { tools, is_other, was, args, answer, same } in until {
        text.push_str(&format!(" {tools:?} {is_other} {was:?} {:?} {:?} {same:?}", test(args), test(answer)));
    }
    text
}
