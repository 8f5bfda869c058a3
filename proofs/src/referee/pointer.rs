//! JSON pointers (RFC 6901) as text.

/// Returns the pointer without its last step; `None` for the root.
pub(super) fn parent(pointer: &str) -> Option<&str> {
    pointer.rsplit_once('/').map(|(parent, _)| parent)
}
