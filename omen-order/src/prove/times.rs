//! Times of a sequence of calls: the earliest that meet all bounds of its path.

/// Bound on the age of one call at the time of a later one.
#[derive(Clone, Copy, Debug)]
pub(super) struct AgeBound {
    /// Index of the earlier call.
    pub(super) earlier: usize,
    /// Index of the later call.
    pub(super) later: usize,
    pub(super) window: i64,
    /// Whether the age is below the window.
    pub(super) is_below: bool,
}

/// Returns the earliest times of `calls` calls. The zone that the bounds come from is not empty, so there is a solution.
pub(super) fn earliest(calls: usize, bounds: &[AgeBound]) -> Vec<i64> {
    let mut times = vec![0i64; calls];
    // Longest paths: each pass settles at least one more call.
    for _ in 0..=calls {
        let mut previous = 0;
        for time in &mut times {
            *time = (*time).max(previous);
            previous = *time;
        }
        for AgeBound { earlier, later, window, is_below } in bounds {
            let (Some(from), Some(to)) = (times.get(*earlier).copied(), times.get(*later).copied()) else { continue };
            let (place, least) = match is_below {
                true => (*earlier, to - (window - 1)),
                false => (*later, from + window),
            };
            if let Some(time) = times.get_mut(place) {
                *time = (*time).max(least);
            }
        }
    }
    times
}
