/// A text for one line of a screen, in characters and not bytes.
///
/// Takes a string of 1 to 80 characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, ::serde::Serialize)]
pub struct ShortText(String);

impl ShortText {
    /// Checks and takes a text.
    ///
    /// # Errors
    /// If the text is not one.
    pub fn new(text: impl Into<String>) -> Result<Self, Invalid> {
        let text = text.into();
        if <Self as TextScalar>::holds(&text) {
            Ok(Self(text))
        } else {
            Err(Invalid::new("ShortText", <Self as TextScalar>::EXPECTS, text))
        }
    }
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl crate::scalar::sealed::Scalar for ShortText {}

impl TextScalar for ShortText {
    const EXPECTS: &'static str = "a string of 1 to 80 characters";
    #[inline]
    fn holds(text: &str) -> bool {
        !text.is_empty() && text.chars().count() <= 80usize
    }
}

impl crate::scalar::Trusted<String> for ShortText {
    #[inline]
    fn trusted(text: String) -> Self {
        Self(text)
    }
}

impl ::std::fmt::Display for ShortText {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for ShortText {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl From<ShortText> for String {
    fn from(value: ShortText) -> String {
        value.0
    }
}

impl ::std::str::FromStr for ShortText {
    type Err = Invalid;
    fn from_str(text: &str) -> Result<Self, Invalid> {
        Self::new(text)
    }
}

impl TryFrom<&str> for ShortText {
    type Error = Invalid;
    fn try_from(text: &str) -> Result<Self, Invalid> {
        Self::new(text)
    }
}

impl TryFrom<String> for ShortText {
    type Error = Invalid;
    fn try_from(text: String) -> Result<Self, Invalid> {
        Self::new(text)
    }
}

impl<'de> ::serde::Deserialize<'de> for ShortText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <OwnedText<Self> as Read<'de>>::read(deserializer)
    }
}

static SHORT_TEXT_SHAPE: Shape = Shape {
    name: "ShortText",
    kind: ShapeKind::Text {
        expects: "a string of 1 to 80 characters",
        holds: <ShortText as TextScalar>::holds,
    },
};
