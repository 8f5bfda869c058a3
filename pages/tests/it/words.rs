//! The words of `docs/glossary.md`: its Rust names exist, and its retired words occur nowhere else.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Files in which people read words. The `.stderr` files hold what rustc prints for our messages.
const EXTENSIONS: [&str; 5] = ["json", "md", "rs", "stderr", "toml"];

const GLOSSARY: &str = "docs/glossary.md";

/// How many terms the glossary may have: what nobody can remember is not a shared vocabulary.
const TERMS: usize = 60;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn glossary() -> String {
    fs::read_to_string(root().join(GLOSSARY)).expect("the glossary")
}

/// The cells of each row of the tables whose first heading is `heading`.
fn rows<'a>(page: &'a str, heading: &str) -> Vec<Vec<&'a str>> {
    let mut within = false;
    let mut rows = Vec::new();
    for line in page.lines() {
        let Some(row) = line.strip_prefix("| ").and_then(|row| row.strip_suffix('|')) else {
            within = within && line.starts_with("|--");
            continue;
        };
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        match within {
            true => rows.push(cells),
            false => within = cells.first() == Some(&heading),
        }
    }
    rows
}

/// What a cell has in backticks.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// What stands in a text for code, which may have any names.
const CODE: char = '\u{a6}';

/// The comments and the texts of a Rust source, line by line as they stand; each piece of code is one mark.
fn prose(source: &str) -> String {
    let mut prose = String::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        // How much is code before the prose, how much is prose, and how much is code behind it.
        let (open, inner, close) = if rest.starts_with("//") {
            (0, rest.find('\n').unwrap_or(rest.len()), 0)
        } else if let Some(raw) = raw(rest) {
            raw
        } else if first == '"' {
            (1, plain(&rest[1..]), 1)
        } else {
            (quoted_char(rest).unwrap_or(first.len_utf8()), 0, 0)
        };
        let code = |length: usize| rest.get(..length).is_some_and(|code| !code.trim().is_empty());
        prose.extend(if first == '\n' { Some('\n') } else { code(open).then_some(CODE) });
        // A line that goes on in the next one, and what is escaped.
        let text = rest.get(open..open + inner).unwrap_or_default().replace("\\\n", "\n").replace("\\n", " ");
        prose.push_str(&text.replace("\\\"", "\""));
        prose.extend((close > 0).then_some(CODE));
        rest = rest.get(open + inner + close..).unwrap_or_default();
    }
    prose
}

/// The length of a text up to its closing quote.
fn plain(text: &str) -> usize {
    let mut escaped = false;
    let end = text.char_indices().find(|(_, letter)| {
        let ends = *letter == '"' && !escaped;
        escaped = *letter == '\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at)
}

/// The parts of a raw text: what opens it, its content, what closes it.
fn raw(rest: &str) -> Option<(usize, usize, usize)> {
    let marks = rest.strip_prefix('r')?;
    let hashes = marks.len() - marks.trim_start_matches('#').len();
    let content = marks[hashes..].strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(hashes));
    Some((hashes + 2, content.find(&close).unwrap_or(content.len()), close.len()))
}

/// The length of a character in quotes; a lifetime has only one quote.
fn quoted_char(rest: &str) -> Option<usize> {
    let inner = rest.strip_prefix('\'')?;
    let first = inner.chars().next()?;
    let length = if first == '\\' { 1 + inner[1..].find('\'')? } else { first.len_utf8() };
    inner[length..].starts_with('\'').then_some(length + 2)
}

/// A word or a mark, and its line.
type Word = (String, usize);

/// The words and marks of a text. What begins a comment or a quotation is left out, so that a phrase is found across lines,
/// and what stands between backticks is code.
fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_start().trim_start_matches(['/', '!', '#', '>', '*', '|', '=']);
        let prose = line.split('`').enumerate().map(|(part, prose)| if part % 2 == 0 { prose } else { " ` " });
        let mut word = String::new();
        for letter in prose.collect::<String>().chars().chain([' ']) {
            if letter.is_alphanumeric() || letter == '_' || (letter == '\'' && !word.is_empty()) {
                word.extend(letter.to_lowercase());
                continue;
            }
            if !word.is_empty() {
                words.push((std::mem::take(&mut word), number + 1));
            }
            if !letter.is_whitespace() {
                words.push((letter.to_string(), number + 1));
            }
        }
    }
    words
}

struct Retired {
    phrase: Vec<String>,
    /// The longer phrases in which it is allowed.
    except: Vec<Vec<String>>,
}

fn split(phrase: &str) -> Vec<String> {
    phrase.split_whitespace().map(str::to_owned).collect()
}

fn retired(page: &str) -> Vec<Retired> {
    let row = |cells: &Vec<&str>| {
        let except: Vec<_> = cells.get(2).map(|cell| quoted(cell)).unwrap_or_default().into_iter().map(split).collect();
        quoted(cells[0]).into_iter().map(move |phrase| (split(phrase), except.clone())).collect::<Vec<_>>()
    };
    let rows = rows(page, "Retired");
    rows.iter().flat_map(row).map(|(phrase, except)| Retired { phrase, except }).collect()
}

