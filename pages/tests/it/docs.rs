//! The generated parts of the docs match the schema files and the compile-fail cases, and the evidence for each code of the
//! gate exists.

use omen_pages::evidence::Evidence;
use omen_pages::{docs, python};

#[test]
fn the_pages_are_up_to_date() {
    for path in docs::pages() {
        let page = std::fs::read_to_string(&path).expect("a page");
        let filled = docs::filled(&page).expect("regions that can be filled");
        assert!(page == filled, "{} is not up to date: run `cargo xtask docs`", path.display());
    }
}

#[test]
fn the_files_of_the_python_package_are_up_to_date() {
    for (path, text) in python::files().expect("files") {
        let file = std::fs::read_to_string(python::folder().join(path)).unwrap_or_default();
        assert!(file == text, "{path} is not up to date: run `cargo xtask docs`");
    }
}

#[test]
fn each_page_has_its_content() {
    let pages = docs::pages().map(|path| std::fs::read_to_string(path).expect("a page"));
    let [protocol, errors, gate, hooks, statements] = &pages;
    for table in ["| `S3_DECIDE/ACT` |", "| INV-012 |", "| E7 |", "| `QueueUpdatePacket` |", "| `release` |"] {
        assert!(protocol.contains(table), "no row `{table}`");
    }
    for part in ["### INV-007: ", "### E1: ", "| Acting at tier SUBPAR |", "## The gate", "### PG-3: default deny"] {
        assert!(errors.contains(part), "no `{part}`");
    }
    for part in ["Dispatched -- \"type_output (PG-4)\" --> Untyped", "| `Screened` |", "| **A3** trust boundary |"] {
        assert!(gate.contains(part), "no `{part}`");
    }
    for part in ["| compared with |", "| `project` | `.claude/settings.json` |", "| a denial binds | yes |"] {
        assert!(hooks.contains(part), "no `{part}`");
    }
    for part in ["| All | ", "## FSM specification", "[D29](protocol.md#d29)"] {
        assert!(statements.contains(part), "no `{part}`");
    }
}

/// The faults of one row, where R5 is the only code.
fn faults(row: &str) -> Vec<String> {
    Evidence::parse(&format!(r#"{{"R5": {row}}}"#)).expect("rows").faults(["R5"])
}

#[test]
fn evidence_is_looked_up_by_name() {
    let (file, test) = ("omen-gate/src/call/health.rs", "health::the_number_of_tools_is_bounded");
    let row = |enforced: &str, shown: &str| {
        format!(r#"{{"enforced": ["{enforced}"], "shown": ["{shown}"], "outside": "What a program does with it."}}"#)
    };
    for right in [file, &format!("{file} Health"), &format!("{file} Health::snapshot"), &format!("{file} snapshot")] {
        assert!(faults(&row(right, test)).is_empty(), "{right}");
    }
    for (wrong, fault) in [
        ("omen-gate/src/wealth.rs", "R5: no file `omen-gate/src/wealth.rs`"),
        (&*format!("{file} Heal"), "R5: `Heal` is not in `omen-gate/src/call/health.rs`"),
        (&*format!("{file} Wealth::snapshot"), "R5: `Wealth` is not in `omen-gate/src/call/health.rs`"),
        (&*format!("{file} Health::snap"), "R5: `snap` is not in `omen-gate/src/call/health.rs`"),
    ] {
        assert_eq!(faults(&row(wrong, test)), [fault]);
    }
    for right in ["ui/pg6_dispatched_twice.rs", "pages docs::evidence_is_looked_up_by_name"] {
        assert!(faults(&row(file, right)).is_empty(), "{right}");
    }
    for (wrong, fault) in [
        ("health::the_number_of_tools", "R5: `the_number_of_tools` is not in `omen-gate/tests/it/health.rs`"),
        ("ui/r5_nothing.rs", "R5: no file `compile-tests/tests/ui/r5_nothing.rs`"),
        ("xtask health::x", "R5: no file `xtask/tests/it/health.rs`"),
    ] {
        assert_eq!(faults(&row(file, wrong)), [fault]);
    }
}

#[test]
fn evidence_is_complete() {
    assert_eq!(
        faults(r#"{"enforced": [], "shown": [], "outside": ""}"#),
        ["R5: `enforced`, `shown` or `outside` is empty"]
    );
    let rows = Evidence::parse("{}").expect("rows");
    assert_eq!(rows.faults(["R5"]), ["missing evidence for R5"]);
    let stray = Evidence::parse(r#"{"R9": {"enforced": [], "shown": [], "outside": ""}}"#).expect("rows");
    assert_eq!(stray.faults([]), ["unknown code R9", "R9: `enforced`, `shown` or `outside` is empty"]);
    assert!(Evidence::parse(r#"{"R5": {"enforced": [], "shown": [], "outside": "", "why": ""}}"#).is_err());
    assert!(Evidence::parse("[]").is_err());
}
