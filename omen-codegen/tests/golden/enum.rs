/// How fast to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, ::serde::Serialize)]
pub enum Pace {
    /// `SLOW_AND_STEADY`: Without haste.
    #[serde(rename = "SLOW_AND_STEADY")]
    SlowAndSteady,
    /// `FAST`: Whatever it takes.
    #[serde(rename = "FAST")]
    Fast,
}

impl Pace {
    /// Every value, in schema order.
    pub const ALL: &'static [Pace] = &[Pace::SlowAndSteady, Pace::Fast];
    /// The value as it is written in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Pace::SlowAndSteady => "SLOW_AND_STEADY",
            Pace::Fast => "FAST",
        }
    }
    /// What the value means.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Pace::SlowAndSteady => "Without haste.",
            Pace::Fast => "Whatever it takes.",
        }
    }
    #[inline]
    fn of(text: &str) -> Option<Self> {
        match text {
            "SLOW_AND_STEADY" => Some(Pace::SlowAndSteady),
            "FAST" => Some(Pace::Fast),
            _ => None,
        }
    }
}

impl ::std::fmt::Display for Pace {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl ::std::str::FromStr for Pace {
    type Err = Invalid;
    fn from_str(text: &str) -> Result<Self, Invalid> {
        Self::of(text)
            .ok_or_else(|| Invalid::new(
                "Pace",
                "one of `SLOW_AND_STEADY`, `FAST`",
                text.to_owned(),
            ))
    }
}

impl<'de> Read<'de> for Pace {
    type Out = Self;
    #[inline]
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Seed::<Self>::new())
    }
}

impl Visitor<'_> for Seed<Pace> {
    type Value = Pace;
    fn expecting(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        f.write_str("one of `SLOW_AND_STEADY`, `FAST`")
    }
    #[inline]
    fn visit_str<E: Error>(self, text: &str) -> Result<Pace, E> {
        Pace::of(text).ok_or_else(|| E::custom("one of `SLOW_AND_STEADY`, `FAST`"))
    }
}

impl<'de> ::serde::Deserialize<'de> for Pace {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <Self as Read<'de>>::read(deserializer)
    }
}

static PACE_SHAPE: Shape = Shape {
    name: "Pace",
    kind: ShapeKind::Enum(&["SLOW_AND_STEADY", "FAST"]),
};
