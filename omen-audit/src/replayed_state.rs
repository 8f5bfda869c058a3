//! State replayed from a log, which must persist across restarts (PG-6, R2, G2). Breakers are kept only in memory: the
//! log does not record whether a tool works (R1, D73).
//!
//! The state is collected entry by entry while the log is verified. Its size depends on what is still relevant, not on
//! the size of the log: 16 bytes for each directive that had its call, and little else.

mod recent_calls;

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

pub use self::recent_calls::{RecentCalls, SESSION, TURN_CALLS, USER_TURN};
use crate::chain::entry::{Entry, Kind, Label, OwnKind};
use omen_base::canonical;

/// State replayed from a log.
#[derive(Clone, Debug, Default)]
pub struct ReplayedState {
    /// Calls with an intent but no outcome, by turn and hash.
    open: BTreeMap<(String, String), OpenCall>,
    /// Directives that have had their call. Sorted once the log has been read.
    called: Vec<Fingerprint>,
    /// Failures of turns that have not ended.
    budgets: BTreeMap<Fingerprint, Failures>,
    /// Revoked grants of the configuration, by content.
    revoked: BTreeSet<Fingerprint>,
    /// Grants of the configuration in the current run of a gate, by id.
    given: BTreeMap<u64, GivenGrant>,
    /// Uses taken of the configuration's counted grants, by grant content.
    spent: BTreeMap<Fingerprint, u64>,
    /// Calls that count towards limits.
    recent: RecentCalls,
    /// The `order` fields of entries, for the order rules.
    order: Vec<OrderRecord>,
    /// Latest time of any entry. The last entry may be earlier, because the clock may have been set back.
    latest: Option<SystemTime>,
}

/// Call in doubt: the gate recorded its intent and died before the outcome was known, so the call may have run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InDoubt {
    /// Number of the intent in the log.
    pub sequence: u64,
    /// Time of the intent.
    pub time: String,
    /// Turn of the call.
    pub turn: String,
    /// Tool, as `server/tool`.
    pub tool: String,
    /// Hash of the tool and arguments.
    pub call: String,
    /// Directive, if an episode requested the call.
    pub packet_id: Option<String>,
    /// Episode of the directive.
    pub correlation_id: Option<String>,
}

/// Data in an entry for the order rules: its member `order`, as JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OrderRecord {
    /// Number of the entry.
    pub sequence: u64,
    /// Time of the entry.
    pub time: SystemTime,
    /// JSON text.
    pub order: Box<str>,
}

/// Member of an entry that holds its data for the order rules.
const ORDER: &str = "order";

/// Grant of the configuration.
#[derive(Clone, Copy, Debug)]
struct GivenGrant {
    grant: Fingerprint,
    /// Whether the grant has a limited number of uses.
    counted: bool,
}

#[derive(Clone, Debug)]
struct OpenCall {
    doubt: InDoubt,
    /// Turn in which a failure of the call counts: the user's, if the call is part of one.
    counted_turn: String,
    directive: Option<Fingerprint>,
}

/// Failures of a turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failures {
    /// Number of failures so far.
    pub failures: u32,
    /// Number of failures since the last success.
    pub in_a_row: u32,
    /// Class of the last failure.
    pub last: String,
}

/// Class recorded for a call whose caller went away.
const CANCELLED: &str = "cancelled";

/// First half of a SHA-256 hash.
type Fingerprint = u128;

impl ReplayedState {
    /// Replays the next entry.
    pub(super) fn add(&mut self, entry: &Entry) {
        self.latest = self.latest.max(humantime::parse_rfc3339(&entry.time).ok());
        match entry.kind {
            // Grant ids are renumbered in each run.
            Label::Own(OwnKind::Opened | OwnKind::Repaired) => self.given.clear(),
            Label::Own(OwnKind::Rotated | OwnKind::Continued) => {}
            Label::Record(kind) => self.record(kind, entry),
        }
    }

