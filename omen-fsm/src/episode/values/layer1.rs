//! Authority of layer 1.

use omen_types::Text;

/// Authority of layer 1; only this authority overrides INV-003 (D30) and ends safe mode (D13).
///
/// The types cannot check who may hold it. The program that starts the agents creates it and gives them orders, never
/// the authority itself.
#[derive(Debug)]
pub struct Layer1(());

impl Layer1 {
    /// Assumes the authority of layer 1.
    #[must_use]
    pub fn assume() -> Self {
        Self(())
    }

    /// Returns an order with its reason. The order is valid for one use.
    pub fn order(&self, reason: Text) -> Layer1Order {
        Layer1Order(reason)
    }
}

/// Order of layer 1, valid for one use.
#[must_use = "it is given to `.layer1_override(..)`, `.clear(..)` or `Answer::order(..)`"]
#[derive(Debug)]
pub struct Layer1Order(Text);

impl Layer1Order {
    /// Returns the reason of the order.
    #[must_use]
    pub fn reason(&self) -> &Text {
        &self.0
    }
}
