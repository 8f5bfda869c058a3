//! PG-5 (`grounding_fuzz`): a summary passes exactly if the evidence of each bullet occurs verbatim in the canonical
//! text of the validated answer.

use std::cell::Cell;

use omen_gate::GateCode;
use omen_gate::output::{Outputs, TypedAnswer};
use omen_gate::summary::{Bullet, Section, Summary, ground};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Case, check, without_one};
use crate::output::{answer, catalog, id, listed};
use crate::random::Random;

#[derive(Debug, Deserialize, JsonSchema)]
struct Found {
    #[expect(dead_code, reason = "the text counts")]
    found: Vec<Value>,
}

/// Case: an answer of a tool, and the quotes of each bullet.
#[derive(Clone, Debug)]
struct Quotes {
    answer: Vec<Value>,
    quotes: Vec<Quote>,
}

/// Piece of the canonical text between two positions, possibly changed.
#[derive(Clone, Debug)]
struct Quote {
    from: usize,
    letters: usize,
    change: Change,
}

#[derive(Clone, Copy, Debug)]
enum Change {
    None,
    /// Inserts or replaces a letter at this position.
    Insert(usize, char),
    Replace(usize, char),
    Remove(usize),
    OtherCase,
    Blank,
}

const LETTERS: [char; 14] = ['a', 'B', '7', ' ', '"', '\\', 'é', 'ß', '\u{301}', '😀', '{', ',', '\n', 'Z'];

fn word(random: &mut Random) -> String {
    (0..random.below(6)).map(|_| LETTERS[random.below(LETTERS.len())]).collect()
}

fn value(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth == 0 { 4 } else { 6 }) {
        0 => json!(random.below(2_000)),
        1 => json!(random.below(2) == 0),
        2 | 3 => json!(word(random)),
        4 => (0..random.below(3)).map(|_| value(random, depth - 1)).collect(),
        _ => (0..random.below(3)).map(|_| (word(random), value(random, depth - 1))).collect(),
    }
}

impl Case for Quotes {
    fn random(random: &mut Random) -> Self {
        let answer = (0..=random.below(4)).map(|_| value(random, 2)).collect();
        let quote = |random: &mut Random| {
            let (from, letters, letter) = (random.below(60), random.below(20), LETTERS[random.below(LETTERS.len())]);
            let at = random.below(20);
            let change = match random.below(9) {
                0 => Change::Insert(at, letter),
                1 => Change::Replace(at, letter),
                2 => Change::Remove(at),
                3 => Change::OtherCase,
                4 => Change::Blank,
                _ => Change::None,
            };
            Quote { from, letters, change }
        };
        Self { answer, quotes: (0..=random.below(3)).map(|_| quote(random)).collect() }
    }

    fn smaller(&self) -> Vec<Self> {
        let fewer = without_one(&self.quotes).map(|quotes| Self { quotes, ..self.clone() });
        let less = without_one(&self.answer).map(|answer| Self { answer, ..self.clone() });
        let shorter = (0..self.quotes.len()).filter_map(|index| {
            let mut case = self.clone();
            let quote = case.quotes.get_mut(index)?;
            quote.letters = quote.letters.checked_sub(1)?;
            Some(case)
        });
        fewer.chain(less).chain(shorter).collect()
    }
}

impl Quote {
    fn of(&self, text: &[char]) -> String {
        let mut quote: Vec<char> = text.iter().skip(self.from % text.len()).take(self.letters).copied().collect();
        match self.change {
            Change::None => {}
            Change::Insert(at, letter) => quote.insert(at.min(quote.len()), letter),
            Change::Replace(at, letter) => quote.iter_mut().skip(at).take(1).for_each(|it| *it = letter),
            Change::Remove(at) if at < quote.len() => drop(quote.remove(at)),
            Change::Remove(_) => {}
            Change::OtherCase => {
                quote = quote
                    .iter()
                    .flat_map(|it| match it.is_lowercase() {
                        true => it.to_uppercase().collect::<Vec<_>>(),
                        false => it.to_lowercase().collect(),
                    })
                    .collect();
            }
            Change::Blank => quote.retain(|it| !it.is_alphanumeric()),
        }
        quote.into_iter().collect()
    }
}

/// Whether a quote occurs verbatim in a text, and is not blank.
fn stands(text: &[char], quote: &str) -> bool {
    let quote: Vec<char> = quote.chars().collect();
    quote.iter().any(|letter| letter.is_alphanumeric()) && text.windows(quote.len()).any(|piece| piece == quote)
}

fn typed(content: &Value) -> TypedAnswer<Found> {
    let mut outputs = Outputs::default();
    outputs.register::<Found>(id()).unwrap();
    outputs.type_output(listed(&catalog(None)), answer(content.clone())).unwrap()
}

fn judge(case: &Quotes, grounded: &Cell<u32>, refused: &Cell<u32>) -> Result<(), String> {
    let content = json!({ "found": case.answer });
    let typed = typed(&content);
    if serde_json::from_str::<Value>(typed.text()).ok().as_ref() != Some(&content) {
        return Err(format!("the canonical text is not the answer: {}", typed.text()));
    }
    let text: Vec<char> = typed.text().chars().collect();
    let quotes: Vec<String> = case.quotes.iter().map(|quote| quote.of(&text)).collect();
    let bullets = quotes.iter().map(|quote| Bullet { text: "It is so.".to_owned(), evidence: quote.clone() });
    let summary = Summary { sections: vec![Section { heading: "Found".to_owned(), bullets: bullets.collect() }] };
    let expected = quotes.iter().all(|quote| stands(&text, quote));
    let count = if expected { grounded } else { refused };
    count.set(count.get() + 1);
    match ground(&typed, summary) {
        Ok(_) if expected => Ok(()),
        Err(blocked) if !expected && blocked.code == GateCode::Pg5 => Ok(()),
        Ok(_) => Err(format!("{quotes:?} passed as quotes of {}", typed.text())),
        Err(blocked) => Err(format!("{quotes:?} of {}: {blocked}", typed.text())),
    }
}

#[test]
fn a_summary_passes_exactly_if_its_evidence_stands_word_for_word() {
    let (grounded, refused) = (Cell::new(0), Cell::new(0));
    check::<Quotes>(0x6E0D_0000, 6_000, |case| judge(case, &grounded, &refused));
    let (grounded, refused) = (grounded.get(), refused.get());
    assert!(grounded > 1_000 && refused > 1_000, "the cases do not try both: {grounded}, {refused}");
}
