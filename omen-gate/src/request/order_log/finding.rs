//! Findings about the calls in a log.

use omen_order::{CallRelation, Cause, Finding, HowEnded, JudgedCall, RelatedCall, Verdict};

use crate::base::{Blocked, GateCode};

/// Verdict of the order rules on a call in the log.
#[derive(Debug)]
pub struct JudgedEntry {
    /// Number of the intent, or of the decision that refused the call.
    pub entry: u64,
    /// Whether the call was refused.
    pub is_refused: bool,
    pub(crate) call: JudgedCall,
}

/// Call in a log that breaks an order rule, or for which that cannot be decided.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OrderFinding {
    /// Number of the call's entry.
    pub entry: u64,
    /// Code of the rule.
    pub code: GateCode,
    /// Whether the log does not contain enough data for a verdict.
    pub is_undecided: bool,
    /// Path of the rule in the configuration, such as `allow[1].after[0]`; `None` if the call itself cannot be judged.
    pub rule: Option<String>,
    /// Description of the violation.
    pub message: String,
    /// Description of the correct behaviour.
    pub help: String,
    /// Earlier calls related to the finding.
    pub related: Vec<RelatedEntry>,
    /// Entry of a call that itself broke a rule and without which this call would not have.
    pub follows_from: Option<u64>,
}

/// Earlier call related to a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelatedEntry {
    /// Number of the call's entry.
    pub entry: u64,
    /// Relation of the call to the finding.
    pub what: &'static str,
}

impl OrderFinding {
    pub(super) fn of_call(judged: &JudgedEntry) -> Option<Self> {
        let Verdict::Refuse(refusal) = &judged.call.verdict else { return None };
        let text = judged.call.text()?;
        // Data missing only from the memory of this judgement says nothing about the call.
        let is_undecided = refusal.cause.is_undecided() || refusal.cause == Cause::Memory;
        let related = judged.call.related.iter().rev().take(RELATED).rev();
        Some(Self {
            entry: judged.entry,
            code: refusal.code.as_str().parse().unwrap_or(GateCode::O6),
            is_undecided,
            rule: refusal.rule.as_ref().map(|(.., path)| path.clone()).filter(|path| !path.is_empty()),
            message: text.message,
            help: text.help,
            related: related.filter_map(RelatedEntry::from_call).collect(),
            follows_from: judged.call.root,
        })
    }

    /// Builds the finding about a debt, which is noticed at an entry or at the end of the log.
    pub(super) fn of_debt(debt: &Finding, root: Option<u64>, at: Option<u64>) -> Self {
        let text = debt.text();
        let entry = debt.owed.opener.1.unwrap_or_default();
        let noticed = match debt.how {
            HowEnded::Ended => "ends the session or turn",
            HowEnded::Overdue => "is the first one after the deadline",
        };
        Self {
            entry,
            code: GateCode::O4,
            is_undecided: debt.is_uncertain,
            rule: Some(debt.path.clone()).filter(|path| !path.is_empty()),
            message: text.message,
            help: text.help,
            related: at.into_iter().map(|entry| RelatedEntry { entry, what: noticed }).collect(),
            follows_from: root.filter(|root| *root != entry),
        }
    }

    /// Returns a refusal with the same texts.
    pub(crate) fn blocked(self) -> Blocked {
        Blocked::new(self.code, self.message, self.help)
    }
}

impl JudgedEntry {
    /// Returns the finding about the call; `None` if the rules allow it.
    #[must_use]
    pub fn finding(&self) -> Option<OrderFinding> {
        OrderFinding::of_call(self)
    }

    /// Returns whether the rules certainly allow the call.
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        matches!(self.call.verdict, Verdict::Allow { .. })
    }
}

impl RelatedEntry {
    fn from_call(call: &RelatedCall) -> Option<Self> {
        let what = match call.relation {
            CallRelation::Nearest => "comes closest to the premise, but does not count",
            CallRelation::Cancels => "cancels the premise",
            CallRelation::Forbids => "forbids the call",
            CallRelation::Counts => "counts for the limit",
            CallRelation::Runs => "still ran",
            CallRelation::Unknown => "was not recorded in enough detail",
        };
        Some(Self { entry: call.entry?, what })
    }
}

/// Maximum number of earlier calls named in a finding; the latest ones are kept.
const RELATED: usize = 8;
