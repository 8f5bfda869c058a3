//! Entry filters, and reports of filter values that do not occur in the log.

use std::collections::BTreeSet;
use std::time::SystemTime;

use omen_gate::GateCode;
use omen_types::Code;
use omen_types::suggest::nearest;

use super::facts::EntryFacts;
use crate::args::AuditShowArgs;

/// The filters given on the command line, and the values in the log that each of them could match.
pub(super) struct Filters<'a> {
    args: &'a AuditShowArgs,
    since: Option<String>,
    until: Option<String>,
    tools: BTreeSet<String>,
    codes: BTreeSet<String>,
    kinds: BTreeSet<String>,
    outcomes: BTreeSet<String>,
    has_turn: bool,
    has_call: bool,
}

impl<'a> Filters<'a> {
    pub(super) fn new(args: &'a AuditShowArgs, now: SystemTime) -> Self {
        Self {
            args,
            since: args.since.as_ref().map(|when| when.text(now)),
            until: args.until.as_ref().map(|when| when.text(now)),
            tools: BTreeSet::new(),
            codes: BTreeSet::new(),
            kinds: BTreeSet::new(),
            outcomes: BTreeSet::new(),
            has_turn: false,
            has_call: false,
        }
    }

    /// Returns whether an entry passes all filters.
    pub(super) fn admit(&mut self, facts: &EntryFacts<'_>) -> bool {
        self.note(facts);
        let AuditShowArgs { turn, tool, server, call, code, kind, outcome, .. } = self.args;
        let is = |wanted: &Option<String>, found: Option<&str>| wanted.is_none() || wanted.as_deref() == found;
        let time = facts.entry.time().trim_end_matches('Z');
        is(turn, facts.entry.turn())
            && is(kind, Some(&facts.kind))
            && is(code, facts.code())
            && is(outcome, facts.outcome.as_deref())
            && server.as_deref().is_none_or(|wanted| facts.tool().is_some_and(|(server, _)| server == wanted))
            && tool.as_deref().is_none_or(|wanted| facts.is_about(wanted))
            && call.as_deref().is_none_or(|wanted| facts.is_call(wanted))
            && self.since.as_deref().is_none_or(|since| time >= since)
            && self.until.as_deref().is_none_or(|until| time < until)
    }

    /// Records the entry's values that a filter could match.
    fn note(&mut self, facts: &EntryFacts<'_>) {
        let keep = |names: &mut BTreeSet<String>, name: Option<&str>| {
            // Bounds memory if a log is flooded with names.
            if let Some(name) = name.filter(|name| names.len() < MOST && !names.contains(*name)) {
                names.insert(name.to_owned());
            }
        };
        keep(&mut self.tools, facts.tool.as_deref());
        keep(&mut self.codes, facts.code());
        keep(&mut self.kinds, Some(&facts.kind));
        keep(&mut self.outcomes, facts.outcome.as_deref());
        self.has_turn |= self.args.turn.as_deref() == facts.entry.turn();
        self.has_call |= self.args.call.as_deref().is_some_and(|wanted| facts.is_call(wanted));
    }

    /// Returns the requested values that do not occur in the log, regardless of the other filters.
    pub(super) fn missing(&self) -> Vec<String> {
        let AuditShowArgs { turn, tool, server, call, code, kind, outcome, .. } = self.args;
        let servers: BTreeSet<_> = self.tools.iter().filter_map(|tool| Some(tool.split_once('/')?.0)).collect();
        let names: BTreeSet<_> = self.tools.iter().filter_map(|tool| Some(tool.split_once('/')?.1)).collect();
        let whole: BTreeSet<_> = self.tools.iter().map(String::as_str).collect();
        let mut missing = Vec::new();
        let mut look = |what: &str, wanted: &Option<String>, found: BTreeSet<&str>| {
            if let Some(wanted) = wanted.as_deref().filter(|wanted| !found.contains(wanted)) {
                missing.push(format!("no entry has the {what} `{wanted}`{}", near(wanted, &found)));
            }
        };
        look("server", server, servers);
        let tools = if tool.as_ref().is_some_and(|tool| tool.contains('/')) { whole } else { names };
        look("tool", tool, tools);
        look("kind", kind, set(&self.kinds));
        look("outcome", outcome, set(&self.outcomes));
        match code.as_deref().map(|code| (code, code.parse::<GateCode>())) {
            // Spelled as in the log.
            Some((code, Ok(known))) if known.as_str() == code => look("code", &Some(code.to_owned()), set(&self.codes)),
            Some((code, Ok(known))) => missing.push(format!("no entry has the code `{code}`; did you mean `{known}`?")),
            Some((code, Err(unknown))) => match code.parse::<Code>() {
                // Calls inside an episode are also refused under the codes of the protocol.
                Ok(known) if known.as_str() == code => look("code", &Some(code.to_owned()), set(&self.codes)),
                Ok(known) => missing.push(format!("no entry has the code `{code}`; did you mean `{known}`?")),
                Err(_) => missing.push(unknown.to_string()),
            },
            None => {}
        }
        for (what, wanted, has) in [("turn", turn, self.has_turn), ("call", call, self.has_call)] {
            if let Some(wanted) = wanted.as_deref().filter(|_| !has) {
                missing.push(format!("no entry has the {what} `{wanted}`"));
            }
        }
        missing
    }
}

fn set(names: &BTreeSet<String>) -> BTreeSet<&str> {
    names.iter().map(String::as_str).collect()
}

/// Suggests a similar name, or lists the existing ones.
fn near(wanted: &str, found: &BTreeSet<&str>) -> String {
    match nearest(wanted, found.iter().copied()) {
        Some(near) => format!("; did you mean `{near}`?"),
        None if (1..=FEW).contains(&found.len()) => {
            let names: Vec<_> = found.iter().map(|name| format!("`{name}`")).collect();
            format!("; the log has {}", names.join(", "))
        }
        None => String::new(),
    }
}

/// Maximum number of recorded names of a kind.
const MOST: usize = 4096;

/// Maximum number of listed names.
const FEW: usize = 12;
