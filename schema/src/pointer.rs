//! JSON pointers (RFC 6901): their steps, and the escaping of steps.
//!
//! ```
//! use omen_schema::pointer;
//!
//! let mut to = String::from("/a");
//! pointer::push(&mut to, "b/c~d");
//! assert_eq!(to, "/a/b~1c~0d");
//! assert_eq!(pointer::steps(&to).collect::<Vec<_>>(), ["a", "b/c~d"]);
//! ```

use std::borrow::Cow;

/// Escapes a step for a pointer.
#[must_use]
pub fn escape(step: &str) -> Cow<'_, str> {
    if step.bytes().any(|byte| matches!(byte, b'~' | b'/')) {
        Cow::Owned(step.replace('~', "~0").replace('/', "~1"))
    } else {
        Cow::Borrowed(step)
    }
}

/// Unescapes a step of a pointer.
#[must_use]
pub fn unescape(step: &str) -> Cow<'_, str> {
    if step.contains('~') { Cow::Owned(step.replace("~1", "/").replace("~0", "~")) } else { Cow::Borrowed(step) }
}

/// Appends a step to a pointer.
pub fn push(pointer: &mut String, step: &str) {
    pointer.push('/');
    pointer.push_str(&escape(step));
}

/// Returns the steps of a pointer, outermost first; empty for the empty pointer, which denotes the whole document.
pub fn steps(pointer: &str) -> impl Iterator<Item = Cow<'_, str>> {
    pointer.split('/').skip(1).map(unescape)
}
