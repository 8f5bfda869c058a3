//! The authority of layer 1.

use omen_types::Text;

/// The authority of layer 1, which has the last word: it alone overrides INV-003 (D30) and ends safe
/// mode (D13).
///
/// The types cannot tell who deserves it. Whoever starts the agents makes it, and hands on orders, not
/// this.
#[derive(Debug)]
pub struct Layer1(());

impl Layer1 {
    /// Takes the authority up, on behalf of those who bear it.
    #[must_use]
    pub fn assume() -> Self {
        Self(())
    }

    /// An order, with its reason. Good for one use.
    pub fn order(&self, reason: Text) -> Layer1Order {
        Layer1Order(reason)
    }
}

/// An order of layer 1. Good for one use.
#[must_use = "it is given to `.layer1_override(..)`, `.clear(..)` or `Answer::order(..)`"]
#[derive(Debug)]
pub struct Layer1Order(Text);

impl Layer1Order {
    /// Why it was given.
    #[must_use]
    pub fn reason(&self) -> &Text {
        &self.0
    }
}
