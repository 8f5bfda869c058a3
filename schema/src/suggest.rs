//! "Did you mean": the nearest of a list of names.

/// The longest text that is compared, in bytes: a pathological key must not cost quadratic time, and no name of the
/// protocol is that long.
const LONGEST: usize = 64;

/// The candidate nearest to `text`, if one is near enough to be a typing mistake. Case of letters counts nothing.
///
/// ```
/// use omen_schema::suggest::nearest;
///
/// assert_eq!(nearest("READD", ["READ", "WRITE"]), Some("READ"));
/// assert_eq!(nearest("execute", ["READ", "WRITE"]), None);
/// ```
pub fn nearest<'c>(text: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    if text.len() > LONGEST {
        return None;
    }
    let (folded, length) = (text.to_lowercase(), text.chars().count());
    // A third of the letters may be wrong or missing: with more, short names all look alike.
    let limit = |candidate: &str| (length.max(candidate.chars().count()) / 3).max(1);
    // Each letter more or less is a mistake.
    let may_be_near = |candidate: &&str| {
        !candidate.is_ascii() || !text.is_ascii() || candidate.len().abs_diff(length) <= limit(candidate)
    };
    candidates
        .into_iter()
        .filter(may_be_near)
        .map(|candidate| (strsim::osa_distance(&folded, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= limit(candidate))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}
