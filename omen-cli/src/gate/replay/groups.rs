//! Groups of differences that differ only in their calls, for people: each group is printed once, with the number of its calls.

use std::collections::BTreeMap;
use std::io::{self, Write};

use omen::render::human::clean;

use super::change::VerdictChange;

/// Differences by tool, rule and verdicts, in the order in which they first occur.
#[derive(Debug, Default)]
pub(super) struct Groups {
    groups: Vec<Group>,
    /// Index of each group, by title and reasons.
    places: BTreeMap<(String, String, String), usize>,
    /// Number of differences whose groups did not fit.
    others: u64,
}

#[derive(Debug)]
struct Group {
    title: String,
    in_words: &'static str,
    reasons: [String; 2],
    count: u64,
    examples: Vec<String>,
}

impl Groups {
    pub(super) fn add(&mut self, change: &VerdictChange<'_>) {
        let reasons = [change.old.to_text(), change.new.to_text()];
        let [old, new] = reasons.clone();
        let key = (change.title(), old, new);
        let full = self.groups.len() >= MOST;
        let place = match self.places.get(&key) {
            Some(place) => *place,
            None if full => {
                self.others += 1;
                return;
            }
            None => {
                let (title, in_words) = (change.title(), change.in_words());
                self.groups.push(Group { title, in_words, reasons, count: 0, examples: Vec::new() });
                self.places.insert(key, self.groups.len() - 1);
                self.groups.len() - 1
            }
        };
        let Some(group) = self.groups.get_mut(place) else { return };
        group.count += 1;
        if group.examples.len() < EXAMPLES {
            group.examples.push(change.example());
        }
    }

    pub(super) fn print(&self, out: &mut impl Write) -> io::Result<()> {
        for Group { title, in_words, reasons: [old, new], count, examples } in &self.groups {
            let s = if *count == 1 { "" } else { "s" };
            writeln!(out, "{}: {count} call{s} {in_words}", clean(title))?;
            writeln!(out, "  old: {}\n  new: {}", clean(old), clean(new))?;
            examples.iter().try_for_each(|example| writeln!(out, "    {}", clean(example)))?;
            let more = count.saturating_sub(examples.len() as u64);
            if more > 0 {
                writeln!(out, "    and {more} more; `--format json` lists each")?;
            }
        }
        if self.others > 0 {
            writeln!(out, "{} more differences; `--format json` lists each", self.others)?;
        }
        Ok(())
    }
}

/// Maximum number of groups: reasons can contain names, of which a log may have any number.
const MOST: usize = 1000;

/// Maximum number of example calls per group.
const EXAMPLES: usize = 3;
