//! Codes and schema names as arguments.

use std::ffi::OsStr;

use clap::Arg;
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use omen_gate::GateCode;
use omen_types::Code;

use crate::explain::AnyCode;
use crate::schema::files;

/// Returns the parser for any code.
pub(super) fn any() -> NameParser<AnyCode> {
    let names = || {
        let packets = Code::ALL.iter().map(|code| PossibleValue::new(code.as_str()).help(code.info().title));
        let gate = GateCode::ALL.iter().map(|code| PossibleValue::new(code.as_str()).help(code.title()));
        packets.chain(gate).collect()
    };
    NameParser { parse: str::parse, names }
}

/// Returns a parser that accepts any text as a schema name; the command itself reports unknown names.
pub(super) fn schema() -> NameParser<String> {
    let names = || files::names().into_iter().map(PossibleValue::new).collect();
    NameParser { parse: |text| Ok(text.to_owned()), names }
}

/// Parser with a list of possible names, for completions. The list is too long for `--help`, so hide it there.
#[derive(Clone)]
pub(crate) struct NameParser<T: Clone> {
    pub(crate) parse: fn(&str) -> Result<T, String>,
    pub(crate) names: fn() -> Vec<PossibleValue>,
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for NameParser<T> {
    type Value = T;

    fn parse_ref(&self, command: &clap::Command, arg: Option<&Arg>, value: &OsStr) -> Result<T, clap::Error> {
        let parse = self.parse;
        StringValueParser::new().try_map(move |text| parse(&text)).parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.names)().into_iter()))
    }
}
