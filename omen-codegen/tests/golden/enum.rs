/// How fast to go.
#[derive(::serde::Serialize, Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Pace {
    /// `SLOW_AND_STEADY`: Without haste.
    #[serde(rename = "SLOW_AND_STEADY")]
    SlowAndSteady,
    /// `FAST`: Whatever it takes.
    #[serde(rename = "FAST")]
    Fast,
}

impl Pace {
    /// All values, in schema order.
    pub const ALL: &'static [Pace] = &[Pace::SlowAndSteady, Pace::Fast];
    /// Returns the JSON name of the value.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Pace::SlowAndSteady => "SLOW_AND_STEADY",
            Pace::Fast => "FAST",
        }
    }
    /// Returns the meaning of the value.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Pace::SlowAndSteady => "Without haste.",
            Pace::Fast => "Whatever it takes.",
        }
    }
    #[inline]
    fn from_text(text: &str) -> Option<Self> {
        match text {
            "SLOW_AND_STEADY" => Some(Pace::SlowAndSteady),
            "FAST" => Some(Pace::Fast),
            _ => None,
        }
    }
}

text_enum!(Pace, "Pace", "one of `SLOW_AND_STEADY`, `FAST`");

impl<'t> Parse<'t> for Pace {
    type Out = Self;
    #[inline]
    fn parse(cursor: &mut Cursor<'t>) -> ParseResult<Self> {
        static WORDS: Words<Pace, 2> = Words::new(
            1099511627775,
            1663341875487337577,
            [("SLOW_AND_STEADY", Pace::SlowAndSteady), ("FAST", Pace::Fast)],
        );
        cursor.word(&WORDS, Pace::from_text)
    }
}

static PACE_SHAPE: Shape = Shape {
    name: "Pace",
    kind: ShapeKind::Enum(&["SLOW_AND_STEADY", "FAST"]),
};
