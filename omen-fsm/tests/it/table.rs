//! The generated table equals that of the file, cell by cell.

use std::collections::BTreeSet;

use omen_fsm::{Event, Node, NodeSet};

use crate::simple::Simple;

#[test]
fn every_cell_is_that_of_the_file() {
    let simple = Simple::new();
    let mut legal = 0;
    for node in Node::ALL {
        for event in Event::ALL {
            let from = BTreeSet::from([node.as_str().to_owned()]);
            let expected = simple.step(&from, event.as_str());
            let found: BTreeSet<_> =
                NodeSet::of(*node).after(*event).iter().map(|node| node.as_str().to_owned()).collect();
            assert_eq!(found, expected, "{} in {}", event.as_str(), node.as_str());
            legal += usize::from(!found.is_empty());
        }
    }
    println!("{} cells, {legal} of them legal", Node::ALL.len() * Event::ALL.len());
}

#[test]
fn sets_of_nodes() {
    let both: NodeSet = [Node::Review, Node::Model].into_iter().collect();
    assert_eq!(both.to_string(), "S2_MODEL or S7_REVIEW");
    assert!(both.contains(Node::Review) && !both.contains(Node::Idle) && !both.is_empty());
    assert!(NodeSet::EMPTY.is_empty() && NodeSet::EMPTY.after(Event::Halt).is_empty());
    assert_eq!(both.after(Event::Observe), NodeSet::of(Node::Sense));
    assert!(NodeSet::of(Node::Idle).legal().eq([Event::Observe, Event::ObserveUser, Event::Alert, Event::Halt]));
}
