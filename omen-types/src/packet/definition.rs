//! Lookup of definitions by name, for programs that know an object's type only at run time, such as the Python package.

use super::parse::unreadable;
use super::{PacketType, SHAPES, packet_shape};
use crate::diagnostic::Diagnostic;
use crate::shape::{Shape, walk};

/// Returns a definition by its name, unless it is a list of packets.
#[must_use]
pub fn find(name: &str) -> Option<&'static Shape> {
    let at = SHAPES.binary_search_by(|shape| shape.name.cmp(name)).ok()?;
    SHAPES.get(at).copied()
}

/// Returns the definition of a packet type or, without a type, of what all packets share.
#[must_use]
pub fn of_packet(packet_type: Option<PacketType>) -> &'static Shape {
    packet_shape(packet_type)
}

/// Returns all errors of a text that should be a value of a definition.
#[must_use]
pub fn errors(text: &str, definition: &'static Shape) -> Vec<Diagnostic> {
    match unreadable(text) {
        Some(error) => vec![error],
        None => walk(text, definition),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_checked_by_the_definition_of_a_name() {
        let found = |text: &str| find("RetryPolicy").map(|definition| errors(text, definition).len());
        assert_eq!(found("{\"max_retries\": 3}"), Some(0));
        assert_eq!(found("{\"max_retires\": 3, \"backoff_multiplier\": \"2\"}"), Some(2));
        assert_eq!(found("{"), Some(1));
        assert!(find("Retry").is_none());
        assert!(SHAPES.iter().all(|shape| find(shape.name).is_some_and(|found| found.name == shape.name)));
    }
}
