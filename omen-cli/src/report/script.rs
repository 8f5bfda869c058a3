//! Script and style of the page.
//!
//! The sources are ES modules, one idea each. In one file there is no second module to import from, so the modules are joined
//! in the order in which they depend on each other, without their `import` lines, the word `export`, comments and indentation.
//! So no line of a module begins with text that is part of a value.

/// The modules, each after those that it imports.
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

/// The style of the page, without the blanks that mean nothing.
pub(super) fn style() -> String {
    let lines = include_str!("../../assets/report/report.css").lines().map(str::trim).filter(|line| !line.is_empty());
    let style: String = lines.flat_map(|line| [line, "\n"]).collect();
    BLANKS.iter().fold(style, |style, (with, without)| style.replace(with, without))
}

/// Where blanks in a style mean nothing; `: ` and the others do not occur in its texts.
const BLANKS: [(&str, &str); 6] = [(" {", "{"), ("{ ", "{"), (" }", "}"), (": ", ":"), ("; ", ";"), (", ", ",")];

/// The modules as one.
pub(super) fn joined() -> String {
    let lines = MODULES.iter().flat_map(|(_, module)| module.lines()).map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with("//") && !line.starts_with("import "));
    lines.flat_map(|line| [line.strip_prefix("export ").unwrap_or(line), "\n"]).collect()
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

    /// One file for people on slow lines, too.
    #[test]
    fn script_and_style_are_small() {
        let (script, style) = (joined().len(), style().len());
        assert!(script + style < 64_000, "{script} and {style} bytes");
    }

    /// What would need more than a strict Content-Security-Policy allows, or leave the file.
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
