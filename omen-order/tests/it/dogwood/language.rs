//! Words, values and formulas of Dogwood's policies and traces.

use serde_json::{Map, Value};

/// Why a case cannot be written as order rules.
pub(super) type Outside = &'static str;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Word(String),
    Text(String),
    Number(Value),
    Sign(String),
}

/// Splits a text into tokens, without comments.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let (chars, mut at, mut tokens) = (text.chars().collect::<Vec<_>>(), 0, Vec::new());
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '?' | '$');
    while at < chars.len() {
        let rest = &chars[at..];
        let next = rest.get(1).copied().unwrap_or(' ');
        let length = match rest[0] {
            c if c.is_whitespace() => 1,
            '/' if next == '/' => rest.iter().position(|c| *c == '\n').unwrap_or(rest.len()),
            '"' => {
                let (text, length) = quoted(rest);
                tokens.push(Token::Text(text));
                length
            }
            c if c.is_ascii_digit() || c == '-' && next.is_ascii_digit() => {
                let is_part = |(index, c): (usize, &char)| {
                    index == 0
                        || c.is_ascii_digit()
                        || *c == '.' && rest.get(index + 1).is_some_and(char::is_ascii_digit)
                };
                let length = rest.iter().enumerate().take_while(|(index, c)| is_part((*index, c))).count();
                tokens.push(Token::Number(number(&rest[..length].iter().collect::<String>())));
                length
            }
            c if is_word(c) => {
                let length = rest.iter().take_while(|c| is_word(**c)).count();
                tokens.push(Token::Word(rest[..length].iter().collect()));
                length
            }
            first => {
                let pair: String = [first, next].iter().collect();
                let sign =
                    if ["::", "&&", "==", "!=", "<=", ">=", "||"].contains(&&*pair) { pair } else { first.into() };
                let length = sign.len();
                tokens.push(Token::Sign(sign));
                length
            }
        };
        at += length;
    }
    tokens
}

/// Reads a number, which may begin with zeros.
pub(super) fn number(text: &str) -> Value {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    let trimmed = digits.trim_start_matches('0');
    let zero = if trimmed.starts_with(|c: char| c.is_ascii_digit()) { "" } else { "0" };
    serde_json::from_str(&format!("{sign}{zero}{trimmed}")).unwrap()
}

/// Reads a text in quotes, and says how many characters it takes.
fn quoted(chars: &[char]) -> (String, usize) {
    let (mut text, mut at) = (String::new(), 1);
    while chars[at] != '"' {
        let (c, length) = match (chars[at], chars[at + 1]) {
            ('\\', 'x') => (hex(&chars[at + 2..at + 4]), 4),
            ('\\', 'u') => {
                let length = chars[at..].iter().position(|c| *c == '}').unwrap();
                (hex(&chars[at + 3..at + length]), length + 1)
            }
            ('\\', 'n') => ('\n', 2),
            ('\\', 't') => ('\t', 2),
            ('\\', 'r') => ('\r', 2),
            ('\\', '0') => ('\0', 2),
            ('\\', other) => (other, 2),
            (c, _) => (c, 1),
        };
        text.push(c);
        at += length;
    }
    (text, at + 1)
}

fn hex(digits: &[char]) -> char {
    let digits: String = digits.iter().filter(|c| **c != '_').collect();
    char::from_u32(u32::from_str_radix(&digits, 16).unwrap()).unwrap()
}

/// Reader of tokens.
pub(super) struct Tokens {
    pub(super) tokens: Vec<Token>,
    pub(super) at: usize,
}

impl Tokens {
    pub(super) fn new(text: &str) -> Self {
        Self { tokens: tokens(text), at: 0 }
    }

    pub(super) fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    /// Whether a word or sign comes next.
    pub(super) fn is(&self, wanted: &str) -> bool {
        self.is_at(0, wanted)
    }

    pub(super) fn is_at(&self, ahead: usize, wanted: &str) -> bool {
        matches!(self.tokens.get(self.at + ahead), Some(Token::Word(text) | Token::Sign(text)) if text == wanted)
    }

    pub(super) fn take(&mut self, wanted: &str) -> bool {
        let is = self.is(wanted);
        self.at += usize::from(is);
        is
    }

    pub(super) fn expect(&mut self, wanted: &str) {
        assert!(self.take(wanted), "expected `{wanted}`, found {:?}", &self.tokens[self.at..]);
    }

    pub(super) fn word(&mut self) -> String {
        match self.next() {
            Token::Word(word) => word,
            other => panic!("expected a word, found {other:?}"),
        }
    }

    pub(super) fn next(&mut self) -> Token {
        self.at += 1;
        self.tokens[self.at - 1].clone()
    }

    /// Names separated by `.`.
    pub(super) fn path(&mut self) -> Vec<String> {
        let mut path = vec![self.word()];
        while self.take(".") {
            path.push(self.word());
        }
        path
    }

    /// `A::B::"text"`, if that comes next: the names and the text.
    pub(super) fn entity(&mut self) -> Option<(String, String)> {
        let (start, mut names) = (self.at, Vec::new());
        while let Some(Token::Word(word)) = self.peek().cloned() {
            names.push(word);
            self.at += 1;
            if !self.take("::") {
                break;
            }
            if let Some(Token::Text(text)) = self.peek().cloned() {
                self.at += 1;
                return Some((names.join("::"), text));
            }
        }
        self.at = start;
        None
    }

