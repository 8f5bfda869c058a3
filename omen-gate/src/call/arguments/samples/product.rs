//! Product automaton: which regular expressions match a text at the same time, and the shortest texts for each combination.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, VecDeque};

use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, Config, DFA};
use regex_automata::util::start;
use regex_automata::{Anchored, MatchKind};

/// Combination of results for a text: which expressions accept it, and the range of its length.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TextResult {
    pub(super) accepted: Vec<bool>,
    /// Number of thresholds that the length reaches.
    pub(super) length: usize,
}

/// Texts grouped by the results of expressions, which must be anchored at both ends.
pub(super) struct Product {
    /// Groups of bytes that all automata treat alike, the most readable bytes first.
    groups: Vec<Vec<u8>>,
    /// Next state, for each state and group.
    next: Vec<Vec<Option<usize>>>,
    /// States in which a text can end, by its result.
    ends: BTreeMap<TextResult, Vec<usize>>,
}

/// Maximum number of states.
const MAX_STATES: usize = 10_000;
/// Maximum number of combinations of results.
const MAX_RESULTS: usize = 512;
/// Maximum number of prefixes tried for one result.
const MAX_TRIED: usize = 200_000;
/// Maximum memory of one automaton in bytes.
const MAX_MEMORY: usize = 8 << 20;

impl Product {
    /// Creates the product. Text lengths are compared with the thresholds.
    ///
    /// # Errors
    /// If the product cannot be built, with the reason.
    pub(super) fn new(expressions: &[String], thresholds: &BTreeSet<u32>) -> Result<Self, String> {
        let too_large = || format!("the patterns of a member have more than {MAX_STATES} states in total");
        // The first automaton accepts every text and reaches a dead state on bytes that are not UTF-8.
        let all = std::iter::once(r"(?s:\A.*\z)").chain(expressions.iter().map(String::as_str));
        let mut automata = all.map(Automaton::new).collect::<Result<Vec<_>, _>>()?;
        let mut groups: BTreeMap<Vec<u8>, (usize, Vec<u8>)> = BTreeMap::new();
        for (place, byte) in readable_first().enumerate() {
            let mut key: Vec<_> = automata.iter().map(|automaton| automaton.dfa.byte_classes().get(byte)).collect();
            key.push(u8::from(continues_character(byte)));
            groups.entry(key).or_insert_with(|| (place, Vec::new())).1.push(byte);
        }
        let mut groups: Vec<_> = groups.into_values().collect();
        groups.sort();
        let groups: Vec<_> = groups.into_iter().map(|(_, bytes)| bytes).collect();

        let longest = thresholds.last().copied().unwrap_or(0);
        let start = automata.iter_mut().map(Automaton::start).collect::<Result<Vec<_>, _>>()?;
        let mut known = HashMap::from([((start.clone(), 0), 0)]);
        let (mut ahead, mut next, mut ends) = (VecDeque::from([(start, 0)]), Vec::new(), BTreeMap::new());
        while let Some((state, length)) = ahead.pop_front() {
            let mut accepted = Vec::with_capacity(automata.len());
            for (automaton, id) in automata.iter_mut().zip(&state) {
                accepted.push(automaton.accepts(*id).ok_or_else(too_large)?);
            }
            // A text cannot end inside a character.
            if accepted.first() == Some(&true) {
                let accepted = accepted.split_off(1);
                let result = TextResult { accepted, length: thresholds.iter().filter(|at| **at <= length).count() };
                ends.entry(result).or_insert_with(Vec::new).push(next.len());
            }
            let mut row = Vec::with_capacity(groups.len());
            for byte in groups.iter().filter_map(|bytes| bytes.first().copied()) {
                let mut to = Vec::with_capacity(state.len());
                for (automaton, id) in automata.iter_mut().zip(&state) {
                    to.push(automaton.next(*id, byte).ok_or_else(too_large)?);
                }
                if to.first().is_none_or(LazyStateID::is_dead) {
                    row.push(None);
                    continue;
                }
                let longer = (length + u32::from(!continues_character(byte))).min(longest);
                let fresh = known.len();
                let index = *known.entry((to.clone(), longer)).or_insert(fresh);
                if index == fresh {
                    ahead.push_back((to, longer));
                }
                row.push(Some(index));
            }
            next.push(row);
            if known.len() > MAX_STATES {
                return Err(too_large());
            }
        }
        if ends.len() > MAX_RESULTS {
            return Err(format!("the patterns of a member have more than {MAX_RESULTS} combined results"));
        }
        Ok(Self { groups, next, ends })
    }

    pub(super) fn results(&self) -> impl Iterator<Item = &TextResult> {
        self.ends.keys()
    }

