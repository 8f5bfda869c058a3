//! Values with names: any text is parsed, and the names are for completions.

use std::ffi::OsStr;

use clap::Arg;
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};

/// Parser of a text, with a list of possible names. They are too many for `--help`: hide them there.
#[derive(Clone)]
pub(crate) struct Named<T: Clone> {
    pub(crate) parse: fn(&str) -> Result<T, String>,
    pub(crate) names: fn() -> Vec<PossibleValue>,
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for Named<T> {
    type Value = T;

    fn parse_ref(&self, command: &clap::Command, arg: Option<&Arg>, value: &OsStr) -> Result<T, clap::Error> {
        let parse = self.parse;
        StringValueParser::new().try_map(move |text| parse(&text)).parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.names)().into_iter()))
    }
}