/// Whether `phrase` stands in `words` at `at`.
fn stands(words: &[Word], at: usize, phrase: &[String]) -> bool {
    let found = words.get(at..).unwrap_or_default().iter().map(|(word, _)| word);
    words.len() >= at + phrase.len() && found.zip(phrase).all(|(word, expected)| word == expected)
}

impl Retired {
    fn is_at(&self, words: &[Word], at: usize) -> bool {
        stands(words, at, &self.phrase)
            && !self.except.iter().any(|longer| {
                (0..=longer.len().saturating_sub(self.phrase.len())).any(|offset| {
                    longer[offset..].starts_with(&self.phrase)
                        && at.checked_sub(offset).is_some_and(|start| stands(words, start, longer))
                })
            })
    }
}

/// The lines of a text with retired words, each with its phrase.
fn found(text: &str, retired: &[Retired]) -> Vec<String> {
    let words = words(text);
    // By their first words: nearly no word of a text begins one.
    let mut begin: BTreeMap<&str, Vec<&Retired>> = BTreeMap::new();
    for one in retired {
        begin.entry(one.phrase.first().map_or("", String::as_str)).or_default().push(one);
    }
    let at = |(at, (word, line)): (usize, &Word)| {
        let here = begin.get(word.as_str())?.iter().find(|retired| retired.is_at(&words, at))?;
        Some(format!("{line}: {}", here.phrase.join(" ")))
    };
    words.iter().enumerate().filter_map(at).collect()
}

fn files(folder: &Path, deep: bool, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() {
            if deep && !name.starts_with('.') && name != "target" {
                files(&path, deep, into);
            }
        } else if path.extension().is_some_and(|extension| EXTENSIONS.iter().any(|known| extension == *known)) {
            into.push(path);
        }
    }
}

#[test]
fn retired_words_are_not_used() {
    let retired = retired(&glossary());
    assert!(retired.len() >= 12, "the glossary lists {} retired words", retired.len());
    let mut paths = Vec::new();
    files(&root(), false, &mut paths);
    for folder in xtask::package::members().chain(["docs"]) {
        files(&root().join(folder), true, &mut paths);
    }
    assert!(paths.len() >= 100, "only {} files were found", paths.len());
    let mut uses = Vec::new();
    for path in paths.iter().filter(|path| !path.ends_with(GLOSSARY) && !path.ends_with(file!())) {
        let text = fs::read_to_string(path).expect("a text");
        let text = if path.extension().is_some_and(|extension| extension == "rs") { prose(&text) } else { text };
        let name = path.strip_prefix(root()).unwrap_or(path).display();
        uses.extend(found(&text, &retired).into_iter().map(|line| format!("{name}:{line}")));
    }
    uses.sort();
    assert!(uses.is_empty(), "retired words of {GLOSSARY}:\n{}", uses.join("\n"));
}

#[test]
fn a_retired_word_is_found_across_lines_and_not_in_its_exception() {
    let page = "| Retired | Write | Except |\n|---|---|---|\n| `mend` | fix | |\n| `is no` | is not | `is no longer`, `there is no` |\n";
    let retired = retired(page);
    for (text, lines) in [
        ("// this is\n// no text", vec!["1: is no"]),
        ("Mend it.\nIt is\nno use", vec!["1: mend", "2: is no"]),
        ("it is no longer so, and there is no row", vec![]),
        ("`mend`, amend, mend_it; it is; no, that is", vec![]),
    ] {
        assert_eq!(found(text, &retired), lines, "{text}");
    }
}

#[test]
fn of_a_source_comments_and_texts_are_read() {
    let source =
        "// one\nlet two = \"three \\\" four \\\n    five\"; // six\nlet 'x: '\"' = r#\"se\"ven\"#;\n/// eight\n";
    let words: Vec<_> =
        words(&prose(source)).into_iter().filter(|(word, _)| word.chars().all(char::is_alphabetic)).collect();
    let expected =
        [("one", 1), ("three", 2), ("four", 2), ("five", 3), ("six", 3), ("se", 4), ("ven", 4), ("eight", 5)];
    assert_eq!(words, expected.map(|(word, line)| (word.to_owned(), line)));
}

#[test]
fn the_terms_of_the_glossary_exist() {
    let page = glossary();
    let terms = rows(&page, "Term");
    assert!((30..=TERMS).contains(&terms.len()), "{} terms", terms.len());
    let mut seen = BTreeSet::new();
    for cells in &terms {
        let [term, meaning, name, folder] = cells[..] else { panic!("a term has four cells: {cells:?}") };
        assert!(seen.insert(term), "`{term}` stands twice");
        assert!(meaning.ends_with(['.', ')']), "`{term}`: a meaning is a sentence: {meaning}");
        assert_eq!(name.is_empty(), folder.is_empty(), "`{term}` names an item and its crate, or neither");
        for (name, folder) in quoted(name).into_iter().zip(quoted(folder)) {
            let api = fs::read_to_string(root().join(folder).join("api.txt")).expect("the public API of a crate");
            let is = |found: &str| found.rsplit("::").next() == Some(name);
            let item = |line: &str| line.split(|c: char| !c.is_alphanumeric() && !"_:".contains(c)).any(is);
            assert!(api.lines().any(item), "`{term}`: {folder} has no public item `{name}`");
        }
    }
}
