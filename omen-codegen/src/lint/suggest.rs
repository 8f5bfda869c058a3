//! "Did you mean": help for unknown names.

use omen_schema::suggest::nearest;

/// Maximum number of names that the help lists if none is similar.
const LISTED: usize = 12;

/// Returns the help for `wrong`, which should be one of `known`.
pub(super) fn help<'k>(wrong: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match nearest(wrong, known.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None if known.is_empty() => "remove it".to_owned(),
        None => format!("use one of {}", list(&known)),
    }
}

/// Returns the names in backticks, separated by commas; a long list is truncated.
pub(super) fn list(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(LISTED).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > LISTED { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}
