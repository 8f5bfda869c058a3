//! The gallery of compile errors: wrong code, what rustc says, fixed code.
//!
//! It is made of the compile-fail cases of a package, so that the page shows what a test has seen.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// An illegal program with its answer and its fixed twin.
struct Case {
    name: String,
    rule: String,
    /// What is wrong.
    mistake: String,
    wrong: String,
    answer: String,
    /// How it is fixed.
    help: String,
    fixed: String,
}

/// A rule that cases break: its code and its title.
pub(crate) type Heading<'r> = (&'r str, &'r str);

/// All cases of a package, under a heading for each rule, in the order of the rules, with a list of them before.
///
/// # Errors
/// If a case cannot be read, has no answer or no fixed twin, or is of no rule.
pub(crate) fn gallery<'r>(
    package: &str,
    rules: impl IntoIterator<Item = Heading<'r>>,
) -> Result<String, Box<dyn Error + Send + Sync>> {
    let mut cases = cases(package)?;
    let (mut out, mut sections) = ("\n".to_owned(), String::new());
    for (code, title) in rules {
        let of_rule: Vec<Case> = cases.extract_if(.., |case| case.rule == code).collect();
        if of_rule.is_empty() {
            continue;
        }
        let heading = format!("{code}: {title}");
        writeln!(out, "- [{heading}](#{}): {}", anchor(&heading), of_rule.len())?;
        section(&mut sections, package, &heading, &of_rule)?;
    }
    match cases.first() {
        Some(stray) => Err(format!("`{}` is of no rule: `{}`", stray.name, stray.rule).into()),
        None => Ok(out + &sections),
    }
}

fn section(out: &mut String, package: &str, heading: &str, cases: &[Case]) -> std::fmt::Result {
    write!(out, "\n## {heading}\n")?;
    for Case { name, mistake, wrong, answer, help, fixed, .. } in cases {
        write!(out, "\n### {}\n\n", capital(mistake))?;
        write!(out, "[`{name}.rs`](../{package}/tests/ui/{name}.rs)\n\n```rust\n{wrong}\n```\n\n")?;
        write!(out, "```text\n{}\n```\n\n", without_inside(answer))?;
        write!(out, "Fixed: {help}.\n\n```rust\n{fixed}\n```\n")?;
    }
    Ok(())
}

/// An answer without the lines that show where the rule stands inside the package.
fn without_inside(answer: &str) -> String {
    match answer.split_once("\nnote: required by a bound in ") {
        Some((answer, _)) => format!("{answer}\n..."),
        None => answer.trim_end().to_owned(),
    }
}

/// What a link to a heading of the page ends with.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

fn cases(package: &str) -> Result<Vec<Case>, Box<dyn Error + Send + Sync>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(package).join("tests/ui");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(&directory)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
    paths.sort();
    paths.iter().map(|path| case(&directory, path)).collect()
}

fn case(directory: &Path, path: &Path) -> Result<Case, Box<dyn Error + Send + Sync>> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let read = |file: String| fs::read_to_string(directory.join(&file)).map_err(|error| format!("{file}: {error}"));
    let (wrong, fixed) = (read(format!("{name}.rs"))?, read(format!("fixed/{name}.rs"))?);
    let (rule, mistake) = head(&wrong).ok_or_else(|| format!("{name}.rs does not begin with `// RULE: `"))?;
    let (_, help) = head(&fixed).ok_or_else(|| format!("fixed/{name}.rs does not begin with `// RULE: `"))?;
    let mistake = mistake.rsplit_once(" -> ").map_or(mistake, |(mistake, _)| mistake);
    Ok(Case {
        rule: rule.to_owned(),
        mistake: mistake.to_owned(),
        // Whole but for its end, so that the lines are those that rustc names.
        wrong: without_main(&wrong).to_owned(),
        answer: read(format!("{name}.stderr"))?,
        help: help.to_owned(),
        fixed: without_frame(&fixed),
        name,
    })
}

/// The first line: a rule, and what it is about.
fn head(source: &str) -> Option<(&str, &str)> {
    source.lines().next()?.strip_prefix("// ")?.split_once(": ")
}

fn without_main(source: &str) -> &str {
    let source = source.trim_end();
    source.strip_suffix("fn main() {}").unwrap_or(source).trim_end()
}

/// What is left without first line, imports and `main`, which all cases have.
fn without_frame(source: &str) -> String {
    let frame = |line: &&str| line.starts_with("// ") || line.starts_with("use ") || line.is_empty();
    without_main(source).lines().skip_while(frame).collect::<Vec<_>>().join("\n")
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
