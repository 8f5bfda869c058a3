/// Code of a finding. Codes are stable: new ones are added, existing ones never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Code {
    /// `JSON`: unreadable line.
    Json,
    /// `E1`: pen before paper.
    E1,
    /// `INV-001`: no note without a pen.
    Inv001,
}

impl Code {
    /// All codes, in the order of the documentation.
    pub const ALL: &'static [Code] = &[Code::Json, Code::E1, Code::Inv001];
    /// Returns the code as text, such as `INV-007`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Code::Json => "JSON",
            Code::E1 => "E1",
            Code::Inv001 => "INV-001",
        }
    }
    /// Returns the documentation of the code.
    #[must_use]
    pub fn info(self) -> &'static RuleInfo {
        match self {
            Code::Json => {
                const {
                    &RuleInfo {
                        code: "JSON",
                        title: "unreadable line",
                        stage: Stage::Json,
                        severity: "error",
                        policy: &[],
                        condition: "Every line.",
                        packet_types: &[],
                        statement: "A line is JSON.",
                        rationale: "Nothing else can be read.",
                        help: "Write JSON.",
                        failure: "It is refused.",
                        source: "RFC 8259",
                        shared_with: None,
                        reported_as: None,
                    }
                }
            }
            Code::E1 => {
                const {
                    &RuleInfo {
                        code: "E1",
                        title: "pen before paper",
                        stage: Stage::Fsm,
                        severity: "error",
                        policy: &[],
                        condition: "Every start.",
                        packet_types: &[],
                        statement: "The pen comes first.",
                        rationale: "As INV-001 has it.",
                        help: "Put the paper down.",
                        failure: "It is refused.",
                        source: "common sense",
                        shared_with: Some(Code::Inv001),
                        reported_as: None,
                    }
                }
            }
            Code::Inv001 => {
                const {
                    &RuleInfo {
                        code: "INV-001",
                        title: "no note without a pen",
                        stage: Stage::Invariant,
                        severity: "error|warning",
                        policy: &["P2", "P7"],
                        condition: "Every note.",
                        packet_types: &[],
                        statement: "A note needs a pen.",
                        rationale: "Thoughts fade.",
                        help: "Fetch a pen.",
                        failure: "It is refused.",
                        source: "common sense",
                        shared_with: None,
                        reported_as: None,
                    }
                }
            }
        }
    }
}
