//! Script and style of the page.
//!
//! The sources are ES modules, one concern each. A single file cannot import modules, so they are concatenated in dependency
//! order, without `import` lines, the keyword `export`, comments, indentation, and spaces around operators. Therefore no line of
//! a module may begin inside a string, and no string may contain such an operator with its spaces.

/// Modules, each after those it imports.
const MODULES: &[(&str, &str)] = &[
    ("dom.js", include_str!("../../assets/report/dom.js")),
    ("text.js", include_str!("../../assets/report/text.js")),
    ("data.js", include_str!("../../assets/report/data.js")),
    ("route.js", include_str!("../../assets/report/route.js")),
    ("json.js", include_str!("../../assets/report/json.js")),
    ("tree.js", include_str!("../../assets/report/tree.js")),
    ("list.js", include_str!("../../assets/report/list.js")),
    ("finding.js", include_str!("../../assets/report/finding.js")),
    ("links.js", include_str!("../../assets/report/links.js")),
    ("timeline.js", include_str!("../../assets/report/timeline.js")),
    ("diagram.js", include_str!("../../assets/report/diagram.js")),
    ("calls.js", include_str!("../../assets/report/calls.js")),
    ("packet.js", include_str!("../../assets/report/packet.js")),
    ("episode.js", include_str!("../../assets/report/episode.js")),
    ("overview.js", include_str!("../../assets/report/overview.js")),
    ("side.js", include_str!("../../assets/report/side.js")),
    ("keys.js", include_str!("../../assets/report/keys.js")),
    ("main.js", include_str!("../../assets/report/main.js")),
];

/// Returns the page's style without insignificant whitespace.
pub(super) fn style() -> String {
    let lines = include_str!("../../assets/report/report.css").lines().map(str::trim).filter(|line| !line.is_empty());
    let style: String = lines.flat_map(|line| [line, "\n"]).collect();
    without(&style, &STYLE_BLANKS)
}

/// Insignificant whitespace in a style. None of these occurs in its strings.
const STYLE_BLANKS: [(&str, &str); 9] = [
    (" {", "{"),
    ("{ ", "{"),
    (" }", "}"),
    (": ", ":"),
    ("; ", ";"),
    (", ", ","),
    ("{\n", "{"),
    (";\n", ";"),
    ("}\n", "}"),
];

/// Insignificant whitespace in a script. None of these occurs in its string literals.
const SCRIPT_BLANKS: [(&str, &str); 16] = [
    (" => ", "=>"),
    (" === ", "==="),
    (" !== ", "!=="),
    (" && ", "&&"),
    (" || ", "||"),
    (" ?? ", "??"),
    (" = ", "="),
    (" += ", "+="),
    (" + ", "+"),
    (" * ", "*"),
    (" < ", "<"),
    (" ? ", "?"),
    (" : ", ":"),
    (") {", "){"),
    ("{ ", "{"),
    (" }", "}"),
];

/// Removes insignificant whitespace from a text.
fn without(text: &str, blanks: &[(&str, &str)]) -> String {
    blanks.iter().fold(text.to_owned(), |text, (with, without)| text.replace(with, without))
}

/// Returns the concatenated modules.
pub(super) fn joined() -> String {
    let lines = MODULES.iter().flat_map(|(_, module)| module.lines()).map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with("//") && !line.starts_with("import "));
    let script: String = lines.flat_map(|line| [line.strip_prefix("export ").unwrap_or(line), "\n"]).collect();
    without(&script, &SCRIPT_BLANKS)
}

#[cfg(test)]
#[allow(clippy::expect_used, reason = "tests")]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn modules_import_from_those_before_them_only() {
        let mut before = BTreeSet::new();
        for (name, module) in MODULES {
            for line in module.lines().filter(|line| line.starts_with("import ")) {
                let from = line.split('"').nth(1).and_then(|from| from.strip_prefix("./")).unwrap_or_default();
                assert!(before.contains(from), "{name}: {line}");
            }
            assert!(before.insert(*name), "{name} is listed once");
        }
    }

    #[test]
    fn a_name_is_declared_in_one_module_and_every_import_is_exported() {
        let declared = |line: &'static str| {
            let line = line.strip_prefix("export ").unwrap_or(line);
            let line = line.strip_prefix("async ").unwrap_or(line);
            let rest = ["const ", "let ", "function ", "class "].iter().find_map(|word| line.strip_prefix(word))?;
            let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next();
            assert_ne!(name, Some(""), "one name for each declaration: {line}");
            name
        };
        let mut names = BTreeSet::new();
        let mut exported = BTreeSet::new();
        for (file, module) in MODULES {
            for line in module.lines() {
                if let Some(name) = declared(line) {
                    assert!(names.insert(name), "{file} declares `{name}` again");
                    exported.extend(line.starts_with("export ").then_some(name));
                }
                if let Some(rest) = line.strip_prefix("import ") {
                    let list = rest.split(['{', '}']).nth(1).expect("a list of names");
                    list.split(',').for_each(|name| assert!(exported.contains(name.trim()), "{file}: {line}"));
                }
            }
        }
    }

    /// Returns the string literals of a script, without interpolated expressions.
    fn texts(script: &str) -> Vec<String> {
        let (mut texts, mut text) = (Vec::new(), String::new());
        // Open quotes, and open braces of interpolated expressions.
        let mut open = Vec::new();
        let mut chars = script.chars().peekable();
        while let Some(sign) = chars.next() {
            match (open.last().copied(), sign) {
                (Some('"' | '\'' | '`'), '\\') => drop(chars.next()),
                (Some('`'), '$') if chars.peek() == Some(&'{') => {
                    chars.next();
                    open.push('{');
                    texts.push(std::mem::take(&mut text));
                }
                (Some(quote @ ('"' | '\'' | '`')), _) if quote == sign => {
                    open.pop();
                    texts.push(std::mem::take(&mut text));
                }
                (Some('"' | '\'' | '`'), _) => text.push(sign),
                (_, '"' | '\'' | '`' | '{') => open.push(sign),
                (_, '}') => drop(open.pop()),
                _ => {}
            }
        }
        assert!(open.is_empty(), "every quote and brace is closed");
        texts
    }

    #[test]
    fn no_text_has_a_sign_whose_blanks_are_left_out() {
        assert_eq!(texts(r#"f("a", `b ${g("c") ? `d` : {}} e`)"#), ["a", "b ", "c", "d", " e"]);
        let all = MODULES.iter().flat_map(|(_, module)| {
            let lines: Vec<_> = module.lines().filter(|line| !line.trim().starts_with("//")).collect();
            texts(&lines.join("\n"))
        });
        let mut count = 0;
        for text in all {
            for (with, _) in SCRIPT_BLANKS {
                assert!(!text.contains(with), "`{text}` has `{with}`");
            }
            count += 1;
        }
        assert!(count > 500, "{count} texts");
    }

    /// The file must also load quickly on slow connections.
    #[test]
    fn script_and_style_are_small() {
        let (script, style) = (joined().len(), style().len());
        assert!(script + style < 66_000, "{script} and {style} bytes");
    }

    /// Bans what a strict Content-Security-Policy would block, or what would access anything outside the file.
    #[test]
    fn the_script_makes_no_markup_and_opens_nothing() {
        for banned in
            ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "fetch(", "http:", "XMLHttp"]
        {
            assert!(!joined().replace("http://www.w3.org/2000/svg", "").contains(banned), "{banned}");
        }
        assert!(!style().contains("url(") && !style().contains("@import"));
    }
}
