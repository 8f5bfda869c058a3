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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory as _;

    use super::*;
    use crate::args::Cli;

    #[test]
    fn every_format_has_its_own_name_and_is_in_the_help() {
        let names: BTreeSet<_> = ALL.iter().map(|format| format.name()).collect();
        assert_eq!(names.len(), ALL.len());
        assert_eq!(default_name(), "human");
        let mut command = Cli::command();
        let help = command.find_subcommand_mut("check").map(|check| check.render_long_help().to_string());
        for format in ALL {
            let line = format!("- {}:", format.name());
            assert!(help.as_ref().is_some_and(|help| help.contains(&line) && help.contains(format.about())), "{line}");
        }
    }
}
