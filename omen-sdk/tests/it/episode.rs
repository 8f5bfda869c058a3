//! The typed API at run time: the validator accepts what it writes, and rejects what it refuses.

mod attacks;
mod claims;
mod classes;
mod drops;
mod evidence;
mod faults;
mod fit;
mod forged;
mod generic;
mod log;
mod members;
mod origins;
mod poison;
mod proofs;
mod propose;
mod refusals;
mod resume;
mod says;
mod shape;
mod tasks;
mod waiver;
