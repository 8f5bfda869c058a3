//! The generated parts of the docs are those of the schema files and of the compile-fail cases.

use xtask::docs;

#[test]
fn the_pages_are_up_to_date() {
    for path in docs::pages() {
        let page = std::fs::read_to_string(&path).expect("a page");
        let filled = docs::filled(&page).expect("regions that can be filled");
        assert!(page == filled, "{} is not up to date: run `cargo xtask docs`", path.display());
    }
}

#[test]
fn the_pages_show_what_they_are_for() {
    let pages = docs::pages().map(|path| std::fs::read_to_string(path).expect("a page"));
    let [protocol, errors] = &pages;
    for table in ["| `S3_DECIDE/ACT` |", "| INV-012 |", "| E7 |", "| `QueueUpdatePacket` |", "| `release` |"] {
        assert!(protocol.contains(table), "no row `{table}`");
    }
    for heading in ["## INV-007: ", "## E1: ", "### Acting on speculative work"] {
        assert!(errors.contains(heading), "no heading `{heading}`");
    }
    for path in ["/home/", "/tmp/", "/usr/", "fn main() {}"] {
        assert!(!errors.contains(path), "`{path}` is in the gallery");
    }
}
