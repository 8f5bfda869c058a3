//! `omen gate confirm` for people: asks one question after another, to be answered by y or n.

use std::collections::VecDeque;
use std::io::{self, IsTerminal as _, Write as _};

use omen::render::human::clean;
use omen_proxy::confirm::{Answers, Message, OutcomeOfQuestion};

use super::events::{Event, Events};
use super::gates::Gates;
use super::question::ShownQuestion;
use super::typed::{TypedInput, TypedLine};
use crate::exit::{Exit, Failure, complain};
use crate::output::Output;

/// Asks until the input ends, or until the gate ends if no other gate is to be waited for.
pub(super) fn ask(gates: &Gates, out: &mut Output) -> Result<Exit, Failure> {
    let events = Events::of_user();
    let mut session = Session {
        out,
        answers: None,
        typed: events.typed.clone(),
        is_terminal: io::stdin().is_terminal(),
        waiting: VecDeque::new(),
        is_shown: false,
        number: 0,
        by_number: false,
        by_hash: false,
        sent: None,
        lines: VecDeque::new(),
        has_ended: false,
    };
    let mut exit = Exit::Clean;
    loop {
        let Some(gate) = gates.reach(&events, |event| session.meanwhile(event))? else { break };
        session.answers = Some(gate.answers().map_err(|error| Failure::Internal(error.to_string()))?);
        events.listen(gate);
        if session.until_over(&events)? == SessionEnd::User {
            break;
        }
        session.out.flush()?;
        if session.gate_ended() {
            complain("the gate stopped before it accepted the answer");
            exit = Exit::Unreadable;
        } else {
            complain("note: the gate has stopped");
        }
        if !gates.waits || session.is_done() {
            break;
        }
    }
    session.out.flush()?;
    Ok(exit)
}

/// The side that ended a connection.
#[derive(PartialEq, Eq)]
enum SessionEnd {
    User,
    Gate,
}

struct Session<'o> {
    out: &'o mut Output,
    /// Answers to the connected gate.
    answers: Option<Answers>,
    typed: TypedInput,
    is_terminal: bool,
    /// Waiting questions; the first one is the one being asked.
    waiting: VecDeque<ShownQuestion>,
    /// Whether the first waiting question is on the screen.
    is_shown: bool,
    /// Number of questions shown so far, including the current one.
    number: u64,
    /// Whether the answer must include the question's number, because the previous question vanished while the user was typing.
    by_number: bool,
    /// Whether a confirmation must include the hash of its call, because the input was written before the question was shown.
    by_hash: bool,
    /// The question answered last, and whether it was confirmed, until the gate reports whether the answer counts.
    sent: Option<(u64, bool)>,
    /// Lines from the user that have not been processed yet.
    lines: VecDeque<TypedLine>,
    /// Whether the user's input has ended.
    has_ended: bool,
}

