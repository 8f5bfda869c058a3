//! JSON pointers (RFC 6901) as texts.

/// The pointer without its last step; `None` for the root.
pub(super) fn parent(pointer: &str) -> Option<&str> {
    pointer.rsplit_once('/').map(|(parent, _)| parent)
}
