//! Help texts of single findings, generated from `helps` in `rules.json` and `episode.fsm.json`: a module for each
//! rule. The help for all findings of a rule is `help` of [`RuleInfo`](omen_types::RuleInfo).

include!(concat!(env!("OUT_DIR"), "/helps.rs"));
