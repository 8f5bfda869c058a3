//! Outcome of a call in the typed API: legal, or refused with the code of the cell and the text that explains it.

use super::fsm::Fsm;
use super::outcomes::Outcomes;
use super::table::Target;
use super::typed::{Move, Text, Typestate};

/// Code of the table itself, for a cell without a row.
pub const TABLE: &str = "FSM";

/// Outcome of a call.
#[derive(Clone, Debug)]
pub enum Answer<'m> {
    /// The method is legal here.
    Legal,
    /// The call is refused.
    Refused {
        /// Code of the cell.
        code: String,
        /// Explanation; `None` if the file has none.
        text: Option<&'m Text>,
    },
}

impl Fsm {
    /// Returns the outcome of calling a method in a state: legal if one of the method's events is legal there,
    /// otherwise refused with the code of the cell and the first text that explains that code there.
    #[must_use]
    pub fn answer(&self, state: &Typestate, mv: &Move) -> Answer<'_> {
        let is_legal = |outcomes: &Outcomes| outcomes.contains(&Vec::new());
        let mut cells: Vec<Outcomes> = mv.events.iter().map(|event| self.outcomes(state, event, true, true)).collect();
        if cells.iter().any(is_legal) && mv.is_offered(state) {
            return Answer::Legal;
        }
        // If another method covers a legal event, this method is treated as if the table had no row.
        for (outcomes, event) in cells.iter_mut().zip(&mv.events).filter(|(outcomes, _)| is_legal(outcomes)) {
            *outcomes = self.outcomes(state, event, false, true);
        }
        let code = self.code(&cells);
        let text = self.typed.texts.iter().find(|text| text.explains(&code, state, mv));
        Answer::Refused { code, text }
    }

    /// Returns the code of illegal cells that share an explanation: a rule that all outcomes violate (other than the
    /// table), or otherwise the first code that may be the most specific one of each cell.
    #[must_use]
    pub fn code(&self, cells: &[Outcomes]) -> String {
        let known = || self.cells.refusals.iter().map(|refusal| &refusal.code);
        let always = |code: &&String| cells.iter().flatten().all(|outcome| outcome.contains(code));
        let first =
            |code: &&String| cells.iter().all(|outcomes| outcomes.iter().any(|outcome| outcome.first() == Some(*code)));
        let found = known().filter(|code| *code != TABLE).find(always).or_else(|| known().find(first));
        found.map_or_else(|| TABLE.to_owned(), Clone::clone)
    }

    /// Returns the targets of some events from the states of a type: states, or states with sub-state, in row order and
    /// without duplicates.
    #[must_use]
    pub fn targets<'m>(&'m self, state: &'m Typestate, events: &[String]) -> Vec<&'m str> {
        let mut targets = Vec::new();
        for row in self.rows.iter().filter(|row| row.events.iter().any(|event| events.contains(event))) {
            let of: Vec<&String> = state.of.iter().filter(|of| row.is_from(of)).collect();
            for to in &row.to {
                match to {
                    Target::Same => targets.extend(of.iter().map(|of| of.as_str())),
                    Target::State(to) if !of.is_empty() => targets.push(to),
                    Target::State(_) => {}
                }
            }
        }
        let mut seen = Vec::new();
        targets.retain(|target| {
            let is_new = !seen.contains(target);
            seen.push(*target);
            is_new
        });
        targets
    }
}
