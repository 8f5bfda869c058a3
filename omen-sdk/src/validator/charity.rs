//! Root causes (D55): which findings there would not be without a packet that was rejected earlier.
//!
//! From the first packet of an episode that is rejected, a *charitable* machine judges it beside the log's own. It takes a
//! rejected packet as one that it may have been meant to be. A finding that it does not make follows from the rejected packets.
//!
//! The charitable machine is a short list of hypotheses, each a machine of its own, because one packet may have been meant in
//! several ways. A packet that the log's machine rejects and one of the hypotheses accepts is a consequence, and hypotheses that
//! refuse it are given up. So charity is as narrow as the log lets it be, and an independent second mistake is not hidden: a
//! packet that every hypothesis refuses is a root cause.
//!
//! Nothing here has an effect on a verdict. A log without a rejected packet never gets here.

mod episode;
mod finding;
mod hypothesis;
mod lenient;
mod lost;
mod repair;
mod suppose;

use std::collections::HashMap;

use foldhash::fast::RandomState;
use omen_fsm::{Machine, Verdict};
use omen_types::scalar::TextScalar as _;
use omen_types::{CorrelationId, Diagnostic, Instant, PacketFacts, PacketType, Rejected};
use serde_json::Value;

use super::options::ValidatorOptions;
use crate::finding::Cause;

pub(super) use finding::Follows;
pub(super) use lost::LostLine;

use episode::{Charity, Judged};
use finding::Ends;
use lost::LostLines;
use repair::PACKET_TYPE;

/// The charity of all episodes that need it.
#[derive(Debug, Default)]
pub(super) struct Charities {
    by_id: HashMap<Box<str>, Charity, RandomState>,
    /// Lines that may be packets of any episode.
    lost: LostLines,
    /// With so many entries, those that are not needed any more are removed.
    crowded: usize,
}

impl Charities {
    /// Whether nothing was rejected so far.
    pub(super) fn is_idle(&self) -> bool {
        self.by_id.is_empty() && self.lost.is_empty()
    }

    /// Takes notice of a packet that the episode's machine has judged, as the packet left it. Returns what follows from an earlier one.
    #[cold]
    pub(super) fn judged(
        &mut self,
        line: u64,
        facts: &PacketFacts<'_>,
        machine: &Machine,
        verdict: &Verdict,
        options: &ValidatorOptions,
    ) -> Follows {
        let id = &*facts.header.correlation_id;
        let accepted = verdict.errors().next().is_none();
        let judged = Judged { facts, machine, verdict, accepted };
        let follows = match self.by_id.get_mut(id).map(|charity| (charity.begins(line), charity)) {
            Some((true, charity)) => {
                let follows = charity.packet(line, &judged, options, &self.lost);
                if charity.is_over() {
                    self.by_id.remove(id);
                }
                follows
            }
            _ if accepted => Follows::Nothing,
            _ => {
                let mut charity = Charity::of(machine.clone());
                let follows = charity.packet(line, &judged, options, &self.lost);
                self.by_id.insert(id.into(), charity);
                follows
            }
        };
        self.lost.packet(line, id);
        follows
    }

    /// Takes notice of a line that is not a packet. `machine` returns the machine of an episode, if that has begun.
    #[cold]
    pub(super) fn broken(
        &mut self,
        line: u64,
        text: Option<&str>,
        rejected: &Rejected,
        options: &ValidatorOptions,
        machine: impl FnOnce(&str) -> Option<Machine>,
    ) {
        let id = match claimed(text, rejected) {
            Claimed::Episode(id) => id,
            Claimed::Nothing(packet_type) => return self.lost.add(LostLine { line, packet_type }),
        };
        self.make_room(line);
        if self.by_id.get(id.as_str()).is_none_or(|charity| charity.is_stale(line)) {
            let charity = machine(&id).map_or_else(|| Charity::before_the_first(line), Charity::of);
            self.by_id.insert(id.as_str().into(), charity);
        }
        if let Some(charity) = self.by_id.get_mut(id.as_str()) {
            charity.broken(line, text, rejected, options);
        }
        self.lost.packet(line, &id);
    }

    /// Takes notice of a line that may be a packet of any episode, and is reported elsewhere.
    pub(super) fn lost(&mut self, line: LostLine) {
        self.lost.add(line);
    }

    /// What follows from an earlier packet among the findings on an episode's end.
    ///
    /// `line` is the last of the stream so far.
    pub(super) fn at_end(
        &self,
        line: u64,
        id: &str,
        found: &[(Option<&str>, Diagnostic)],
        options: &ValidatorOptions,
    ) -> Ends {
        let lost = self.lost.latest(line);
        match self.by_id.get(id) {
            Some(charity) => charity.at_end(found, options, lost),
            None => Ends { causes: Vec::new(), lost },
        }
    }

    /// Takes notice of a time (see [`Machine::tick`]). Returns the cause of the findings on directives that are not really open.
    pub(super) fn tick(&mut self, id: &str, now: Instant) -> Option<(Cause, Vec<Box<str>>)> {
        self.by_id.get_mut(id).and_then(|charity| charity.tick(now))
    }

    /// Forgets an episode.
    pub(super) fn end(&mut self, id: &str) {
        self.by_id.remove(id);
    }

    /// Removes what was rejected long ago in episodes that have not begun since, when there is much of it: a line of junk must not
    /// take memory for ever. Entries that are too old are not used anyway, so it makes no difference when they are removed.
    fn make_room(&mut self, line: u64) {
        if self.by_id.len() >= self.crowded {
            self.by_id.retain(|_, charity| !charity.is_stale(line));
            self.crowded = (2 * self.by_id.len()).max(CROWDED);
        }
    }
}

/// What a rejected line says of itself, as far as it can be guessed.
pub(super) enum Claimed {
    /// Its episode.
    Episode(String),
    /// Not its episode; perhaps its type.
    Nothing(Option<PacketType>),
}

/// What a rejected line says of itself.
pub(super) fn claimed(text: Option<&str>, rejected: &Rejected) -> Claimed {
    let member = |name| match lenient::member(text?, name)? {
        Value::String(text) => Some(text),
        _ => None,
    };
    let id = || member("correlation_id").filter(|id| CorrelationId::holds(id));
    match rejected.claims.correlation_id.clone().or_else(id) {
        Some(id) => Claimed::Episode(id),
        None => Claimed::Nothing(rejected.claims.packet_type.or_else(|| repair::nearest_type(&member(PACKET_TYPE)?))),
    }
}

/// With fewer entries none is removed.
const CROWDED: usize = 1024;
