//! Rust names for wire names.

use proc_macro2::{Ident, Span};

/// Returns an identifier. A Rust keyword becomes a raw identifier, or gets the suffix `_` if it cannot be raw.
pub(super) fn ident(name: &str) -> Ident {
    match name {
        "self" | "Self" | "super" | "crate" => Ident::new(&format!("{name}_"), Span::call_site()),
        _ if typify::accept_as_ident(name) => Ident::new(name, Span::call_site()),
        _ => Ident::new_raw(name, Span::call_site()),
    }
}

/// Converts a name to PascalCase: `VERIFY_FIRST`, `tools_ok`, `INV-007` become `VerifyFirst`, `ToolsOk`, `Inv007`.
/// Names in mixed case stay the same.
pub(crate) fn pascal(wire: &str) -> String {
    let mixed = wire.chars().any(char::is_lowercase) && wire.chars().any(char::is_uppercase);
    wire.split(|c: char| !c.is_ascii_alphanumeric())
        .map(|word| {
            let mut chars = word.chars();
            let first = chars.next().map(|c| c.to_ascii_uppercase());
            let rest: String = if mixed { chars.collect() } else { chars.map(|c| c.to_ascii_lowercase()).collect() };
            first.into_iter().chain(rest.chars()).collect::<String>()
        })
        .collect()
}

/// Converts `EscalationOption` to `ESCALATION_OPTION`.
pub(super) fn shouting(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(c.to_ascii_uppercase());
    }
    out
}

/// Converts `EscalationOption` to `escalation_option`.
pub(super) fn snake(name: &str) -> String {
    shouting(name).to_ascii_lowercase()
}
