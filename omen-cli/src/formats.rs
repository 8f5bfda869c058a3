//! The output formats of `omen check`. To add one, write a file beside `human` and `json`, and add a line to [`ALL`].

mod format;
mod human;
mod json;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

pub(crate) use format::FindingFormat;

/// All formats. The first one is the default.
pub(crate) const ALL: &[&dyn FindingFormat] = &[&human::Human, &json::Json];

/// Parses the name of a format.
pub(crate) fn parser() -> impl TypedValueParser<Value = &'static dyn FindingFormat> {
    let names = ALL.iter().map(|format| PossibleValue::new(format.name()).help(format.about()));
    PossibleValuesParser::new(names)
        .try_map(|name| ALL.iter().copied().find(|format| format.name() == name).ok_or("there is no such format"))
}

/// The name of the default format.
pub(crate) fn default_name() -> &'static str {
    ALL.first().map_or("", |format| format.name())
}
