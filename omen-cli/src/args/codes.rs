//! Codes and schema names as arguments.

use std::ffi::OsStr;
use std::str::FromStr;

use clap::Arg;
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use omen_gate::GateCode;
use omen_types::Code;

use crate::explain::Decision;
use crate::schema::files;

/// Code of a packet rule or of the gate, or a decision. The name is never ambiguous: the lint of the schema files ensures that.
#[derive(Clone, Debug)]
pub(crate) enum AnyCode {
    Packet(Code),
    Gate(GateCode),
    Decision(Decision),
}

impl FromStr for AnyCode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(decision) = Decision::find(text)? {
            return Ok(Self::Decision(decision));
        }
        match (text.parse::<Code>().or_else(|error| short(text).ok_or(error)), text.parse::<GateCode>()) {
            (Ok(code), _) => Ok(Self::Packet(code)),
            (_, Ok(code)) => Ok(Self::Gate(code)),
            // If the text resembles codes of both kinds, packet codes are suggested, since they are longer.
            (Err(unknown), Err(gate)) => match (unknown.near(), gate.near()) {
                (None, Some(near)) => Err(format!("{unknown}; did you mean `{near}`?")),
                _ => Err(unknown.to_string()),
            },
        }
    }
}

/// Parses a code whose number is written without leading zeros, such as `inv-3`.
fn short(text: &str) -> Option<Code> {
    let (family, number) = text.rsplit_once('-')?;
    let number: u32 = number.parse().ok()?;
    let is_meant = |code: &Code| {
        let parts = code.as_str().rsplit_once('-');
        parts.is_some_and(|(name, digits)| name.eq_ignore_ascii_case(family) && digits.parse() == Ok(number))
    };
    Code::ALL.iter().copied().find(is_meant)
}

/// Returns the parser for any code.
pub(super) fn any() -> Named<AnyCode> {
    let names = || {
        let packets = Code::ALL.iter().map(|code| PossibleValue::new(code.as_str()).help(code.info().title));
        let gate = GateCode::ALL.iter().map(|code| PossibleValue::new(code.as_str()).help(code.title()));
        packets.chain(gate).collect()
    };
    Named { parse: str::parse, names }
}

/// Returns a parser that accepts any text as a schema name; the command itself reports unknown names.
pub(super) fn schema() -> Named<String> {
    let names = || files::names().into_iter().map(PossibleValue::new).collect();
    Named { parse: |text| Ok(text.to_owned()), names }
}

/// Parser with a list of possible names, for completions. The list is too long for `--help`, so hide it there.
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
