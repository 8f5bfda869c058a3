//! Zones: sets of ages of facts, as bounds on them and on their differences. If the time of day matters, the first clock is the time
//! since the first expiry of a grant, which may be negative.

/// Bound that excludes nothing.
const NO_BOUND: i64 = i64::MAX / 4;

/// Closed difference-bound matrix in whole milliseconds. Clock 0 is always 0; the others are ages.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Zone {
    size: usize,
    /// Entry `[i][j]` is the least upper bound of clock `i` minus clock `j`.
    bounds: Vec<i64>,
}

impl Zone {
    /// Creates a zone without clocks.
    pub(super) fn new() -> Self {
        Self { size: 1, bounds: vec![0] }
    }

    /// Creates the zone with one clock that may show any time from `-before` on.
    pub(super) fn with_clock_from(before: i64) -> Self {
        Self { size: 2, bounds: vec![0, before, NO_BOUND, 0] }
    }

    /// Whether all ages of another zone are in this one.
    pub(super) fn includes(&self, other: &Self) -> bool {
        self.size == other.size && self.bounds.iter().zip(&other.bounds).all(|(own, other)| own >= other)
    }

    fn at(&self, i: usize, j: usize) -> i64 {
        self.bounds.get(i * self.size + j).copied().unwrap_or(NO_BOUND)
    }

    fn set(&mut self, i: usize, j: usize, bound: i64) {
        if let Some(place) = self.bounds.get_mut(i * self.size + j) {
            *place = bound;
        }
    }

    /// Lets any amount of time pass.
    pub(super) fn elapse(&mut self) {
        (1..self.size).for_each(|clock| self.set(clock, 0, NO_BOUND));
    }

    /// Adds a clock that is 0 now, and returns its number.
    pub(super) fn start(&mut self) -> usize {
        let new = self.size;
        let mut larger = Self { size: new + 1, bounds: vec![0; (new + 1) * (new + 1)] };
        for i in 0..new {
            for j in 0..new {
                larger.set(i, j, self.at(i, j));
            }
            larger.set(i, new, self.at(i, 0));
            larger.set(new, i, self.at(0, i));
        }
        *self = larger;
        new
    }

    /// Returns the zone restricted to some clocks, in this order.
    pub(super) fn keep(&self, clocks: &[usize]) -> Self {
        let kept: Vec<_> = std::iter::once(0).chain(clocks.iter().copied()).collect();
        let bounds = kept.iter().flat_map(|i| kept.iter().map(|j| self.at(*i, *j)));
        Self { size: kept.len(), bounds: bounds.collect() }
    }

    /// Returns the ages below, or not below, a window; `None` if there are none.
    pub(super) fn with(&self, clock: usize, window: i64, is_below: bool) -> Option<Self> {
        let (i, j, bound) = if is_below { (clock, 0, window - 1) } else { (0, clock, -window) };
        if self.at(i, j) <= bound {
            return Some(self.clone());
        }
        if self.at(j, i).saturating_add(bound) < 0 {
            return None;
        }
        let mut tighter = self.clone();
        for a in 0..self.size {
            for b in 0..self.size {
                let (before, after) = (self.at(a, i), self.at(j, b));
                if before < NO_BOUND && after < NO_BOUND && before + bound + after < tighter.at(a, b) {
                    tighter.set(a, b, before + bound + after);
                }
            }
        }
        Some(tighter)
    }
}
