//! JSON with comments and trailing commas, in which clients and agents write their settings.

use std::collections::BTreeSet;

use jsonc_parser::ast::Object;
use jsonc_parser::{CollectOptions, ParseOptions, ParseResult, parse_to_ast};

/// Parses a text, and keeps its tokens. Nothing else that JSON does not have is accepted.
pub(crate) fn parse(text: &str) -> Result<ParseResult<'_>, String> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let collect = CollectOptions { tokens: true, ..CollectOptions::default() };
    parse_to_ast(text, &collect, &options).map_err(|error| error.to_string())
}

/// Refuses repeated keys: readers differ in which one they use.
pub(crate) fn refuse_repeated(object: &Object<'_>) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    match object.properties.iter().find(|property| !seen.insert(property.name.as_str())) {
        Some(twice) => Err(format!("the key `{}` is repeated", twice.name.as_str())),
        None => Ok(()),
    }
}
