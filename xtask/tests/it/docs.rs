//! The generated tables of the docs are those of the schema files.

use xtask::docs;

#[test]
fn the_tables_of_the_protocol_page_are_up_to_date() {
    let page = std::fs::read_to_string(docs::protocol_page()).expect("docs/protocol.md");
    let filled = docs::filled(&page).expect("regions that can be filled");
    assert!(page == filled, "docs/protocol.md is not up to date: run `cargo xtask docs`");
    for table in ["| `S3_DECIDE/ACT` |", "| INV-012 |", "| E7 |", "| `QueueUpdatePacket` |", "| `release` |"] {
        assert!(page.contains(table), "no row `{table}`");
    }
}
