//! Output formats of `omen check`. To add one, write a file next to `human` and `json`, and add a line to [`ALL`].

mod args;
mod concise;
mod fingerprint;
mod fold;
mod folded;
mod format;
mod github;
mod gitlab;
mod human;
mod json;
mod junit;
mod left_out;
mod markdown;
mod place;
mod prose;
mod reports;
mod sarif;
mod shown;
mod statistics;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

pub(crate) use args::FormatArgs;
pub(crate) use concise::line as concise_line;
pub(crate) use fingerprint::{BYTES as FINGERPRINT_BYTES, fingerprint};
#[cfg(feature = "nats")]
pub(crate) use format::Report;
pub(crate) use format::{ReportFormat, Totals};
pub(crate) use json::SummaryLine;
pub(crate) use left_out::LeftOut;
pub(crate) use place::name_from;
pub(crate) use prose::{codes, cut, message, message_and_help};
pub(crate) use reports::Reports;
pub(crate) use sarif::{FileFinding, FindingKind, document as sarif_document};
pub(crate) use shown::{AnyFinding, EntryFinding, EntryPlace, ORDER, ShownCode, TOOL};
pub(crate) use statistics::Statistics;

/// Default format on standard output.
pub(crate) static DEFAULT: &ReportFormat = &human::FORMAT;

/// All formats, in the order of the help text.
pub(crate) static ALL: &[ReportFormat] = &[
    human::FORMAT,
    concise::FORMAT,
    json::FORMAT,
    sarif::FORMAT,
    junit::FORMAT,
    github::FORMAT,
    gitlab::FORMAT,
    markdown::FORMAT,
];

/// Formats in which each finding is a line or paragraph by itself, so that a report may continue without end.
pub(crate) const FOLLOWED: &[&str] = &["human", "concise", "json", "github"];

/// Formats that fold findings that follow from another one into a count, unless all are requested.
const FOLDED: &[&str] = &["human", "markdown"];

/// Returns the command-line parser for format names.
pub(crate) fn parser() -> impl TypedValueParser<Value = &'static ReportFormat> {
    let names = ALL.iter().map(|format| PossibleValue::new(format.name).help(format.about));
    PossibleValuesParser::new(names).try_map(|name| by_name(&name).ok_or("there is no such format"))
}

pub(crate) fn by_name(name: &str) -> Option<&'static ReportFormat> {
    ALL.iter().find(|format| format.name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::Args as _;

    use super::*;

    #[test]
    fn every_format_has_its_own_name_and_is_in_the_help() {
        let names: BTreeSet<_> = ALL.iter().map(|format| format.name).collect();
        assert_eq!(names.len(), ALL.len());
        let help = FormatArgs::augment_args(clap::Command::default()).render_long_help().to_string();
        for format in ALL {
            let line = format!("- {}:", format.name);
            assert!(help.contains(&line) && help.contains(format.about), "{line}");
        }
        assert!(help.contains(&format!("[default: {}]", DEFAULT.name)), "the default is documented");
    }
}
