//! "Did you mean": the nearest of a list of names.

/// The candidate nearest to `text`, if one is near enough to be a typing mistake.
pub fn nearest<'c>(text: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    // A pathological key must not cost quadratic time; no name of the protocol is that long.
    if text.len() > 64 {
        return None;
    }
    let limit = (text.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (strsim::osa_distance(&text.to_lowercase(), &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}
