//! Folding of findings for people: hides consequences of other findings, repetitions on a line, and findings beyond a limit, and
//! shows how many were hidden.

use super::shown::AnyFinding;

/// Kinds of findings to hide.
#[derive(Clone, Copy, Debug)]
pub(super) struct HiddenKinds {
    pub(super) consequences: bool,
    pub(super) repetitions: bool,
}

/// State of the folding.
#[derive(Debug)]
pub(super) struct Fold {
    what: HiddenKinds,
    /// Maximum number of findings to show.
    most: Option<u64>,
    shown: u64,
    /// Number of findings hidden because of `most`.
    left_out: u64,
    /// Latest line; `kinds` counts its findings of each kind.
    line: Option<u64>,
    kinds: Vec<(String, u64)>,
    /// Lines that caused hidden findings in this input, each with the number of these findings.
    causes: Vec<(u64, u64)>,
    /// Number of hidden findings whose causes are not in `causes`.
    other: u64,
}

impl Fold {
    pub(super) fn new(what: HiddenKinds, most: Option<u64>) -> Self {
        Self { what, most, shown: 0, left_out: 0, line: None, kinds: Vec::new(), causes: Vec::new(), other: 0 }
    }

    /// Processes a finding. Returns notes on earlier findings, and whether to show the new one.
    pub(super) fn finding(&mut self, finding: AnyFinding<'_>) -> (Vec<String>, bool) {
        if let Some(cause) = finding.follows_from().filter(|_| self.what.consequences) {
            self.consequence(cause);
            return (Vec::new(), false);
        }
        let before = if self.line == finding.own_line() { Vec::new() } else { self.repetitions() };
        self.line = finding.own_line();
        if finding.own_line().is_some() && self.what.repetitions && self.is_repeated(finding) {
            return (before, false);
        }
        if self.most.is_some_and(|most| self.shown >= most) {
            self.left_out += 1;
            return (before, false);
        }
        self.shown += 1;
        (before, true)
    }

    /// Ends an input. Returns notes on its hidden findings.
    pub(super) fn end_of_input(&mut self) -> Vec<String> {
        let mut lines = self.repetitions();
        lines.extend(self.consequences());
        lines
    }

    /// Ends the last input. Returns a note on the findings beyond the limit, over all inputs.
    pub(super) fn end(&self) -> Option<String> {
        let noun = if self.left_out == 1 { "finding is" } else { "findings are" };
        (self.left_out > 0)
            .then(|| format!("{} more {noun} not shown (`--max-findings` sets the limit)", self.left_out))
    }

    fn consequence(&mut self, line: u64) {
        let is_full = self.causes.len() >= MOST_CAUSES;
        match self.causes.iter_mut().find(|(cause, _)| *cause == line) {
            Some((_, count)) => *count += 1,
            None if is_full => self.other += 1,
            None => self.causes.push((line, 1)),
        }
    }

    /// Counts a finding on a line, and returns whether enough findings of its kind were shown on that line.
    fn is_repeated(&mut self, finding: AnyFinding<'_>) -> bool {
        let kind = kind(finding);
        match self.kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, count)) => {
                *count += 1;
                *count > MOST_OF_A_KIND
            }
            None => {
                self.kinds.push((kind, 1));
                false
            }
        }
    }

    /// Returns notes on the repetitions hidden on the latest line.
    fn repetitions(&mut self) -> Vec<String> {
        let Some(line) = self.line.take() else { return Vec::new() };
        let repeated = self.kinds.drain(..).filter(|(_, count)| *count > MOST_OF_A_KIND);
        let say = |(kind, count): (String, u64)| {
            let code = kind.split(' ').next().unwrap_or_default();
            format!("… and {} more {code} of this kind on line {line} (`--all` shows them)", count - MOST_OF_A_KIND)
        };
        repeated.map(say).collect()
    }

    /// Returns a note on the hidden consequences.
    fn consequences(&mut self) -> Option<String> {
        let total = self.causes.iter().map(|(_, count)| count).sum::<u64>() + self.other;
        let (verb, noun) = if total == 1 { ("follows", "finding") } else { ("follow", "findings") };
        let from: Vec<_> = self.causes.drain(..).map(|(line, count)| format!("{count} from line {line}")).collect();
        let other = match std::mem::take(&mut self.other) {
            0 => String::new(),
            other => format!(", {other} from others"),
        };
        (total > 0).then(|| {
            format!("{total} more {noun} {verb} from the above (`--all` shows them): {}{other}", from.join(", "))
        })
    }
}

/// Returns the kind of a finding: its code, and its message without the names in it.
fn kind(finding: AnyFinding<'_>) -> String {
    let words = finding.message().split('`').step_by(2);
    format!("{} {}", finding.code().as_str(), words.collect::<String>())
}

/// Maximum number of findings of one kind shown per line.
const MOST_OF_A_KIND: u64 = 3;

/// Maximum number of causes named per input.
const MOST_CAUSES: usize = 10;
