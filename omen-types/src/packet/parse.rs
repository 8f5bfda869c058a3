//! Parser for a line of text, which returns a packet, the facts that rules check, or all errors.

use omen_schema::json::{self, JsonType, Scanner};
use serde::de::Error as _;

use super::deserialize::unchecked;
use super::{CorrelationId, Packet, PacketFacts, PacketId, PacketType, packet_shape, unique};
use crate::code::Code;
use crate::diagnostic::{Diagnostic, Edit};
use crate::limits::{MAX_DEPTH, MAX_LINE_BYTES};
use crate::parser::Cursor;
use crate::placeholder;
use crate::scalar::TextScalar;
use crate::shape::{self, HasShape};

/// Line that is not a valid packet: its errors, and the claims of its header.
#[derive(Clone, Debug, Default)]
pub struct Rejected {
    /// All errors, at least one. A `JSON` error is always the only one.
    pub errors: Vec<Diagnostic>,
    /// Valid fields of the header.
    pub claims: Claims,
}

/// Fields of an invalid packet's header that are valid by themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims {
    /// `header.packet_id`.
    pub packet_id: Option<String>,
    /// `header.correlation_id`.
    pub correlation_id: Option<String>,
    /// `header.packet_type`.
    pub packet_type: Option<PacketType>,
}

impl std::fmt::Display for Rejected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (i, error) in self.errors.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            error.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Rejected {}

impl std::str::FromStr for Packet {
    type Err = Box<Rejected>;

    /// Parses one packet strictly: by the schema, without repeated keys (D42), and within the limits of [`crate::limits`].
    fn from_str(text: &str) -> Result<Self, Box<Rejected>> {
        PacketFacts::parse(text)?;
        let mut cursor = Cursor::new(text);
        cursor.space();
        unchecked(&mut cursor)
            .map_err(|error| Box::new(Rejected { errors: vec![unexplained(&error)], claims: claims(text) }))
    }
}

/// Deserializes a packet of any type as strictly as from text: the value is written as text, which is then parsed. If
/// the input is a text, [`str::parse`] is faster.
impl<'de> serde::Deserialize<'de> for Packet {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = unique::value(deserializer)?;
        value.to_string().parse().map_err(|rejected: Box<Rejected>| match rejected.errors.first() {
            Some(error) => D::Error::custom(error),
            None => D::Error::custom("not a packet"),
        })
    }
}

impl<'t> PacketFacts<'t> {
    /// Parses one packet as strictly as [`Packet`]'s `FromStr`, and keeps only the facts that rules check.
    ///
    /// # Errors
    /// All errors of the text.
    pub fn parse(text: &'t str) -> Result<Self, Box<Rejected>> {
        let mut facts = None;
        Self::parse_into(text, &mut facts)?;
        facts.ok_or_else(|| Box::new(reject(text)))
    }

    /// Like [`parse`](Self::parse), but does not move the facts, which would take as long as some rules. Afterwards,
    /// `out` is `Some` if the result is `Ok`.
    ///
    /// # Errors
    /// All errors of the text.
    #[doc(hidden)]
    pub fn parse_into(text: &'t str, out: &mut Option<Self>) -> Result<(), Box<Rejected>> {
        *out = None;
        if text.len() > MAX_LINE_BYTES {
            return Err(Box::new(too_long()));
        }
        let mut cursor = Cursor::new(text);
        cursor.space();
        if Self::from_cursor(&mut cursor, out).is_ok() && cursor.ends() {
            if let Some(facts) = out
                && cursor.may_have_placeholder()
            {
                facts.placeholders = placeholder::find(text);
            }
            return Ok(());
        }
        *out = None;
        Err(Box::new(reject(text)))
    }
}

/// Returns the rejection of a line that is longer than [`MAX_LINE_BYTES`].
#[must_use]
pub fn too_long() -> Rejected {
    let error = Diagnostic::error(
        Code::Json,
        format!("the line exceeds {} MiB ({MAX_LINE_BYTES} bytes)", MAX_LINE_BYTES / 1024 / 1024),
    )
    .help("write one packet per line; keep large data elsewhere and refer to it");
    Rejected { errors: vec![error], claims: Claims::default() }
}

/// Returns the rejection of a line that is not UTF-8.
#[must_use]
pub fn not_utf8(error: &std::str::Utf8Error) -> Rejected {
    let at = error.valid_up_to();
    let mut found = Diagnostic::error(Code::Json, format!("invalid UTF-8 at byte {} of the line", at + 1))
        .help("save the log as UTF-8");
    found.span = Some(at..at + error.error_len().unwrap_or(1));
    Rejected { errors: vec![found], claims: Claims::default() }
}

/// Returns all errors of a text that the parser refused.
#[cold]
fn reject(text: &str) -> Rejected {
    if let Some(error) = unreadable(text) {
        return Rejected { errors: vec![error], claims: Claims::default() };
    }
    let claims = claims(text);
    let mut errors = shape::walk(text, packet_shape(claims.packet_type));
    if errors.is_empty() {
        errors.push(unexplained(&"no rule of the schema names the reason"));
    }
    if let [only] = errors.as_mut_slice()
        && text.trim_ascii_start().starts_with('[')
    {
        only.help = Some(ONE_PER_LINE.to_owned());
    }
    Rejected { errors, claims }
}

