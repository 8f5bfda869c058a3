//! "Did you mean": how to fix a name that is not known.

use omen_schema::suggest::nearest;

/// The most names that a help lists when none is near.
const LISTED: usize = 12;

/// How to fix `wrong`, which should be one of `known`.
pub(super) fn help<'k>(wrong: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match nearest(wrong, known.iter().copied()) {
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
