//! Parser of a keyword (an enum value or a field name) with a perfect hash of its first bytes, which is searched for here.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

/// Maximum length of a value that fits into the parser's window including its quotes.
const LONGEST: usize = 30;

/// Number of factors to try for each table size.
const TRIES: u64 = 20_000;

/// Emits the parser of a type whose variants are keywords.
pub(super) fn emit(name: &Ident, wires: &[&str], variants: &[Ident]) -> TokenStream {
    let parse = match Hash::search(wires) {
        Some(Hash { mask, factor, slots }) => {
            let (mask, factor) = (Literal::u64_unsuffixed(mask), Literal::u64_unsuffixed(factor));
            let slots = Literal::usize_unsuffixed(slots);
            quote! {
                static WORDS: Words<#name, #slots> = Words::new(#mask, #factor, [#((#wires, #name::#variants)),*]);
                cursor.word(&WORDS, #name::from_text)
            }
        }
        None => quote!(cursor.other_word(#name::from_text)),
    };
    quote! {
        impl<'t> Parse<'t> for #name {
            type Out = Self;

            #[inline]
            fn parse(cursor: &mut Cursor<'t>) -> ParseResult<Self> {
                #parse
            }
        }
    }
}

/// Hash of a text: the highest bits of the product of the factor and the masked first bytes.
#[derive(Debug)]
struct Hash {
    mask: u64,
    factor: u64,
    /// Size of the table, a power of two.
    slots: usize,
}

impl Hash {
    /// Searches for a hash without collisions; `None` if the search fails.
    fn search(wires: &[&str]) -> Option<Self> {
        // The closing quote after the text may be hashed, too.
        let shortest = wires.iter().map(|wire| wire.len() + 1).min()?;
        if wires.iter().any(|wire| wire.len() > LONGEST) {
            return None;
        }
        let mask = if shortest >= 8 { u64::MAX } else { (1 << (8 * shortest)) - 1 };
        let smallest = wires.len().next_power_of_two().max(2);
        [smallest, 2 * smallest, 4 * smallest].into_iter().find_map(|slots| {
            let mut factors = (1..=TRIES).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
            let factor = factors.find(|factor| is_perfect(wires, mask, *factor, slots))?;
            Some(Self { mask, factor, slots })
        })
    }
}

fn is_perfect(wires: &[&str], mask: u64, factor: u64, slots: usize) -> bool {
    let mut taken = 0_u128;
    wires.iter().all(|wire| {
        let slot = (first_bytes(wire) & mask).wrapping_mul(factor) >> (64 - slots.trailing_zeros());
        let bit = 1_u128.checked_shl(u32::try_from(slot).unwrap_or(u32::MAX)).unwrap_or_default();
        let is_free = bit != 0 && taken & bit == 0;
        taken |= bit;
        is_free
    })
}

/// Returns the first eight bytes of a text and its closing quote.
fn first_bytes(wire: &str) -> u64 {
    let bytes = wire.bytes().chain([b'"']).take(8);
    bytes.enumerate().fold(0, |all, (at, byte)| all | u64::from(byte) << (8 * at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_slots_of_their_own() {
        for wires in [
            &["LOW", "MEDIUM", "HIGH", "CRITICAL"][..],
            &["tools_ok", "tools_partial", "tools_down"],
            &["one"],
            &["a", "b", "c", "d", "e", "f", "g", "h", "i"],
        ] {
            let found = Hash::search(wires);
            assert!(found.is_some_and(|hash| is_perfect(wires, hash.mask, hash.factor, hash.slots)), "{wires:?}");
        }
    }

    #[test]
    fn some_values_have_no_hash() {
        assert!(Hash::search(&["the_same_start_1", "the_same_start_2"]).is_none());
        assert!(Hash::search(&["a", "a"]).is_none());
        assert!(Hash::search(&["a_value_that_is_far_too_long_for_a_window"]).is_none());
        assert!(Hash::search(&[]).is_none());
    }
}
