//! Allowlist entries that name no tool of the server.

use std::collections::BTreeSet;

use omen_base::Mutex;
use omen_gate::ToolName;

/// Check for allowlist entries that name no tool of the server.
#[derive(Debug, Default)]
pub(crate) struct AllowlistCheck(Mutex<ListedNames>);

/// Allowed tools on the pages of a list so far, and those missing from the last complete list.
#[derive(Debug, Default)]
struct ListedNames {
    /// Bounded by the allowlist, because a server may list names without end.
    listed: BTreeSet<ToolName>,
    missing: BTreeSet<ToolName>,
    /// Whether the pages were seen from the first one on.
    is_whole: bool,
}

impl AllowlistCheck {
    /// Accepts a page. After the last one, returns the allowed tools that were on none, unless they are the same as before.
    pub(crate) fn page(
        &self,
        allowed: impl IntoIterator<Item = ToolName>,
        listed: &[ToolName],
        is_first: bool,
        is_last: bool,
    ) -> Option<BTreeSet<ToolName>> {
        let mut state = self.0.lock();
        if is_first {
            (state.listed, state.is_whole) = (BTreeSet::new(), true);
        }
        let allowed: BTreeSet<_> = allowed.into_iter().collect();
        state.listed.extend(listed.iter().filter(|tool| allowed.contains(*tool)).cloned());
        if !is_last || !std::mem::take(&mut state.is_whole) {
            return None;
        }
        let missing: BTreeSet<_> = allowed.difference(&state.listed).cloned().collect();
        if missing == state.missing {
            return None;
        }
        state.missing.clone_from(&missing);
        (!missing.is_empty()).then_some(missing)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use omen_gate::ToolName;

    use super::AllowlistCheck;

    fn names(names: &[&str]) -> Vec<ToolName> {
        names.iter().map(|name| name.parse().unwrap()).collect()
    }

    fn page(
        unlisted: &AllowlistCheck,
        allowed: &[&str],
        listed: &[&str],
        is_first: bool,
        is_last: bool,
    ) -> Vec<String> {
        let missing = unlisted.page(names(allowed), &names(listed), is_first, is_last);
        missing.into_iter().flatten().map(|tool| tool.to_string()).collect()
    }

    #[test]
    fn what_no_page_has_is_said_once_the_list_is_whole() {
        let unlisted = AllowlistCheck::default();
        let allowed = ["a", "b", "typo"];
        assert!(page(&unlisted, &allowed, &["a", "x"], true, false).is_empty());
        assert_eq!(page(&unlisted, &allowed, &["b"], false, true), ["typo"]);
        assert!(page(&unlisted, &allowed, &["a", "b"], true, true).is_empty(), "it was said");
        assert_eq!(page(&unlisted, &allowed, &["a"], true, true), ["b", "typo"], "this is another list");
        assert!(page(&unlisted, &["a"], &["a"], true, true).is_empty());
        assert_eq!(page(&unlisted, &allowed, &["a", "b"], true, true), ["typo"], "it was right in between");
    }

    #[test]
    fn a_part_of_a_list_says_nothing() {
        let unlisted = AllowlistCheck::default();
        assert!(page(&unlisted, &["a"], &[], false, true).is_empty(), "its first page was not seen");
        assert!(page(&unlisted, &["a"], &[], true, false).is_empty());
        assert_eq!(page(&unlisted, &["a"], &[], false, true), ["a"]);
        assert!(page(&unlisted, &["a", "b"], &[], false, true).is_empty(), "a last page again, without a first one");
    }
}
