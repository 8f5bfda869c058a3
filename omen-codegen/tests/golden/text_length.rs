/// A text for one line of a screen, in characters and not bytes.
///
/// Accepts a string of 1 to 80 characters, with a visible character if a program creates it.
#[derive(::serde::Serialize, Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ShortText(String);

text_scalar!(ShortText, "ShortText");

impl TextScalar for ShortText {
    const EXPECTS: &'static str = "a string of 1 to 80 characters";
    const IS_FOR_READERS: bool = true;
    #[inline]
    fn holds(text: &str) -> bool {
        !text.is_empty() && text.chars().count() <= 80usize
    }
}

static SHORT_TEXT_SHAPE: Shape = Shape {
    name: "ShortText",
    kind: ShapeKind::Text {
        expects: "a string of 1 to 80 characters",
        example: "…",
        holds: <ShortText as TextScalar>::holds,
    },
};