impl Session<'_> {
    /// Processes questions and answers until one side ends.
    fn until_over(&mut self, events: &Events) -> io::Result<SessionEnd> {
        loop {
            match events.next() {
                Event::Gate(_, message) => self.heard(message)?,
                Event::Line(line) => self.lines.push_back(line),
                Event::InputEnded => self.has_ended = true,
                Event::GateEnded => return Ok(SessionEnd::Gate),
            }
            self.go_on()?;
            if self.is_done() {
                return Ok(SessionEnd::User);
            }
        }
    }

    fn is_done(&self) -> bool {
        self.has_ended && self.lines.is_empty() && self.sent.is_none()
    }

    /// Processes user input while no gate is listening. Returns whether to keep waiting for one.
    fn meanwhile(&mut self, event: Event) -> io::Result<bool> {
        match event {
            Event::Line(_) if self.is_terminal => {
                // The user now knows that the previous call is gone.
                self.by_number = false;
                self.say("no call is waiting")?;
            }
            Event::Line(line) => self.lines.push_back(line),
            Event::InputEnded => self.has_ended = true,
            Event::Gate(..) | Event::GateEnded => {}
        }
        Ok(!self.is_done())
    }

    /// Drops the questions of a gate that has ended, and the lines meant as answers to them, so that they cannot answer the next
    /// gate. Returns whether an answer was lost.
    fn gate_ended(&mut self) -> bool {
        self.waiting.clear();
        self.lines.clear();
        (self.is_shown, self.by_number, self.answers) = (false, self.is_shown, None);
        self.sent.take().is_some()
    }

    fn heard(&mut self, message: Message) -> io::Result<()> {
        match message {
            Message::Listed if self.waiting.is_empty() => {
                self.say("no call is waiting; calls are shown here as they arrive")
            }
            Message::Accepted { id } if self.sent.is_some_and(|(sent, _)| sent == id) => {
                let done = if self.sent.take().is_some_and(|(_, yes)| yes) { "confirmed" } else { "denied" };
                self.say(&format!("call {id} is {done}"))
            }
            Message::Refused { id, why } if id.is_none() || id == self.sent.map(|(sent, _)| sent) => {
                self.sent = None;
                self.say(&format!("the answer does not count: {}", clean(&why)))
            }
            Message::Closed { id, outcome, by } => self.closed(id, outcome, by.and_then(|by| by.user).as_deref()),
            message => {
                self.waiting.extend(ShownQuestion::from_message(message));
                Ok(())
            }
        }
    }

    /// Removes a question that no longer waits.
    fn closed(&mut self, id: u64, outcome: OutcomeOfQuestion, by: Option<&str>) -> io::Result<()> {
        let Some(at) = self.waiting.iter().position(|waiting| waiting.id == id) else { return Ok(()) };
        self.waiting.remove(at);
        if at == 0 && self.is_shown {
            (self.is_shown, self.by_number) = (false, true);
            let by = by.map_or(String::new(), |by| format!(" by {}", clean(by)));
            let what = match outcome {
                OutcomeOfQuestion::Confirmed => format!("was confirmed{by}"),
                OutcomeOfQuestion::Denied => format!("was denied{by}"),
                OutcomeOfQuestion::TimedOut => "was not answered in time, and is denied".to_owned(),
                _ => "has ended".to_owned(),
            };
            return self.say(&format!("\ncall {id} {what}"));
        }
        Ok(())
    }

    /// Shows the next question, or processes an answer to it.
    fn go_on(&mut self) -> io::Result<()> {
        // While an answer is unacknowledged, show nothing new: if it is refused, the message must come first.
        while self.sent.is_none() {
            let Some(question) = self.waiting.front() else {
                // A line typed before there was a question is not an answer.
                if self.is_terminal && !self.lines.is_empty() {
                    self.lines.clear();
                    self.say("no call is waiting")?;
                }
                break;
            };
            if !self.is_shown {
                if self.is_terminal {
                    self.lines.clear();
                } else {
                    self.by_hash = self.typed.drop_waiting();
                }
                (self.is_shown, self.number) = (true, self.typed.shows());
                question.print(self.out)?;
                self.prompt()?;
            }
            let Some(line) = self.lines.pop_front() else { break };
            self.take(&line)?;
        }
        self.out.flush()
    }

    fn prompt(&mut self) -> io::Result<()> {
        let Some(question) = self.waiting.front() else { return Ok(()) };
        match (self.by_hash, self.by_number) {
            (true, _) => write!(self.out, "confirm it? [y {}/n] ", short(question))?,
            (false, true) => write!(self.out, "confirm it? [y {id}/n {id}] ", id = question.id)?,
            (false, false) => write!(self.out, "confirm it? [y/n] ")?,
        }
        self.out.flush()
    }

    /// Processes a line as the answer to the shown question.
    fn take(&mut self, line: &TypedLine) -> io::Result<()> {
        let Some(question) = self.waiting.front() else { return Ok(()) };
        let Some((confirm, rest)) = read(&line.text) else {
            if !line.text.trim().is_empty() {
                self.say("answer with y or n")?;
            }
            return self.prompt();
        };
        // Only a person who has seen the call can confirm it, so a line written earlier confirms nothing.
        let is_early = line.after < self.number;
        if confirm && (is_early || self.by_hash && !names(question, rest)) {
            self.by_hash |= !self.is_terminal;
            let why = if is_early { "it was typed before the call was shown" } else { "it names no call" };
            self.say(&format!("this confirms nothing: {why}; confirm the call with `y {}`", short(question)))?;
            return self.prompt();
        }
        let (number, why) = match rest.split_once(' ').unwrap_or((rest, "")) {
            (hash, why) if names(question, hash) => (true, why),
            (number, why) if number.parse() == Ok(question.id) => (true, why),
            _ => (false, rest),
        };
        // A confirmation takes no reason; words after it could be the number of another call.
        if (self.by_number && !number) || (confirm && !why.is_empty()) {
            self.say(&format!("this is call {}: answer with its number", question.id))?;
            self.by_number = true;
            return self.prompt();
        }
        let why = Some(why.trim().to_owned()).filter(|why| !why.is_empty());
        let answer = question.answer(confirm, why);
        self.sent = Some((question.id, confirm));
        (self.is_shown, self.by_number, self.by_hash) = (false, false, false);
        self.waiting.pop_front();
        // If sending fails, the gate has ended, which also arrives as an event.
        let _ = self.answers.as_mut().map(|answers| answers.send(&answer));
        Ok(())
    }

    fn say(&mut self, what: &str) -> io::Result<()> {
        writeln!(self.out, "{what}")?;
        self.out.flush()
    }
}

/// Returns a prefix of the call's hash that is long enough to identify the call.
fn short(question: &ShownQuestion) -> &str {
    question.hash.get(..SHORT).unwrap_or(&question.hash)
}

/// Returns whether a text identifies a call by its hash or a long enough prefix of it.
fn names(question: &ShownQuestion, text: &str) -> bool {
    text.len() >= SHORT && question.hash.starts_with(text)
}

const SHORT: usize = 12;

/// Parses a line: whether it confirms or denies, and the rest.
fn read(line: &str) -> Option<(bool, &str)> {
    let (word, rest) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
    match word.to_ascii_lowercase().as_str() {
        "y" | "yes" => Some((true, rest.trim())),
        "n" | "no" => Some((false, rest.trim())),
        _ => None,
    }
}
