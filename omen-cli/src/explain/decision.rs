//! Decisions on questions that the protocol documents leave open, cited as `D29`.

use serde::Deserialize;

/// A decision, from `decisions.json`.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Decision {
    pub(crate) code: String,
    pub(super) title: String,
    /// Paragraphs; those that begin with `- ` are items of a list.
    pub(super) text: Vec<String>,
}

#[derive(Deserialize)]
struct DecisionsFile {
    decisions: Vec<Decision>,
}

impl Decision {
    /// Returns the decision with a name such as `D29`, ignoring case; `None` if the text does not have the form of such a name.
    ///
    /// # Errors
    /// If there is no decision with this number.
    pub(crate) fn find(text: &str) -> Result<Option<Self>, String> {
        let number = text.strip_prefix(['D', 'd']).and_then(|digits| digits.parse::<u64>().ok());
        let Some(number) = number else { return Ok(None) };
        let json = omen_schema::file("decisions.json").unwrap_or_default();
        let file: DecisionsFile = serde_json::from_str(json).map_err(|error| format!("decisions.json: {error}"))?;
        let last = file.decisions.last().map_or_else(String::new, |decision| decision.code.clone());
        let wanted = format!("D{number}");
        let found = file.decisions.into_iter().find(|decision| decision.code == wanted);
        found.map(Some).ok_or_else(|| format!("unknown decision `{wanted}`; the decisions are D1 to {last}"))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::Decision;

    /// Returns every word in the schema files that looks like the name of a decision.
    fn cited() -> BTreeSet<&'static str> {
        let texts = omen_schema::FILES.iter().map(|(_, text)| *text);
        let words = texts.flat_map(|text| text.split(|c: char| !c.is_ascii_alphanumeric()));
        let is_code = |word: &&str| {
            let digits = word.strip_prefix('D').unwrap_or_default();
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
        };
        words.filter(is_code).collect()
    }

    #[test]
    fn every_decision_that_a_text_cites_is_known() {
        let cited = cited();
        assert!(cited.len() > 60, "{cited:?}");
        for code in cited {
            let found = Decision::find(code);
            assert!(
                found.as_ref().is_ok_and(|found| found.as_ref().is_some_and(|found| !found.text.is_empty())),
                "{code}"
            );
        }
    }

    #[test]
    fn other_texts_are_not_taken_for_decisions() {
        assert!(Decision::find("E4").is_ok_and(|found| found.is_none()));
        assert!(Decision::find("D").is_ok_and(|found| found.is_none()));
        assert!(Decision::find("d29").is_ok_and(|found| found.is_some_and(|found| found.code == "D29")));
        assert!(Decision::find("D99").is_err_and(|problem| problem.ends_with("the decisions are D1 to D90")));
    }
}
