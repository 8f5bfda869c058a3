//! The tool and its rules: all codes, with their texts.

use omen::finding::Code;
use omen_gate::GateCode;
use serde::Serialize;

use super::model::Text;
use crate::formats::shown::{ORDER, ShownCode, order_codes};

#[derive(Serialize)]
pub(super) struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    semantic_version: &'static str,
    rules: Vec<Rule>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: &'static str,
    short_description: Text,
    full_description: Text,
    help: Help,
    default_configuration: Configuration,
    properties: Properties,
}

#[derive(Serialize)]
struct Help {
    #[serde(flatten)]
    text: Text,
    markdown: String,
}

#[derive(Serialize)]
struct Configuration {
    level: &'static str,
}

#[derive(Serialize)]
struct Properties {
    tags: Vec<&'static str>,
}

/// Returns the tool with the rules for packets.
pub(super) fn of_packets() -> Tool {
    Tool::with(Code::ALL.iter().map(|code| Rule::from_code(*code)).collect())
}

/// Returns the tool with the rules on the order of calls.
pub(super) fn of_calls() -> Tool {
    Tool::with(order_codes().map(Rule::of_order).collect())
}

/// Returns the index of a code among the rules of its kind.
pub(super) fn index(code: ShownCode) -> Option<usize> {
    match code {
        ShownCode::Packet(code) => Code::ALL.iter().position(|known| *known == code),
        ShownCode::Gate(code) => order_codes().position(|known| known == code),
    }
}

impl Tool {
    fn with(rules: Vec<Rule>) -> Self {
        Self { driver: Driver { name: "omen", semantic_version: env!("CARGO_PKG_VERSION"), rules } }
    }
}

impl Rule {
    fn of_order(code: GateCode) -> Self {
        let parts = [("Rule", code.statement()), ("Why", code.rationale()), ("Help", code.help())];
        let text: Vec<_> = parts.iter().map(|(heading, text)| format!("{heading}: {text}")).collect();
        let markdown: Vec<_> = parts.iter().map(|(heading, text)| format!("**{heading}:** {text}")).collect();
        Self {
            id: code.as_str(),
            short_description: Text::new(code.title()),
            full_description: Text::new(code.statement()),
            help: Help { text: Text::new(&text.join("\n")), markdown: markdown.join("\n\n") },
            default_configuration: Configuration { level: "error" },
            properties: Properties { tags: vec![ORDER] },
        }
    }

    fn from_code(code: Code) -> Self {
        let info = code.info();
        let parts = [
            ("When", info.condition),
            ("Rule", info.statement),
            ("Why", info.rationale),
            ("Help", info.help),
            ("Source", info.source),
        ];
        let text: Vec<_> = parts.iter().map(|(heading, text)| format!("{heading}: {text}")).collect();
        let markdown: Vec<_> = parts.iter().map(|(heading, text)| format!("**{heading}:** {text}")).collect();
        // A rule that can both warn and fail counts as an error.
        let level = if info.severity.contains("error") { "error" } else { "warning" };
        Self {
            id: info.code,
            short_description: Text::new(info.title),
            full_description: Text::new(info.statement),
            help: Help { text: Text::new(&text.join("\n")), markdown: markdown.join("\n\n") },
            default_configuration: Configuration { level },
            properties: Properties { tags: [&[info.stage.as_str()][..], info.policy].concat() },
        }
    }
}
