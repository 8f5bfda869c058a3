//! The tool and its rules: all codes, with their texts.

use omen::finding::Code;
use omen_gate::GateCode;
use serde::Serialize;

use super::model::MessageText;
use crate::formats::shown::{ORDER, ShownCode, order_codes};

#[derive(Serialize)]
pub(super) struct SarifTool {
    driver: Driver,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    semantic_version: &'static str,
    rules: Vec<SarifRule>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifRule {
    id: &'static str,
    short_description: MessageText,
    full_description: MessageText,
    help: Help,
    default_configuration: Configuration,
    properties: RuleProperties,
}

#[derive(Serialize)]
struct Help {
    #[serde(flatten)]
    text: MessageText,
    markdown: String,
}

#[derive(Serialize)]
struct Configuration {
    level: &'static str,
}

#[derive(Serialize)]
struct RuleProperties {
    tags: Vec<&'static str>,
}

pub(super) fn of_packets() -> SarifTool {
    SarifTool::with(Code::ALL.iter().map(|code| SarifRule::from_code(*code)).collect())
}

/// Returns the tool with the rules on the order of calls.
pub(super) fn of_calls() -> SarifTool {
    SarifTool::with(order_codes().map(SarifRule::of_order).collect())
}

/// Returns the index of a code among the rules of its kind.
pub(super) fn index(code: ShownCode) -> Option<usize> {
    match code {
        ShownCode::Packet(code) => Code::ALL.iter().position(|known| *known == code),
        ShownCode::Gate(code) => order_codes().position(|known| known == code),
    }
}

impl SarifTool {
    fn with(rules: Vec<SarifRule>) -> Self {
        Self { driver: Driver { name: "omen", semantic_version: env!("CARGO_PKG_VERSION"), rules } }
    }
}

impl SarifRule {
    fn of_order(code: GateCode) -> Self {
        let parts = [("Rule", code.statement()), ("Why", code.rationale()), ("Help", code.help())];
        let text: Vec<_> = parts.iter().map(|(heading, text)| format!("{heading}: {text}")).collect();
        let markdown: Vec<_> = parts.iter().map(|(heading, text)| format!("**{heading}:** {text}")).collect();
        Self {
            id: code.as_str(),
            short_description: MessageText::new(code.title()),
            full_description: MessageText::new(code.statement()),
            help: Help { text: MessageText::new(&text.join("\n")), markdown: markdown.join("\n\n") },
            default_configuration: Configuration { level: "error" },
            properties: RuleProperties { tags: vec![ORDER] },
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
            short_description: MessageText::new(info.title),
            full_description: MessageText::new(info.statement),
            help: Help { text: MessageText::new(&text.join("\n")), markdown: markdown.join("\n\n") },
            default_configuration: Configuration { level },
            properties: RuleProperties { tags: [&[info.stage.as_str()][..], info.policy].concat() },
        }
    }
}
