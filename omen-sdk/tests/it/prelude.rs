//! The prelude stays small, and usable beside std.

use std::collections::BTreeSet;

const PRELUDE: &str = include_str!("../../src/prelude.rs");

/// Traits in scope without a name: those that explain illegal calls, and the capabilities.
const METHODS: &str = "omen_fsm::episode::explain::in_scope::*";

/// Returns the full paths that `pub use` statements import.
fn imports(source: &str) -> Vec<String> {
    let code: String = source.lines().filter(|line| !line.starts_with("//") && !line.starts_with('#')).collect();
    let mut all = Vec::new();
    for statement in code.split(';').map(str::trim).filter(|statement| !statement.is_empty()) {
        let what = statement.strip_prefix("pub use ").unwrap_or_else(|| panic!("not a `pub use`: {statement}"));
        let Some((path, list)) = what.split_once('{') else {
            all.push(what.to_owned());
            continue;
        };
        let list = list.strip_suffix('}').unwrap_or_else(|| panic!("a list in a list: {statement}"));
        all.extend(list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(|name| format!("{path}{name}")));
    }
    all
}

/// Returns the names of the imports, except those that are imported only for their methods.
fn names(source: &str) -> BTreeSet<String> {
    let named = imports(source).into_iter().filter(|import| !import.ends_with(" as _") && import != METHODS);
    named.map(|import| import.rsplit("::").next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn the_prelude_has_at_most_sixty_names_each_written_out() {
    let names = names(PRELUDE);
    assert!(names.contains("Episode") && names.contains("fields"), "the names are read: {names:?}");
    // An `Escalation` cannot be written without it.
    assert!(names.contains("EscalationTrigger"), "{names:?}");
    assert!(
        names.len() <= 60,
        "{} names, and the prelude may have 60: use a module for what is not typed daily",
        names.len()
    );
    let globs: Vec<_> = names.iter().filter(|name| name.contains('*')).collect();
    assert!(globs.is_empty(), "names are written out one by one");
}

#[test]
fn a_glob_and_a_name_too_many_are_found() {
    let source = "//! Docs.\n#[doc(inline)]\npub use a::{B, C as _,\n    D,\n};\npub use e::*;\npub use f::g;\n";
    assert_eq!(names(source).into_iter().collect::<Vec<_>>(), ["*", "B", "D", "g"]);
}

/// Globs of both: a name that std has, too, would be ambiguous, which is a compile error where it is used.
#[allow(clippy::wildcard_imports, reason = "globs are what is tried")]
mod beside_std {
    use omen::prelude::*;
    use std::collections::*;
    use std::io::*;
    use std::process::*;
    use std::sync::*;
    use std::time::*;

    fn took<R: Read, W: Write>(_: R, _: W, start: Instant, most: Duration) -> Option<Arc<HashMap<String, Command>>> {
        let now: SystemTime = SystemTime::now();
        (start.elapsed() > most && now.elapsed().is_err()).then(Arc::default)
    }

    #[test]
    fn no_common_name_of_std_is_ambiguous() {
        assert!(took(empty(), sink(), Instant::now(), Duration::MAX).is_none());
        let _: fn(Episode<Idle>) -> Episode<SafeMode> = |episode| episode.halt(text!("no name is ambiguous"));
    }
}