/// Help for an array instead of a packet; the array may be a whole log.
const ONE_PER_LINE: &str = "write each packet on one line, such as with `jq -c '.[]'`, or read the input as an array: `omen check --input array`";

/// INVARIANT: the walk finds an error in every text that the parser refuses, and a text that both accept can be deserialized; the
/// referee tests that. If this is ever violated, the text is still refused.
fn unexplained(reason: &dyn std::fmt::Display) -> Diagnostic {
    Diagnostic::error(Code::Schema, format!("the packet does not match its schema: {reason}"))
}

/// Byte order mark, which some editors write at the beginning of a file.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Returns the reason why a text is not JSON or is nested too deeply.
pub(crate) fn unreadable(text: &str) -> Option<Diagnostic> {
    if text.len() > MAX_LINE_BYTES {
        return too_long().errors.pop();
    }
    if text.starts_with(BYTE_ORDER_MARK) {
        let mut error = Diagnostic::error(Code::Json, "the line begins with a byte-order mark (BOM)")
            .help("remove it: save the log as UTF-8 without a byte-order mark");
        error.span = Some(0..BYTE_ORDER_MARK.len_utf8());
        error.edit = Some(Edit::safe(""));
        return Some(error);
    }
    if let Some(at) = text.find('\0') {
        let mut error = Diagnostic::error(Code::Json, "the line contains NUL bytes")
            .help("remove them: the input is binary, or was only partly written when the system stopped");
        error.span = Some(at..at + 1);
        return Some(error);
    }
    if let Some(at) = shape::too_deep(text) {
        let mut error = Diagnostic::error(Code::Json, format!("nested deeper than {MAX_DEPTH} levels"))
            .help("flatten the data, or keep it elsewhere and refer to it");
        error.span = Some(at..at + 1);
        return Some(error);
    }
    shape::syntax(text).err().map(|error| syntax_error(text, &error))
}

/// Returns the schema errors that the walk alone finds in valid JSON. The referee test compares them with the parser's result.
#[doc(hidden)]
#[must_use]
pub fn walk(text: &str) -> Vec<Diagnostic> {
    shape::walk(text, packet_shape(claims(text).packet_type))
}

fn syntax_error(text: &str, error: &serde_json::Error) -> Diagnostic {
    let message = error.to_string();
    // serde_json adds " at line 1 column N"; the position is reported separately.
    let message = message.split(" at line ").next().unwrap_or(&message);
    let start = text
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1))
        .map(str::len)
        .sum::<usize>()
        // Column 0 is the preceding line end.
        .saturating_add(error.column())
        .saturating_sub(1)
        .min(text.len().saturating_sub(1));
    let start = (0..=start).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let end = (start + 1..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    let problem = beyond_the_grammar(message).map_or_else(|| format!("invalid JSON: {message}"), str::to_owned);
    let mut found = Diagnostic::error(Code::Json, problem);
    found.span = Some(start..end.max(start));
    if text.trim_start().starts_with(FENCE) {
        // Only a fence and its language name may be removed: further text would be lost.
        let is_bare = text.trim().trim_start_matches('`').chars().all(char::is_alphanumeric);
        found.edit = is_bare.then(|| Edit::safe(""));
        found.span = Some(0..text.len());
    }
    found.help(remedy(message, text.get(start..).unwrap_or_default()))
}

/// Returns the problem with a text that RFC 8259 allows but this protocol refuses because readers disagree about it
/// (D84); `None` for a text that is not JSON. `serde_json` reports both in the same way.
fn beyond_the_grammar(message: &str) -> Option<&'static str> {
    if message == OUT_OF_RANGE {
        Some("number beyond the range of a double, a limit beyond RFC 8259")
    } else if is_lone_surrogate(message) {
        Some("half of a surrogate pair in a string, a limit beyond RFC 8259")
    } else {
        None
    }
}

const OUT_OF_RANGE: &str = "number out of range";

/// Returns whether the error is a lone surrogate. A truncated pair ends the escape early.
fn is_lone_surrogate(message: &str) -> bool {
    message.contains("surrogate") || message.contains("hex escape")
}

