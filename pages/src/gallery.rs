//! The gallery of compile errors: wrong code, rustc's error, fixed code.
//!
//! It is generated from the compile-fail cases of a package, so the page shows exactly what a test has checked.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// A compile-fail case: an illegal program, rustc's error and the fixed program.
struct Case {
    name: String,
    rule: String,
    /// What is wrong with it.
    mistake: String,
    wrong: String,
    error: String,
    /// How it is fixed.
    help: String,
    fixed: String,
}

/// The code and the title of a rule.
pub(crate) type Heading<'r> = (&'r str, &'r str);

/// All cases of a package, under a heading for each rule in the order of the rules, after a list of these headings.
///
/// # Errors
/// If a case cannot be read, has no expected error or no fixed program, or names an unknown rule.
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
        Some(stray) => Err(format!("`{}` names an unknown rule: `{}`", stray.name, stray.rule).into()),
        None => Ok(out + &sections),
    }
}

fn section(out: &mut String, package: &str, heading: &str, cases: &[Case]) -> std::fmt::Result {
    write!(out, "\n## {heading}\n")?;
    for Case { name, mistake, wrong, error, help, fixed, .. } in cases {
        write!(out, "\n### {}\n\n", capital(mistake))?;
        write!(out, "[`{name}.rs`](../{package}/tests/ui/{name}.rs)\n\n```rust\n{wrong}\n```\n\n")?;
        write!(out, "```text\n{}\n```\n\n", without_inside(error))?;
        write!(out, "Fixed: {help}.\n\n```rust\n{fixed}\n```\n")?;
    }
    Ok(())
}

/// An error without the lines that show the source of the bound inside the package.
fn without_inside(error: &str) -> String {
    match error.split_once("\nnote: required by a bound in ") {
        Some((error, _)) => format!("{error}\n..."),
        None => error.trim_end().to_owned(),
    }
}

/// The anchor of a heading.
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
        // Only its end is cut off, so that line numbers stay those of the error.
        wrong: without_main(&wrong).to_owned(),
        error: read(format!("{name}.stderr"))?,
        help: help.to_owned(),
        fixed: without_frame(&fixed),
        name,
    })
}

/// The first line: the rule, and what is wrong or how it is fixed.
fn head(source: &str) -> Option<(&str, &str)> {
    source.lines().next()?.strip_prefix("// ")?.split_once(": ")
}

fn without_main(source: &str) -> &str {
    let source = source.trim_end();
    source.strip_suffix("fn main() {}").unwrap_or(source).trim_end()
}

/// A program without its first line, imports and `main`, which all cases have.
fn without_frame(source: &str) -> String {
    let frame = |line: &&str| line.starts_with("// ") || line.starts_with("use ") || line.is_empty();
    without_main(source).lines().skip_while(frame).collect::<Vec<_>>().join("\n")
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