    fn record(&mut self, kind: Kind, entry: &Entry) {
        let Entry { data, turn: Some(turn), .. } = entry else { return };
        if let (Some(order), Ok(time)) = (data.get(ORDER), humantime::parse_rfc3339(&entry.time)) {
            self.order.push(OrderRecord { sequence: entry.sequence, time, order: order.to_string().into() });
        }
        match kind {
            Kind::Grant => self.granted(data),
            Kind::Revocation => self.add_revocation(data),
            Kind::Intent => self.add_intent(turn, entry),
            Kind::Outcome => self.add_outcome(turn, entry),
            Kind::Turn if text(data, "outcome") == Some("finished") => {
                self.budgets.remove(&fingerprint(&[turn]));
                self.recent.end_turn(turn);
            }
            Kind::Turn if text(data, "outcome") == Some("over") => self.recent.end_turn(turn),
            Kind::Turn | Kind::Decision | Kind::Confirmation | Kind::Policy | Kind::Bypass => {}
        }
    }

    fn granted(&mut self, data: &Map<String, Value>) {
        for grant in data.get("grants").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object) {
            if let (Some("config"), Some(id)) = (text(grant, "source"), grant.get("id").and_then(Value::as_u64)) {
                let mut grant = grant.clone();
                grant.remove("id");
                let counted = grant.contains_key("uses");
                self.given.extend(grant_fingerprint(&grant).map(|grant| (id, GivenGrant { grant, counted })));
            }
        }
    }

    /// Replays a revocation by the operator. If grants were revoked because a new configuration dropped them, the entry
    /// names no tool: such grants do not count as revoked, and may be granted again with all their uses.
    fn add_revocation(&mut self, data: &Map<String, Value>) {
        let grants = ids(data).filter_map(|id| self.given.get(&id)).map(|given| given.grant);
        if data.contains_key("tool") {
            self.revoked.extend(grants);
        } else {
            for grant in grants {
                self.revoked.remove(&grant);
                self.spent.remove(&grant);
            }
        }
    }

    /// Counts a use of a grant. Uses are taken before the intent is written, and are not returned whatever the outcome.
    fn add_uses(&mut self, data: &Map<String, Value>) {
        for given in ids(data).filter_map(|id| self.given.get(&id)).filter(|given| given.counted) {
            let spent = self.spent.entry(given.grant).or_default();
            *spent = spent.saturating_add(1);
        }
    }

    fn add_intent(&mut self, turn: &str, entry: &Entry) {
        let data = &entry.data;
        let Some(call) = text(data, "call") else { return };
        let name = |member| data.get("tool").and_then(|tool| tool.get(member)).and_then(Value::as_str);
        let (server, tool) = (name("server").unwrap_or_default(), name("tool").unwrap_or_default());
        let counted_turn = text(data, USER_TURN).unwrap_or(turn);
        let open = OpenCall {
            counted_turn: counted_turn.to_owned(),
            doubt: InDoubt {
                sequence: entry.sequence,
                time: entry.time.clone(),
                turn: turn.to_owned(),
                tool: format!("{server}/{tool}"),
                call: call.to_owned(),
                packet_id: entry.packet_id.clone(),
                correlation_id: entry.correlation_id.clone(),
            },
            directive: entry.packet_id.as_deref().map(|packet| fingerprint(&[turn, packet])),
        };
        self.recent.add_call((server, tool), counted_turn, &entry.time, data);
        self.add_uses(data);
        self.open.insert((turn.to_owned(), call.to_owned()), open);
    }

    fn add_outcome(&mut self, turn: &str, entry: &Entry) {
        let data = &entry.data;
        let Some(call) = text(data, "call") else { return };
        let open = self.open.remove(&(turn.to_owned(), call.to_owned()));
        let turn = open.as_ref().map_or(turn, |open| &open.counted_turn);
        // A call that a rule stopped before it was made does not count.
        if text(data, "ran") == Some("no") && !data.contains_key("answer") {
            return;
        }
        self.called.extend(open.as_ref().and_then(|open| open.directive));
        match data.get("class") {
            Some(Value::String(class)) => self.failed(turn, class),
            Some(_) => {
                if let Some(failures) = self.budgets.get_mut(&fingerprint(&[turn])) {
                    failures.in_a_row = 0;
                }
            }
            // Cancelled by a rule: neither the tool nor the turn failed.
            None => {}
        }
    }

    fn failed(&mut self, turn: &str, class: &str) {
        let failures = self.budgets.entry(fingerprint(&[turn])).or_default();
        failures.failures += 1;
        failures.in_a_row += 1;
        class.clone_into(&mut failures.last);
    }

    /// Finishes the replay. Each call in doubt may have run, and counts as a failure of its turn, as if its caller had
    /// gone away.
    pub(super) fn end(&mut self) {
        let open: Vec<_> = self.open.values().map(|open| (open.counted_turn.clone(), open.directive)).collect();
        for (turn, directive) in open {
            self.called.extend(directive);
            self.failed(&turn, CANCELLED);
        }
        self.called.sort_unstable();
        self.called.dedup();
        self.called.shrink_to_fit();
    }

    /// Returns the calls in doubt, in log order.
    pub fn in_doubt(&self) -> Vec<&InDoubt> {
        let mut all: Vec<_> = self.open.values().map(|open| &open.doubt).collect();
        all.sort_by_key(|doubt| doubt.sequence);
        all
    }

    /// Returns the call in doubt that has this hash and satisfies a predicate.
    pub fn doubt(&self, call: &str, holds: impl Fn(&InDoubt) -> bool) -> Option<&InDoubt> {
        // There are few of them at most: calls in progress when a gate died.
        self.open.values().map(|open| &open.doubt).find(|doubt| doubt.call == call && holds(doubt))
    }

    /// Returns whether a directive has had its call.
    pub fn was_called(&self, turn: &str, packet_id: &str) -> bool {
        self.called.binary_search(&fingerprint(&[turn, packet_id])).is_ok()
    }

    /// Returns the failures of a turn, if it has any.
    pub fn failures(&self, turn: &str) -> Option<&Failures> {
        self.budgets.get(&fingerprint(&[turn]))
    }

    /// Returns the latest time of an entry, if the log has any.
    pub fn latest(&self) -> Option<SystemTime> {
        self.latest
    }

    /// Returns the data of all entries for the order rules, in log order.
    pub fn order(&self) -> &[OrderRecord] {
        &self.order
    }

    /// Returns the calls that count towards limits.
    pub fn recent(&self) -> &RecentCalls {
        &self.recent
    }

    /// Returns the number of uses taken of a grant of the configuration, identified by its members.
    pub fn spent(&self, grant: &Map<String, Value>) -> u64 {
        grant_fingerprint(grant).and_then(|grant| self.spent.get(&grant).copied()).unwrap_or_default()
    }

    /// Returns whether a grant of the configuration, identified by its members, was revoked.
    pub fn is_revoked(&self, grant: &Map<String, Value>) -> bool {
        grant_fingerprint(grant).is_some_and(|grant| self.revoked.contains(&grant))
    }
}

/// Iterates over the ids of the grants in an entry.
fn ids(data: &Map<String, Value>) -> impl Iterator<Item = u64> {
    data.get("grants").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_u64)
}

fn grant_fingerprint(grant: &Map<String, Value>) -> Option<Fingerprint> {
    let text = canonical::write(grant).ok()?;
    Some(first_half(&Sha256::digest(text)))
}

fn text<'d>(data: &'d Map<String, Value>, member: &str) -> Option<&'d str> {
    data.get(member).and_then(Value::as_str)
}

/// Returns the fingerprint of names, joined with a separator that occurs in no name.
fn fingerprint(names: &[&str]) -> Fingerprint {
    let mut hash = Sha256::new();
    for name in names {
        hash.update(name.as_bytes());
        hash.update([0]);
    }
    first_half(&hash.finalize())
}

fn first_half(hash: &[u8]) -> Fingerprint {
    hash.iter().take(16).fold(0, |all, byte| (all << 8) | Fingerprint::from(*byte))
}
