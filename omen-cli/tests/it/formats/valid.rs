//! Validators of the formats, independent of the writers. Each returns the number of findings.

use std::sync::LazyLock;

use super::*;

/// The official schema (see `sarif-schema-2.1.0.md`), with the formats of strings.
static SARIF: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
    let mut schema: Value = serde_json::from_str(include_str!("sarif-schema-2.1.0.json")).expect("the schema is JSON");
    // The pattern of languages has a superfluous bracket, and no report has a language.
    for object in ["run", "toolComponent"] {
        let language = schema.pointer_mut(&format!("/definitions/{object}/properties/language"));
        language.and_then(Value::as_object_mut).and_then(|language| language.remove("pattern")).expect("a pattern");
    }
    jsonschema::options().should_validate_formats(true).build(&schema).expect("the schema is a schema")
});

#[track_caller]
pub(crate) fn sarif(text: &str) -> usize {
    let value: Value = serde_json::from_str(text).expect("SARIF is JSON");
    let errors: Vec<String> =
        SARIF.iter_errors(&value).map(|error| format!("{} at {}", error, error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    let run = &value["runs"][0];
    let (rules, artifacts) = (&run["tool"]["driver"]["rules"], run["artifacts"].as_array().unwrap());
    let results = run["results"].as_array().unwrap();
    let mut fingerprints = BTreeSet::new();
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"]);
        let place = &result["locations"][0]["physicalLocation"];
        let artifact = usize::try_from(place["artifactLocation"]["index"].as_u64().unwrap()).unwrap();
        assert_eq!(artifacts[artifact]["location"]["uri"], place["artifactLocation"]["uri"]);
        if let (Some(start), Some(end)) =
            (place["region"]["startColumn"].as_u64(), place["region"]["endColumn"].as_u64())
        {
            assert!(start <= end);
        }
        assert!(fingerprints.insert(result["partialFingerprints"]["omenFinding/v1"].as_str().unwrap()));
    }
    results.len()
}

/// Returns the number of test cases with findings.
#[track_caller]
pub(crate) fn junit(text: &str) -> usize {
    let document = roxmltree::Document::parse(text).expect("JUnit is XML");
    let root = document.root_element();
    assert!(root.has_tag_name("testsuites"));
    let mut shown = 0;
    for suite in root.children().filter(roxmltree::Node::is_element) {
        assert!(suite.has_tag_name("testsuite") && suite.has_attribute("name"));
        let cases: Vec<_> = suite.children().filter(roxmltree::Node::is_element).collect();
        let count = |tag: &str| {
            cases.iter().filter(|case| case.children().any(|child| child.has_tag_name(tag))).count().to_string()
        };
        assert!(!cases.is_empty());
        assert_eq!(suite.attribute("tests"), Some(cases.len().to_string().as_str()));
        assert_eq!(suite.attribute("failures"), Some(count("failure").as_str()));
        assert_eq!(suite.attribute("errors"), Some(count("error").as_str()));
        let mut names = BTreeSet::new();
        for case in &cases {
            assert!(case.has_tag_name("testcase"));
            let (class, name) = (case.attribute("classname").unwrap(), case.attribute("name").unwrap());
            assert_eq!(class.matches('.').count(), 1, "{class}");
            assert!(!name.is_empty());
            names.insert((class, name));
            shown += case
                .children()
                .filter(|child| child.has_tag_name("failure") || child.has_tag_name("system-out"))
                .count();
        }
    }
    shown
}

#[track_caller]
pub(crate) fn gitlab(text: &str) -> usize {
    let issues: Vec<Value> = serde_json::from_str(text).expect("a JSON array");
    let mut fingerprints = BTreeSet::new();
    for issue in &issues {
        assert!(!issue["description"].as_str().unwrap().is_empty());
        assert!(!issue["check_name"].as_str().unwrap().is_empty());
        assert!(["info", "minor", "major", "critical", "blocker"].contains(&issue["severity"].as_str().unwrap()));
        assert!(issue["location"]["lines"]["begin"].as_u64().unwrap() >= 1);
        let path = issue["location"]["path"].as_str().unwrap();
        assert!(!path.starts_with("./") && !path.is_empty());
        assert!(fingerprints.insert(issue["fingerprint"].as_str().unwrap().to_owned()), "the fingerprint occurs twice");
    }
    issues.len()
}

/// Parses lines as the runner of GitHub Actions does: `::COMMAND KEY=VALUE,…::MESSAGE`.
#[track_caller]
pub(crate) fn github(text: &str) -> usize {
    for line in text.lines() {
        let (command, rest) = line.strip_prefix("::").and_then(|line| line.split_once(' ')).expect("a command");
        assert!(["error", "warning", "notice"].contains(&command), "{line}");
        let (properties, message) = rest.split_once("::").expect("a message");
        for property in properties.split(',') {
            let (key, value) = property.split_once('=').expect("a property");
            assert!(["file", "line", "col", "title"].contains(&key), "{line}");
            assert!(!value.is_empty() && !value.contains(':'), "{line}");
        }
        assert!(!message.is_empty() && message.len() < 65_536);
        assert!(seen(line), "{line:?}");
    }
    text.lines().count()
}

#[track_caller]
pub(crate) fn concise(text: &str) -> usize {
    for line in text.lines() {
        let (place, message) =
            line.split_once(": error[").or_else(|| line.split_once(": warning[")).expect("a place and a code");
        assert!(!place.is_empty() && message.contains("] "), "{line}");
        assert!(seen(line), "{line:?}");
    }
    text.lines().count()
}

/// Checks that GitHub accepts a summary, with one table and one list: no text of a log is a link, HTML, code or another block.
#[track_caller]
pub(crate) fn markdown(text: &str) -> usize {
    use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag};

    assert!(text.len() < 1024 * 1024 && text.starts_with("## omen check\n"), "{} bytes", text.len());
    assert!(text.lines().all(seen));
    let mut items = 0;
    let mut cells = 0;
    for event in Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_MATH | Options::ENABLE_STRIKETHROUGH) {
        match event {
            Event::Start(Tag::Item) => items += 1,
            Event::Start(Tag::TableCell) => cells += 1,
            Event::Start(
                Tag::Heading { level: HeadingLevel::H2 | HeadingLevel::H3, .. }
                | Tag::Paragraph
                | Tag::List(None)
                | Tag::Table(_)
                | Tag::TableHead
                | Tag::TableRow
                | Tag::Strong
                | Tag::Emphasis,
            )
            | Event::End(_)
            | Event::Text(_)
            | Event::SoftBreak
            | Event::HardBreak => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(cells % 5, 0);
    items
}

/// Returns whether a line cannot move the cursor of a terminal or change the writing direction.
fn seen(line: &str) -> bool {
    !line.chars().any(omen_types::scalar::invisible::is_invisible)
}

/// Checks a report in any format.
#[track_caller]
pub(crate) fn any(format: &str, text: &str) {
    match format {
        "sarif" => drop(sarif(text)),
        "junit" => drop(junit(text)),
        "gitlab" => drop(gitlab(text)),
        "github" => drop(github(text)),
        "concise" => drop(concise(text)),
        "markdown" => drop(markdown(text)),
        "json" => text.lines().for_each(|line| drop(serde_json::from_str::<Value>(line).expect("JSON Lines"))),
        _ => assert!(text.lines().all(seen)),
    }
}