    /// Skips to the end of a parenthesis that has been opened.
    pub(super) fn skip(&mut self) {
        let mut depth = 1;
        while depth > 0 {
            depth += i32::from(self.is("(")) - i32::from(self.is(")"));
            self.at += 1;
        }
    }

    /// Value of a trace.
    pub(super) fn value(&mut self) -> Value {
        if let Some((kind, id)) = self.entity() {
            return entity(&kind, &id);
        }
        match self.next() {
            Token::Text(text) => text.into(),
            Token::Number(number) => number,
            Token::Word(word) => match &*word {
                "true" => true.into(),
                "false" => false.into(),
                "null" => Value::Null,
                other => panic!("unknown value `{other}`"),
            },
            Token::Sign(sign) if sign == "{" => self.members("}"),
            Token::Sign(sign) if sign == "[" => {
                let mut items = Vec::new();
                while !self.take("]") {
                    items.push(self.value());
                    self.take(",");
                }
                items.into()
            }
            other => panic!("unknown value {other:?}"),
        }
    }

    /// `name: value, …` up to a sign.
    pub(super) fn members(&mut self, end: &str) -> Value {
        let mut members = Map::new();
        while !self.take(end) {
            let name = match self.next() {
                Token::Word(name) | Token::Text(name) => name,
                other => panic!("expected a name, found {other:?}"),
            };
            self.expect(":");
            members.insert(name, self.value());
            self.take(",");
        }
        members.into()
    }
}

/// An entity as a text that no other value has.
pub(super) fn entity(kind: &str, id: &str) -> Value {
    format!("entity {kind}::{id:?}").into()
}

/// Side of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Term {
    /// Member of the present request, as a pointer.
    Own(String),
    Literal(Value),
    Variable(String),
    Any,
    /// Number of different values of the variables for which the formula holds.
    Count(Vec<(String, String)>, Box<Formula>),
    /// Sum of the first variable over these.
    Sum(String, Vec<(String, String)>, Box<Formula>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Less,
    LessOrEqual,
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
}

impl Op {
    pub(super) fn not(self) -> Self {
        match self {
            Self::Less => Self::GreaterOrEqual,
            Self::LessOrEqual => Self::Greater,
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
            Self::Greater => Self::LessOrEqual,
            Self::GreaterOrEqual => Self::Less,
        }
    }

    /// The operator with its sides exchanged.
    pub(super) fn flipped(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
            equal => equal,
        }
    }
}

/// Event with some of its members.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pattern {
    pub(super) kind: String,
    pub(super) action: String,
    pub(super) fields: Vec<(String, Term)>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Formula {
    And(Vec<Formula>),
    Not(Box<Formula>),
    Event(Pattern),
    Compare(Term, Op, Term),
    /// At this moment or before, younger than these milliseconds.
    Formerly(i64, Box<Formula>),
    /// At the moment before.
    Previous(i64, Box<Formula>),
    /// Left since right.
    Since(Box<Formula>, i64, Box<Formula>),
    Exists(String, Box<Formula>),
    /// A variable is this moment.
    Moment(String),
}

/// Number of events that mention a variable.
pub(super) fn events_with(formula: &Formula, name: &str) -> usize {
    match formula {
        Formula::And(parts) => parts.iter().map(|part| events_with(part, name)).sum(),
        Formula::Event(event) => {
            usize::from(event.fields.iter().any(|(_, term)| *term == Term::Variable(name.to_owned())))
        }
        Formula::Compare(left, _, right) => [left, right]
            .into_iter()
            .map(|side| match side {
                Term::Count(_, inner) | Term::Sum(_, _, inner) => events_with(inner, name),
                _ => 0,
            })
            .sum(),
        Formula::Since(left, _, right) => events_with(left, name) + events_with(right, name),
        Formula::Not(inner) | Formula::Formerly(_, inner) | Formula::Previous(_, inner) | Formula::Exists(_, inner) => {
            events_with(inner, name)
        }
        Formula::Moment(_) => 0,
    }
}

/// A formula with a value in place of a variable.
pub(super) fn replaced(formula: &Formula, name: &str, value: &Term) -> Formula {
    let term = |term: &Term| if *term == Term::Variable(name.to_owned()) { value.clone() } else { term.clone() };
    let inner = |formula: &Formula| Box::new(replaced(formula, name, value));
    match formula {
        Formula::And(parts) => Formula::And(parts.iter().map(|part| replaced(part, name, value)).collect()),
        Formula::Not(part) => Formula::Not(inner(part)),
        Formula::Event(event) => {
            let fields = event.fields.iter().map(|(member, field)| (member.clone(), term(field))).collect();
            Formula::Event(Pattern { fields, ..event.clone() })
        }
        Formula::Compare(left, op, right) => Formula::Compare(term(left), *op, term(right)),
        Formula::Formerly(within, part) => Formula::Formerly(*within, inner(part)),
        Formula::Previous(within, part) => Formula::Previous(*within, inner(part)),
        Formula::Since(left, within, right) => Formula::Since(inner(left), *within, inner(right)),
        Formula::Exists(other, part) => Formula::Exists(other.clone(), inner(part)),
        Formula::Moment(other) => Formula::Moment(other.clone()),
    }
}
