//! One event within an operator, and what is said of it.

use std::collections::BTreeMap;

use super::language::{Formula, Op, Outside, Pattern, Term};

/// What is said of one event, and of the present request beside it.
#[derive(Clone, Debug, Default)]
pub(super) struct Body {
    pub(super) event: Option<Pattern>,
    /// Comparisons of members of the event.
    pub(super) tests: Vec<(String, Op, Term)>,
    /// What is said of the present request alone.
    pub(super) own: Vec<Formula>,
    /// Variables that are the moment of the event.
    pub(super) moments: Vec<String>,
    /// Members of the event by variable.
    pub(super) variables: BTreeMap<String, String>,
}

impl Body {
    pub(super) fn new(formula: &Formula) -> Result<Self, Outside> {
        let (mut body, mut rest) = (Self::default(), Vec::new());
        body.read(formula, &mut rest)?;
        let Some(event) = &mut body.event else { return Ok(body) };
        for (member, term) in &mut event.fields {
            if let Term::Variable(name) = term {
                if body.variables.insert(name.clone(), member.clone()).is_some() {
                    return Err("two members of one event that are equal");
                }
                *term = Term::Any;
            }
        }
        for (left, op, right) in rest {
            let (left, op, right) = match (&left, &right) {
                (Term::Variable(name), _) if body.variables.contains_key(name) => (left, op, right),
                _ => (right, op.flipped(), left),
            };
            match left {
                Term::Variable(name) if body.variables.contains_key(&name) => {
                    if matches!(&right, Term::Variable(_) | Term::Count(..) | Term::Sum(..)) {
                        return Err("a comparison of two earlier values");
                    }
                    body.tests.push((body.variables[&name].clone(), op, right));
                }
                left => body.own.push(Formula::Compare(left, op, right)),
            }
        }
        Ok(body)
    }

    fn read(&mut self, formula: &Formula, rest: &mut Vec<(Term, Op, Term)>) -> Result<(), Outside> {
        match formula {
            Formula::And(parts) => parts.iter().try_for_each(|part| self.read(part, rest)),
            Formula::Exists(_, inner) => self.read(inner, rest),
            Formula::Moment(name) => {
                self.moments.push(name.clone());
                Ok(())
            }
            Formula::Event(event) => match &mut self.event {
                None => {
                    self.event = Some(event.clone());
                    Ok(())
                }
                Some(_) => Err("two events at one moment"),
            },
            Formula::Compare(left, op, right) => {
                rest.push((left.clone(), *op, right.clone()));
                Ok(())
            }
            Formula::Not(inner) => match &**inner {
                Formula::Compare(left, op, right) => {
                    rest.push((left.clone(), op.not(), right.clone()));
                    Ok(())
                }
                Formula::Not(inner) => self.read(inner, rest),
                Formula::Event(_) | Formula::And(_) => Err("an event that is not another one"),
                _ => Err("nested operators"),
            },
            _ => Err("nested operators"),
        }
    }
}
