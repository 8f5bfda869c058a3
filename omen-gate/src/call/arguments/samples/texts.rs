//! Sample texts for text tests: patterns, URLs and paths.
//!
//! Each test is bounded by two regular languages: texts that certainly pass, and texts that may pass. They differ in
//! spellings that only the test itself can judge, such as `..` in a path. The results of such a text must also occur
//! for other texts; otherwise the question is undecided.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use omen_order::Fit;
use serde_json::Value;

use super::product::{Product, TextResult};
use crate::base::bounded;
use crate::call::arguments::pattern::TextBounds;
use crate::call::arguments::rule::ArgumentTest;

impl ArgumentTest {
    /// Returns the languages of accepted texts if the test concerns texts.
    fn text_bounds(&self, folder: &Path) -> Result<Option<TextBounds>, String> {
        Ok(Some(match self {
            Self::Matches(pattern) => TextBounds { sure: pattern.whole().to_owned(), possible: None },
            Self::Host(urls) => urls.text_bounds(),
            Self::Under(folders) => folders.text_bounds(folder)?,
            _ => return Ok(None),
        }))
    }
}

/// Text test that is not about listed values or lengths, with its folder.
struct TextTest<'t> {
    test: &'t ArgumentTest,
    folder: &'t Path,
    /// Indices of its expressions.
    sure: usize,
    possible: usize,
}

/// Returns texts for all combinations of test results: `needed` for each, or all that exist. Returns none if no test
/// concerns texts.
///
/// # Errors
/// If the texts cannot be found, with the reason.
pub(super) fn texts(
    tests: &[(&ArgumentTest, &Path)],
    needed: usize,
    distinct: usize,
) -> Result<Option<Vec<String>>, String> {
    let (mut expressions, mut all, mut thresholds) = (Vec::new(), Vec::new(), BTreeSet::new());
    let mut numbered = |expression: String| {
        expressions.iter().position(|known| *known == expression).unwrap_or_else(|| {
            expressions.push(expression);
            expressions.len() - 1
        })
    };
    for (test, folder) in tests.iter().copied() {
        if let ArgumentTest::Length(length) = test {
            thresholds.extend(length.min);
            thresholds.extend(length.max.map(|max| max.saturating_add(1)));
        }
        let Some(TextBounds { sure, possible }) = test.text_bounds(folder)? else { continue };
        let sure = numbered(sure);
        let possible = possible.map_or(sure, &mut numbered);
        all.push(TextTest { test, folder, sure, possible });
    }
    if all.is_empty() {
        return Ok(None);
    }
    let product = Product::new(&expressions, &thresholds)?;
    let (mut texts, mut found) = (Vec::new(), BTreeMap::<(Vec<bool>, usize), usize>::new());
    for result in product.results() {
        let more = if result.is_sure(&all) { 0 } else { SPELLINGS };
        for text in product.shortest(result, needed + more)? {
            let value = Value::from(text.as_str());
            let passed: Vec<_> = all.iter().map(|test| test.test.fit(&value, test.folder) == Fit::Yes).collect();
            if let Some(test) = result.misjudged(&all, &passed) {
                let (key, text) = (test.test.key(), bounded(&text));
                return Err(format!(
                    "`{key}` judges `{text}` by more than its text: a folder does not exist, or is a link"
                ));
            }
            *found.entry((passed, result.length)).or_default() += 1;
            texts.push(text);
        }
    }
    for result in product.results().filter(|result| !result.is_sure(&all)) {
        let open: Vec<_> = all.iter().map(|test| !result.is_decided(test)).collect();
        // Results that normally spelled texts have in the tests that are undecided.
        let possible: BTreeSet<Vec<bool>> = found
            .keys()
            .map(|(passed, _)| passed.iter().zip(&open).filter(|(_, open)| **open).map(|(passed, _)| *passed).collect())
            .collect();
        for chosen in possible {
            let mut chosen = chosen.into_iter();
            let passed = all.iter().map(|test| match result.is_decided(test) {
                true => result.accepts(test.sure),
                false => chosen.next().unwrap_or(false),
            });
            let count = found.get(&(passed.collect(), result.length)).copied().unwrap_or(0);
            if count < distinct {
                let keys: BTreeSet<_> = all.iter().map(|test| format!("`{}`", test.test.key())).collect();
                let keys: Vec<_> = keys.into_iter().collect();
                return Err(format!("it depends on other spellings of a text for {}", keys.join(" and ")));
            }
        }
    }
    Ok(Some(texts))
}

/// Number of texts tried beyond those needed when tests judge spellings differently.
const SPELLINGS: usize = 24;

impl TextResult {
    fn accepts(&self, expression: usize) -> bool {
        self.accepted.get(expression) == Some(&true)
    }

    fn is_decided(&self, test: &TextTest<'_>) -> bool {
        self.accepts(test.sure) == self.accepts(test.possible)
    }

    fn is_sure(&self, all: &[TextTest<'_>]) -> bool {
        all.iter().all(|test| self.is_decided(test))
    }

    /// Returns the first test whose actual result for a text differs from the one that its languages decide.
    fn misjudged<'t>(&self, all: &'t [TextTest<'t>], passed: &[bool]) -> Option<&'t TextTest<'t>> {
        let mut judged = all.iter().zip(passed);
        judged.find(|(test, passed)| self.is_decided(test) && self.accepts(test.sure) != **passed).map(|(test, _)| test)
    }
}
