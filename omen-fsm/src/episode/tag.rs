//! Tag of permits, tasks and proofs, which identifies their episode.

use std::sync::Arc;

/// Identity of the episode or plan that created a value.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tag(Arc<u8>);

impl PartialEq for Tag {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
