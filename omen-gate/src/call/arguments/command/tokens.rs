//! Tokens of a command line. Anything that shells expand or read differently is an error.

use std::iter::Peekable;
use std::str::Chars;

/// Reason why the effect of a command line cannot be decided.
pub(super) type Undecidable = &'static str;

/// Token of a command line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// Word with its quotes removed.
    Word {
        text: String,
        is_assignment: bool,
    },
    /// Redirection between file descriptors.
    Descriptor,
    Operator(Operator),
}

/// Shell operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    /// `;` or `&`.
    Ends,
    Newline,
    /// `|`, `|&`, `&&` or `||`.
    Joins,
    Open,
    Close,
    /// `<`, `>`, `>>` or `>|`, before a file name.
    Redirect,
}

/// Tokenizer.
pub(super) struct Tokens<'t> {
    chars: Peekable<Chars<'t>>,
    /// Whether a line may be continued here: at the start of a line, or after a blank. Elsewhere, shells join the text before and
    /// after it to one word or operator.
    is_separated: bool,
}

impl<'t> Tokens<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { chars: text.chars().peekable(), is_separated: true }
    }

    pub(super) fn next(&mut self) -> Result<Option<Token>, Undecidable> {
        loop {
            while self.chars.next_if(|c| matches!(c, ' ' | '\t')).is_some() {
                self.is_separated = true;
            }
            let Some(first) = self.chars.peek().copied() else { return Ok(None) };
            if is_operator(first) {
                self.chars.next();
                self.is_separated = first == '\n';
                return self.operator(first).map(Some);
            }
            if let Some(word) = self.word()? {
                self.is_separated = false;
                return Ok(Some(word));
            }
        }
    }

    fn take(&mut self, wanted: char) -> bool {
        self.chars.next_if_eq(&wanted).is_some()
    }

    fn operator(&mut self, first: char) -> Result<Token, Undecidable> {
        let operator = match first {
            '\n' => Operator::Newline,
            '(' if self.chars.peek() == Some(&'(') => return Err("shells interpret `((` differently"),
            '(' => Operator::Open,
            ')' => Operator::Close,
            '|' => {
                let _ = self.take('|') || self.take('&');
                Operator::Joins
            }
            '&' if self.take('&') => Operator::Joins,
            '&' if self.chars.peek() == Some(&'>') => return Err("shells interpret `&>` differently"),
            ';' if matches!(self.chars.peek(), Some(';' | '&')) => return Err("unexpected `;;` or `;&`"),
            '&' | ';' => Operator::Ends,
            _ => return self.redirect(first),
        };
        Ok(Token::Operator(operator))
    }

    fn redirect(&mut self, first: char) -> Result<Token, Undecidable> {
        match (first, self.chars.peek()) {
            ('<', Some('<')) => Err("it contains a here-document or a here-string"),
            (_, Some('(')) => Err("it substitutes a process"),
            ('<', Some('>')) => Err("it opens a file for reading and writing"),
            ('<', Some('-' | '0'..='9')) => Err("shells interpret `<` before a number or a dash differently"),
            (_, Some('&')) => {
                self.chars.next();
                let mut target = String::new();
                while let Some(c) = self.chars.next_if(|c| c.is_ascii_digit() || *c == '-') {
                    target.push(c);
                }
                let ends = self.chars.peek().is_none_or(|c| matches!(c, ' ' | '\t') || is_operator(*c));
                let is_plain = target == "-" || (!target.is_empty() && target.chars().all(|c| c.is_ascii_digit()));
                if ends && is_plain {
                    Ok(Token::Descriptor)
                } else {
                    Err("shells interpret `>&` before a word differently")
                }
            }
            ('>', Some('>' | '|')) => {
                self.chars.next();
                Ok(Token::Operator(Operator::Redirect))
            }
            _ => Ok(Token::Operator(Operator::Redirect)),
        }
    }

    /// Reads a word; `None` if there is only a line continuation.
    fn word(&mut self) -> Result<Option<Token>, Undecidable> {
        let (mut text, mut is_assignment, mut is_quoted) = (String::new(), false, false);
        // Whether a word may still be a variable name or a file descriptor, i.e. has no quotes so far.
        let (mut is_name, mut is_number) = (true, true);
        while let Some(c) = self.chars.next_if(|c| !matches!(c, ' ' | '\t') && !is_operator(*c)) {
            match c {
                '\'' => self.single(&mut text)?,
                '"' => self.double(&mut text)?,
                '\\' => match self.chars.next() {
                    Some('\n') if self.is_separated && text.is_empty() && !is_quoted => continue,
                    Some('\n') => return Err("a line is continued within a word or after an operator"),
                    Some(escaped) => text.push(escaped),
                    None => return Err("it ends with a backslash"),
                },
                '$' => return Err("it expands a variable or a command"),
                '`' => return Err("it substitutes a command"),
                '*' | '?' | '[' => return Err("it expands file names; quote literal text"),
                '{' | '}' => return Err("it contains braces, which shells expand; quote literal text"),
                '~' if text.is_empty() || text.ends_with(['=', ':']) => return Err("it expands `~`"),
                '#' if text.is_empty() && !is_quoted => return Err("shells interpret `#` differently"),
                '=' if text.is_empty() && !is_quoted => {
                    return Err("shells interpret a word that begins with `=` differently");
                }
                '!' if text.is_empty() && !is_quoted => return Err("it negates a command"),
                '=' if is_name && !text.starts_with(|c: char| c.is_ascii_digit()) => {
                    is_assignment = true;
                    text.push(c);
                }
                c => text.push(c),
            }
            is_quoted |= matches!(c, '\'' | '"' | '\\');
            is_name &= c.is_ascii_alphanumeric() || matches!(c, '_' | '+');
            is_number &= c.is_ascii_digit();
        }
        // A file descriptor number directly precedes `<` or `>`.
        if is_number && matches!(self.chars.peek(), Some('<' | '>')) {
            if text.len() > 1 {
                return Err("shells interpret several digits before `<` or `>` differently");
            }
            let first = self.chars.next().unwrap_or_default();
            return self.redirect(first).map(Some);
        }
        let is_word = is_quoted || !text.is_empty();
        Ok(is_word.then_some(Token::Word { text, is_assignment }))
    }

    fn single(&mut self, text: &mut String) -> Result<(), Undecidable> {
        loop {
            match self.chars.next().ok_or("unterminated quote")? {
                '\'' => return Ok(()),
                c => text.push(c),
            }
        }
    }

    fn double(&mut self, text: &mut String) -> Result<(), Undecidable> {
        loop {
            match self.chars.next().ok_or("unterminated quote")? {
                '"' => return Ok(()),
                '$' => return Err("it expands a variable or a command"),
                '`' => return Err("it substitutes a command"),
                '\\' => match self.chars.next().ok_or("unterminated quote")? {
                    '\n' => {}
                    c @ ('$' | '`' | '"' | '\\') => text.push(c),
                    c => text.extend(['\\', c]),
                },
                c => text.push(c),
            }
        }
    }
}

fn is_operator(c: char) -> bool {
    matches!(c, '\n' | '(' | ')' | '|' | '&' | ';' | '<' | '>')
}
