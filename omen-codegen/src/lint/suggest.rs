//! "Did you mean": how to fix a name that is not known.

/// The most names that a help lists when none is near.
const LISTED: usize = 12;

/// How to fix `wrong`, which should be one of `known`.
pub(super) fn help<'k>(wrong: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match nearest(wrong, &known) {
        Some(name) => format!("did you mean `{name}`?"),
        None if known.is_empty() => "remove it".to_owned(),
        None => format!("use one of {}", list(&known)),
    }
}

/// The names in backticks, with commas; a long list is cut.
pub(super) fn list(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(LISTED).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > LISTED { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// The known name nearest to `wrong`, if it is near enough to be what was meant.
fn nearest<'k>(wrong: &str, known: &[&'k str]) -> Option<&'k str> {
    let folded = wrong.to_ascii_lowercase();
    known
        .iter()
        .map(|name| (strsim::osa_distance(&folded, &name.to_ascii_lowercase()), *name))
        // A third of the letters may be wrong: more, and short names all look alike.
        .filter(|(distance, name)| distance * 3 <= name.chars().count().max(3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}
