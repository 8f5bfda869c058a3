//! G1 to G4: grants, revocation, confirmation, decisions.

mod confirm;
mod decisions;
mod races;
mod store;