/// Returns the help for a syntax error, from the message of `serde_json` and the text after the error.
fn remedy(message: &str, rest: &str) -> String {
    let word: String = rest.chars().take_while(|c| c.is_ascii_alphabetic()).collect();
    if rest.starts_with(FENCE) {
        return "remove this line: it is the fence of a Markdown code block".to_owned();
    }
    let general = "write one packet per line, as a JSON object";
    if message.starts_with("EOF") {
        return format!("the line ends before the packet does: {general}, and check whether it was cut off");
    }
    match (message, rest.chars().next()) {
        ("trailing comma", _) => "remove the comma before the closing bracket".to_owned(),
        ("trailing characters", _) => "write each packet on a line of its own, and nothing after it".to_owned(),
        ("key must be a string", Some('\'')) => format!("put field names in double quotes{PYTHON}"),
        ("key must be a string", _) => "put field names in double quotes".to_owned(),
        (_, Some('\'')) => format!("write strings in double quotes{PYTHON}"),
        (_, Some(c)) if c.is_control() => format!("escape it: write `{}`", escaped(c)),
        (OUT_OF_RANGE, _) => {
            "write a number between -1.7976931348623157e308 and 1.7976931348623157e308, or a string".to_owned()
        }
        (message, _) if is_lone_surrogate(message) => {
            "write the character itself, or both halves of the pair, such as `\\ud83d\\ude00`".to_owned()
        }
        (message, _) if message.contains("escape") => "write a backslash as `\\\\`".to_owned(),
        _ => match word.to_ascii_lowercase().as_str() {
            "nan" | "inf" | "infinity" => {
                "JSON has no such number: leave the field out, or write a finite one".to_owned()
            }
            "none" => format!("write `null`, or leave the field out{PYTHON}"),
            "undefined" => "write `null`, or leave the field out".to_owned(),
            word @ ("true" | "false") => format!("write `{word}`, in lower case{PYTHON}"),
            word @ "null" => format!("write `{word}`, in lower case"),
            _ => format!("{general}, with strings and field names in double quotes"),
        },
    }
}

/// Addition to the help for a packet that is written in Python's notation.
const PYTHON: &str = "; in Python, write packets with `json.dumps`";

/// Delimiter of a code block in Markdown.
const FENCE: &str = "```";

/// Returns a control character as it is escaped in JSON strings.
fn escaped(c: char) -> String {
    match c {
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        c => format!("\\u{:04x}", u32::from(c)),
    }
}

/// Parses the header leniently.
fn claims(text: &str) -> Claims {
    let mut claims = Claims::default();
    let mut scanner = Scanner::new(text);
    if scanner.json_type() != JsonType::Object {
        return claims;
    }
    scanner.object(|scanner, key, _| {
        if key != "header" || scanner.json_type() != JsonType::Object {
            scanner.skip();
            return;
        }
        scanner.object(|scanner, key, _| {
            if scanner.json_type() != JsonType::String {
                scanner.skip();
                return;
            }
            let (value, _) = scanner.string();
            match key.as_ref() {
                "packet_id" if PacketId::holds(&value) => claims.packet_id = Some(value.into_owned()),
                "correlation_id" if CorrelationId::holds(&value) => claims.correlation_id = Some(value.into_owned()),
                "packet_type" => claims.packet_type = value.parse().ok(),
                _ => {}
            }
        });
    });
    claims
}

/// Value that can be checked against its schema after it was built or changed.
pub trait Checked: HasShape + serde::Serialize {
    /// Checks the constraints that types do not express: lengths of arrays, conditionals.
    ///
    /// # Errors
    /// Every schema error, with its JSON pointer.
    fn check(&self) -> Result<(), Vec<Diagnostic>> {
        verdict(self, Self::shape())
    }

    /// Parses a part of a packet as strictly as [`Packet`]'s `FromStr` parses the whole packet.
    ///
    /// # Errors
    /// All errors of the text. JSON pointers and spans are relative to the part.
    fn parse(text: &str) -> Result<Self, Vec<Diagnostic>>
    where
        Self: serde::de::DeserializeOwned,
    {
        if text.len() > MAX_LINE_BYTES {
            return Err(too_long().errors);
        }
        if let Some(error) = unreadable(text) {
            return Err(vec![error]);
        }
        let errors = shape::walk(text, Self::shape());
        if !errors.is_empty() {
            return Err(errors);
        }
        serde_json::from_str(text).map_err(|error| vec![unexplained(&error)])
    }
}

impl<T: HasShape + serde::Serialize> Checked for T {}

impl Packet {
    /// Checks the constraints that types do not express: lengths of arrays, conditionals.
    ///
    /// # Errors
    /// Every schema error, with its JSON pointer.
    pub fn check(&self) -> Result<(), Vec<Diagnostic>> {
        verdict(self, packet_shape(Some(self.packet_type())))
    }
}

fn verdict<T: serde::Serialize + ?Sized>(value: &T, shape: &'static shape::Shape) -> Result<(), Vec<Diagnostic>> {
    let text = serde_json::to_string(value)
        .map_err(|error| vec![Diagnostic::error(Code::Schema, format!("this cannot be written as JSON: {error}"))])?;
    let mut errors = shape::walk(&text, shape);
    // The caller has not seen the text, so offsets into it would mislead.
    for error in &mut errors {
        (error.span, error.edit) = (None, None);
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Returns the span of the value at a JSON pointer in a packet's line, in bytes. If a step does not exist, returns the
/// first byte of the value that lacks it.
#[must_use]
pub fn locate(text: &str, pointer: &str) -> Option<std::ops::Range<usize>> {
    Some(json::locate(text, pointer).unwrap_or_else(|before| before))
}
