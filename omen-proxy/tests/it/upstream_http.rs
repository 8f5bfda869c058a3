//! Servers over HTTP behind the proxy: one that the tests play over plain TCP, so that it can say what no library would.

mod faults;
mod leaks;
mod listing;
mod lists;
mod sessions;
mod standing;
mod stateless;
mod tls;
mod world;
