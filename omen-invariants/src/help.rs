//! Help texts of individual findings, generated from `helps` in `rules.json`: one module for each rule. The
//! general help of a rule is `help` in [`RuleInfo`](omen_types::RuleInfo).

include!(concat!(env!("OUT_DIR"), "/helps.rs"));