    /// Returns the `wanted` shortest texts with a result, or all texts if there are fewer.
    pub(super) fn shortest(&self, result: &TextResult, wanted: usize) -> Result<Vec<String>, String> {
        let ends = self.ends.get(result).map_or(&[][..], Vec::as_slice);
        let distances = self.distances(ends);
        let distance = |state: usize| distances.get(state).copied().flatten();
        // Prefixes: the state reached, and the shorter prefix and the byte that it consists of.
        let mut begun: Vec<(usize, Option<(usize, u8)>)> = vec![(0, None)];
        let mut ahead = BinaryHeap::new();
        ahead.extend(distance(0).map(|left| Reverse((left, left, 0))));
        let mut found = Vec::new();
        while let Some(Reverse((total, left, place))) = ahead.pop() {
            let Some((state, _)) = begun.get(place).copied() else { break };
            if left == 0 {
                found.push(text(&begun, place));
                if found.len() == wanted {
                    break;
                }
            }
            let length = total - left + 1;
            for (bytes, to) in self.groups.iter().zip(self.next.get(state).into_iter().flatten()) {
                let Some((to, left)) = to.and_then(|to| Some((to, distance(to)?))) else { continue };
                // Taking as many bytes of a group as texts are wanted already leads to enough texts.
                for byte in bytes.iter().take(wanted) {
                    ahead.push(Reverse((length + left, left, begun.len())));
                    begun.push((to, Some((place, *byte))));
                }
            }
            if begun.len() > MAX_TRIED {
                return Err("the patterns of a member need texts that are too long".to_owned());
            }
        }
        Ok(found)
    }

    /// Returns the number of bytes from each state to the nearest of the given states.
    fn distances(&self, ends: &[usize]) -> Vec<Option<usize>> {
        let mut before = vec![Vec::new(); self.next.len()];
        for (state, row) in self.next.iter().enumerate() {
            for to in row.iter().flatten() {
                before.get_mut(*to).into_iter().for_each(|states: &mut Vec<usize>| states.push(state));
            }
        }
        let mut distances = vec![None; self.next.len()];
        let mut ahead: VecDeque<_> = ends.iter().map(|end| (*end, 0)).collect();
        while let Some((state, distance)) = ahead.pop_front() {
            let Some(place) = distances.get_mut(state).filter(|known| known.is_none()) else { continue };
            *place = Some(distance);
            ahead.extend(before.get(state).into_iter().flatten().map(|state| (*state, distance + 1)));
        }
        distances
    }
}

/// Returns the text of a prefix. The first automaton accepts it, so its bytes are UTF-8.
fn text(begun: &[(usize, Option<(usize, u8)>)], mut place: usize) -> String {
    let mut bytes = Vec::new();
    while let Some((_, Some((before, byte)))) = begun.get(place) {
        bytes.push(*byte);
        place = *before;
    }
    bytes.reverse();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn continues_character(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

/// Iterates over all bytes, the most readable first.
fn readable_first() -> impl Iterator<Item = u8> {
    let first = (b'a'..=b'z').chain(b'0'..=b'9').chain(b'A'..=b'Z').chain(b'!'..=b'~').chain([b' ']);
    let mut known = [false; 256];
    first.chain(0..=u8::MAX).filter(move |byte| {
        known.get_mut(usize::from(*byte)).is_some_and(|is_known| !std::mem::replace(is_known, true))
    })
}

/// Automaton of one expression, with the states visited so far.
struct Automaton {
    dfa: DFA,
    cache: Cache,
}

impl Automaton {
    fn new(expression: &str) -> Result<Self, String> {
        // States are stable as long as the cache is never cleared.
        let config = Config::new()
            .match_kind(MatchKind::All)
            .cache_capacity(MAX_MEMORY)
            .skip_cache_capacity_check(false)
            .minimum_cache_clear_count(Some(0));
        let dfa = DFA::builder().configure(config).build(expression);
        let dfa = dfa.map_err(|_| "a pattern is too large, or has a word boundary beyond ASCII (`\\b`)".to_owned())?;
        let cache = dfa.create_cache();
        Ok(Self { dfa, cache })
    }

    fn start(&mut self) -> Result<LazyStateID, String> {
        let config = start::Config::new().anchored(Anchored::Yes);
        self.dfa.start_state(&mut self.cache, &config).map_err(|error| error.to_string())
    }

    fn next(&mut self, state: LazyStateID, byte: u8) -> Option<LazyStateID> {
        self.dfa.next_state(&mut self.cache, state, byte).ok()
    }

    fn accepts(&mut self, state: LazyStateID) -> Option<bool> {
        self.dfa.next_eoi_state(&mut self.cache, state).ok().map(|end| end.is_match())
    }
}
