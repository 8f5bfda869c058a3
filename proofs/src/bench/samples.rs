//! Measurements, round by round.

use std::collections::BTreeMap;

/// Values by measure, one per round.
#[derive(Debug)]
pub(super) struct Samples<M>(BTreeMap<M, Vec<f64>>);

impl<M> Default for Samples<M> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<M: Ord> Samples<M> {
    pub(super) fn add(&mut self, measure: M, value: f64) {
        self.0.entry(measure).or_default().push(value);
    }

    pub(super) fn median(&self, measure: M) -> f64 {
        median(self.values(&measure).to_vec())
    }

    /// Returns one measure divided by another: the median over the rounds, in each of which both were taken in quick
    /// succession.
    pub(super) fn ratio(&self, measure: M, base: M) -> f64 {
        median(self.values(&measure).iter().zip(self.values(&base)).map(|(value, base)| value / base).collect())
    }

    fn values(&self, measure: &M) -> &[f64] {
        self.0.get(measure).map_or(&[], Vec::as_slice)
    }
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_unstable_by(f64::total_cmp);
    let middle = |at: usize| all.get(at).copied().unwrap_or(f64::NAN);
    let half = all.len() / 2;
    if all.len() % 2 == 1 { middle(half) } else { f64::midpoint(middle(half.wrapping_sub(1)), middle(half)) }
}
