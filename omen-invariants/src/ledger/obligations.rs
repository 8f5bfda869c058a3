//! Obligations of the verification loop, and sets of them.

use std::fmt;

include!(concat!(env!("OUT_DIR"), "/obligations.rs"));

/// Set of obligations.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Obligations(u8);

const _: () = assert!(Obligation::ALL.len() <= u8::BITS as usize, "the set has a bit for each obligation");

impl Obligations {
    /// Returns whether the set contains an obligation.
    #[must_use]
    pub const fn contains(self, obligation: Obligation) -> bool {
        self.0 & Self::bit(obligation) != 0
    }

    /// Adds an obligation.
    pub const fn insert(&mut self, obligation: Obligation) {
        self.0 |= Self::bit(obligation);
    }

    /// Adds all obligations of another set.
    pub const fn extend(&mut self, other: Self) {
        self.0 |= other.0;
    }

    pub(super) const fn bits(self) -> u8 {
        self.0
    }

    pub(super) const fn of_bits(bits: u8) -> Self {
        Self(bits)
    }

    const fn bit(obligation: Obligation) -> u8 {
        1 << obligation as u8
    }
}

impl FromIterator<Obligation> for Obligations {
    fn from_iter<I: IntoIterator<Item = Obligation>>(obligations: I) -> Self {
        let mut set = Self::default();
        obligations.into_iter().for_each(|obligation| set.insert(obligation));
        set
    }
}

impl fmt::Debug for Obligations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(Obligation::ALL.iter().filter(|obligation| self.contains(**obligation))).finish()
    }
}
