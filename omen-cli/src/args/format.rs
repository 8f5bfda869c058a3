//! Format of a listing, as an argument.

use clap::ValueEnum;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text
    Human,
    /// JSON
    Json,
}
