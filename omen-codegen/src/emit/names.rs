//! Rust names for wire names, and other tokens that several emitters write.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};

use crate::mistake::Mistakes;
use crate::model::{Model, PACKET_TYPE};

/// Returns an identifier. A Rust keyword becomes a raw identifier, or gets the suffix `_` if it cannot be raw.
pub(crate) fn ident(name: &str) -> Ident {
    match name {
        "self" | "Self" | "super" | "crate" => Ident::new(&format!("{name}_"), Span::call_site()),
        _ if typify::accept_as_ident(name) => Ident::new(name, Span::call_site()),
        _ => Ident::new_raw(name, Span::call_site()),
    }
}

/// Converts a name to PascalCase: `VERIFY_FIRST`, `tools_ok`, `INV-007` become `VerifyFirst`, `ToolsOk`, `Inv007`.
/// Names in mixed case do not change.
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

/// Returns a doc attribute. A description is plain text apart from code in backticks, so all other markup is escaped.
pub(crate) fn doc(text: &str) -> TokenStream {
    let mut escaped = String::from(" ");
    let mut code = false;
    for c in text.chars() {
        code ^= c == '`';
        if !code && matches!(c, '[' | '<' | '*' | '\\') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    quote!(#[doc = #escaped])
}

/// Name of the only numeric parameter; all other parameters are types.
pub(crate) const NUMBER: &str = "N";

/// Returns the Rust name of an enum value, as declared by typify.
pub(crate) fn value(model: &Model, of: &str, wire: &str) -> Result<Ident, Mistakes> {
    model.value(of, wire).map(|value| ident(&value.name))
}

/// Returns the Rust name of a packet's type, which is a value of `PacketType`.
pub(crate) fn packet_type(model: &Model, packet: &str) -> Result<Ident, Mistakes> {
    value(model, PACKET_TYPE, packet)
}

/// Returns the variant of `Packet` for a packet.
pub(crate) fn packet_variant<'m>(model: &'m Model, packet: &str) -> Result<&'m Ident, Mistakes> {
    model.declared.variant_of("Packet", packet)
}

pub(crate) fn list<T: ToTokens>(items: impl IntoIterator<Item = T>) -> TokenStream {
    let items = items.into_iter();
    quote!(&[#(#items),*])
}
