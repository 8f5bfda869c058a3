//! Levels: user-configured severities of invariants.

use std::collections::BTreeMap;
use std::fmt;

use omen_types::{Code, Diagnostic, Severity};

/// Treatment of the findings with a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Drop the findings, and accept the packet.
    Allow,
    /// Report the findings as warnings, and accept the packet.
    Warn,
    /// Report the findings as errors, and reject the packet.
    Deny,
}

/// Levels of individual codes, and one for all warnings. Only codes of the stage `invariant` can have a level.
#[derive(Clone, Debug, Default)]
pub struct Levels {
    by_code: BTreeMap<Code, Level>,
    /// Level of warnings whose code has no level.
    warnings: Option<Level>,
}

impl Levels {
    /// Sets the level of a code, replacing any earlier one.
    ///
    /// # Errors
    /// If the code belongs to another stage, or is always reported under a code of another stage: whether a log is
    /// well-formed is not adjustable.
    pub fn set(&mut self, code: Code, level: Level) -> Result<(), NotAdjustable> {
        if !code.is_adjustable() {
            return Err(NotAdjustable(code));
        }
        self.by_code.insert(code, level);
        Ok(())
    }

    /// Sets the level of everything that is currently a warning, either by the protocol or because its code was set to
    /// [`Level::Warn`]. Later settings for individual codes take precedence.
    pub fn set_warnings(&mut self, level: Level) {
        for set in self.by_code.values_mut().filter(|set| **set == Level::Warn) {
            *set = level;
        }
        self.warnings = Some(level);
    }

    /// Changes the severities of the findings on a packet, before it is accepted. A warning on a packet that the protocol accepts
    /// for the sake of the record stays a warning until [`raise`](Self::raise), because it must not reject the packet (D87).
    pub(super) fn apply(&self, findings: &mut Vec<Diagnostic>) {
        self.apply_where(findings, |finding| finding, |finding| !is_of_the_record(finding));
    }

    /// Turns the warnings that [`apply`](Self::apply) has postponed into errors after their packet is accepted.
    pub(super) fn raise(&self, findings: &mut Vec<Diagnostic>) {
        self.apply_where(findings, |finding| finding, is_of_the_record);
    }

    /// Like [`apply`](Self::apply), for findings inside other values.
    pub(super) fn apply_to<T>(&self, all: &mut Vec<T>, finding: impl Fn(&mut T) -> &mut Diagnostic) {
        self.apply_where(all, finding, |_| true);
    }

    fn apply_where<T>(
        &self,
        all: &mut Vec<T>,
        finding: impl Fn(&mut T) -> &mut Diagnostic,
        is_meant: impl Fn(&Diagnostic) -> bool,
    ) {
        if self.by_code.is_empty() && self.warnings.is_none() {
            return;
        }
        all.retain_mut(|entry| {
            let finding = finding(entry);
            if !is_meant(finding) {
                return true;
            }
            let severity = match self.level_of(finding) {
                None => return true,
                Some(Level::Allow) => return false,
                Some(Level::Warn) => Severity::Warning,
                Some(Level::Deny) => Severity::Error,
            };
            finding.severity = severity;
            true
        });
    }

    fn level_of(&self, finding: &Diagnostic) -> Option<Level> {
        let of_warnings = || self.warnings.filter(|_| finding.severity == Severity::Warning);
        self.by_code.get(&finding.code).copied().or_else(of_warnings)
    }
}

/// Returns whether a finding is a warning on a packet that reports what has happened: a result after which a budget is
/// exceeded (D32), or any packet while a directive is late (D35). Rejecting such a packet would make the log less true.
fn is_of_the_record(finding: &Diagnostic) -> bool {
    let is_record = match finding.code {
        Code::Inv005 => true,
        // A decision that does not escalate can be replaced by one that does (D69).
        Code::Inv011 => finding.pointer.as_deref() != Some("/payload/decision_outcome"),
        _ => false,
    };
    is_record && finding.severity == Severity::Warning
}

/// Error for a code whose severity is fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAdjustable(pub Code);

impl fmt::Display for NotAdjustable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(code) = self;
        match code.info().reported_as {
            Some(other) => write!(
                f,
                "`{code}` is always reported as `{other}`, with `{code}` in `also`, and the severity of `{other}` is fixed"
            ),
            None => write!(
                f,
                "the severity of `{code}` is fixed; only codes of the stage `invariant` can be adjusted; \
                 `omen rules` lists them"
            ),
        }
    }
}

impl std::error::Error for NotAdjustable {}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "tests")]
mod tests {
    use super::*;

    /// Returns the severities of an error and a warning of the same code, after some settings for that code and for all warnings.
    fn outcome(settings: &[(Option<Code>, Level)]) -> (Option<Severity>, Option<Severity>) {
        let mut levels = Levels::default();
        for (code, level) in settings {
            match code {
                Some(code) => levels.set(*code, *level).expect("adjustable"),
                None => levels.set_warnings(*level),
            }
        }
        let after = |finding: Diagnostic| {
            let mut findings = vec![finding];
            levels.apply(&mut findings);
            findings.first().map(|finding| finding.severity)
        };
        (after(Diagnostic::error(CODE, "")), after(Diagnostic::warning(CODE, "")))
    }

    const CODE: Code = Code::Inv003;
    const ERROR: Option<Severity> = Some(Severity::Error);
    const WARNING: Option<Severity> = Some(Severity::Warning);

    #[test]
    fn all_warnings_have_a_level_and_errors_stay() {
        assert_eq!(outcome(&[(None, Level::Deny)]), (ERROR, ERROR));
        assert_eq!(outcome(&[(None, Level::Allow)]), (ERROR, None));
        assert_eq!(outcome(&[(None, Level::Deny), (None, Level::Warn)]), (ERROR, WARNING));
    }

    #[test]
    fn the_last_setting_holds_for_a_code_and_for_all_warnings() {
        let code = Some(CODE);
        assert_eq!(outcome(&[(code, Level::Warn), (None, Level::Deny)]), (ERROR, ERROR));
        assert_eq!(outcome(&[(None, Level::Deny), (code, Level::Warn)]), (WARNING, WARNING));
        assert_eq!(outcome(&[(code, Level::Allow), (None, Level::Deny)]), (None, None));
        assert_eq!(outcome(&[(code, Level::Deny), (None, Level::Allow)]), (ERROR, ERROR));
        assert_eq!(outcome(&[(code, Level::Warn), (None, Level::Allow)]), (None, None));
    }

    /// Each adjustable code occurs in the findings on the examples, and a code that is not adjustable does not occur in
    /// that stage.
    #[test]
    fn a_level_has_an_effect_wherever_it_can_be_set() {
        for code in Code::ALL {
            let set = Levels::default().set(*code, Level::Warn);
            let field = format!("\"code\": \"{code}\"");
            let is_reported = omen_schema::EXAMPLES
                .iter()
                .any(|(path, text)| path.ends_with(".expect.json") && text.contains(&field));
            match set {
                Ok(()) => assert!(is_reported, "{code}"),
                Err(refused) if code.info().reported_as.is_some() => {
                    assert!(!is_reported && refused.to_string().contains("is always reported as"), "{refused}");
                }
                Err(refused) => assert!(refused.to_string().contains("is fixed"), "{refused}"),
            }
        }
    }
}
