//! Parser for the part of the command language that all POSIX shells read alike.

use omen_types::scalar::invisible::is_invisible;

use super::tokens::{Operator, Token, Tokens, Undecidable};

/// Simple command: a program with its arguments and redirections.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SimpleCommand {
    pub(super) words: Vec<String>,
    pub(super) redirects: Vec<Redirect>,
}

/// Redirection of a simple command.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Redirect {
    /// A file to read from or write to.
    File(String),
    /// A duplicated or closed file descriptor: `2>&1`.
    Descriptor,
}

/// Maximum length of a command line in bytes, and maximum nesting of subshells.
pub(super) const MAX_BYTES: usize = 64 * 1024;
pub(super) const MAX_DEPTH: usize = 64;

/// Splits a command line into its simple commands.
pub(super) fn parse(text: &str) -> Result<Vec<SimpleCommand>, Undecidable> {
    if text.len() > MAX_BYTES {
        return Err("it exceeds 64 KiB");
    }
    let is_odd = |c: char| !matches!(c, '\n' | '\t' | ' ') && (is_invisible(c) || c.is_whitespace());
    if text.chars().any(is_odd) {
        return Err("it contains control characters, invisible characters or unusual whitespace");
    }
    let mut parser = Parser { needs_command: true, ..Parser::default() };
    let mut tokens = Tokens::new(text);
    while let Some(token) = tokens.next()? {
        parser.token(token)?;
    }
    parser.end()
}

const NO_PROGRAM: Undecidable = "a part of it has no program";

/// State between two tokens. Subshell nesting is a counter rather than recursion, so it cannot exhaust the stack.
#[derive(Default)]
struct Parser {
    commands: Vec<SimpleCommand>,
    current: SimpleCommand,
    /// Whether a command must follow, as after `&&`.
    needs_command: bool,
    /// Whether a subshell has just ended.
    is_closed: bool,
    /// Whether the next word is the file name of a redirection.
    is_redirect: bool,
    depth: usize,
}

impl Parser {
    fn token(&mut self, token: Token) -> Result<(), Undecidable> {
        match token {
            Token::Word { .. } | Token::Descriptor | Token::Operator(Operator::Redirect) if self.is_closed => {
                return Err("a subshell is followed by redirections or words");
            }
            Token::Word { text, .. } if self.is_redirect => {
                self.is_redirect = false;
                self.current.redirects.push(Redirect::File(text));
            }
            _ if self.is_redirect => return Err("a redirection has no file"),
            Token::Word { is_assignment: true, .. } if self.current.words.is_empty() => {
                return Err("it sets variables, which can make programs run other programs");
            }
            Token::Word { text, .. } => self.current.words.push(text),
            Token::Descriptor => self.current.redirects.push(Redirect::Descriptor),
            Token::Operator(operator) => self.operator(operator)?,
        }
        Ok(())
    }

    fn operator(&mut self, operator: Operator) -> Result<(), Undecidable> {
        match operator {
            Operator::Redirect => self.is_redirect = true,
            Operator::Open if !self.has_command() => {
                self.depth += 1;
                if self.depth > MAX_DEPTH {
                    return Err("subshells are nested too deeply");
                }
                self.needs_command = true;
            }
            Operator::Close if self.depth > 0 && (self.has_command() || !self.needs_command) => {
                self.finish()?;
                self.depth -= 1;
                self.is_closed = true;
            }
            Operator::Open | Operator::Close => return Err("unexpected parenthesis"),
            // Lines may be empty, even after `&&`.
            Operator::Newline if !self.has_command() => {}
            Operator::Ends | Operator::Joins if !self.has_command() => return Err(NO_PROGRAM),
            Operator::Newline | Operator::Ends => self.finish()?,
            Operator::Joins => {
                self.finish()?;
                self.needs_command = true;
            }
        }
        Ok(())
    }

    fn has_command(&self) -> bool {
        self.is_closed || self.current != SimpleCommand::default()
    }

    /// Ends the current command, if there is one.
    fn finish(&mut self) -> Result<(), Undecidable> {
        if !self.has_command() && self.needs_command {
            return Err(NO_PROGRAM);
        }
        let command = std::mem::take(&mut self.current);
        if !self.is_closed && command != SimpleCommand::default() {
            if command.words.is_empty() {
                return Err("a part of it has redirections but no program");
            }
            self.commands.push(command);
        }
        (self.is_closed, self.needs_command) = (false, false);
        Ok(())
    }

    fn end(mut self) -> Result<Vec<SimpleCommand>, Undecidable> {
        if self.is_redirect {
            return Err("a redirection has no file");
        }
        self.finish()?;
        match self.depth {
            0 => Ok(self.commands),
            _ => Err("unterminated subshell"),
        }
    }
}
