//! Several servers behind one proxy: servers that the tests play, and a client that has them as one.

mod ends;
mod eras;
mod fail_open;
mod http;
mod ids;
mod lists;
mod random;
mod routing;
mod slow;
pub(crate) mod world;
