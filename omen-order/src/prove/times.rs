//! Times of a sequence of calls: the earliest that meet all bounds of its path.

/// Bound on the age of one call at the time of a later one.
#[derive(Clone, Copy, Debug)]
pub(super) struct AgeBound {
    /// Number of the earlier call, or [`FIRST_EXPIRY`].
    pub(super) earlier: usize,
    /// Index of the later call.
    pub(super) later: usize,
    pub(super) window: i64,
    /// Whether the age is below the window.
    pub(super) is_below: bool,
}

/// Place of the first time at which grants expire, in place of an earlier call.
pub(super) const FIRST_EXPIRY: usize = usize::MAX;

/// Times in milliseconds by which calls are made before an expiry rather than just before it, as far as their rules permit.
const MARGINS: [i64; 3] = [60_000, 1000, 1];

/// Returns the earliest times of `calls` calls, and after them that of the first expiry, which is at `first_expiry` milliseconds
/// since 1970. The zone that the bounds come from is not empty, so there is a solution.
pub(super) fn earliest(calls: usize, bounds: &[AgeBound], first_expiry: i64) -> Vec<i64> {
    let mut times = Vec::new();
    for margin in MARGINS {
        let sooner = bounds.iter().map(|bound| {
            let is_before = bound.earlier == FIRST_EXPIRY && bound.is_below;
            AgeBound { window: bound.window - if is_before { margin - 1 } else { 0 }, ..*bound }
        });
        let sooner: Vec<_> = sooner.collect();
        times = solved(calls, &sooner);
        let start = times.first().zip(times.last()).map_or(0, |(first, expiry)| first_expiry + first - expiry);
        if start >= 0 && sooner.iter().all(|bound| bound.holds(calls, &times)) {
            break;
        }
    }
    times
}

impl AgeBound {
    fn holds(&self, calls: usize, times: &[i64]) -> bool {
        let (from, to) = (times.get(self.earlier.min(calls)), times.get(self.later));
        from.zip(to).is_none_or(|(from, to)| (to - from < self.window) == self.is_below)
    }
}

fn solved(calls: usize, bounds: &[AgeBound]) -> Vec<i64> {
    let mut times = vec![0i64; calls + 1];
    // Longest paths: each pass settles at least one more time.
    for _ in 0..=calls + 1 {
        let mut previous = 0;
        for time in times.iter_mut().take(calls) {
            *time = (*time).max(previous);
            previous = *time;
        }
        for AgeBound { earlier, later, window, is_below } in bounds {
            let earlier = (*earlier).min(calls);
            let (Some(from), Some(to)) = (times.get(earlier).copied(), times.get(*later).copied()) else { continue };
            let (place, least) = match is_below {
                true => (earlier, to - (window - 1)),
                false => (*later, from + window),
            };
            if let Some(time) = times.get_mut(place) {
                *time = (*time).max(least);
            }
        }
    }
    times
}
