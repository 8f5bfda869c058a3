//! Confirmations over a Unix socket (G3): a gate offers its questions there, and front ends answer them.
//!
//! [`SocketConfirmer`] is the gate's side, and [`FrontEnd`] the other one, which `omen gate confirm` uses. Only processes of
//! the user who runs the gate can answer: the socket is theirs alone (0600, in a folder with 0700), and the kernel names the
//! user of each connection. That user is in the audit log.
//!
//! # The protocol
//!
//! Each line is one JSON object in UTF-8, with a `type`. The gate begins:
//!
//! ```json
//! {"type":"hello","protocol":1,"pid":4711}
//! {"type":"question","id":1,"server":"files","tool":"write_file","permissions":["READ","WRITE"],"args":"{\"path\":\"a.txt\"}","hash":"9f86…","turn":"t1","seconds_left":57}
//! {"type":"listed"}
//! ```
//!
//! Up to `listed` are the questions that wait; later ones come as they are asked. `args` is a text: the arguments as canonical
//! JSON (RFC 8785), exactly as they will be sent and as the `hash` covers them, with server and tool. A front end answers
//! with the id and the hash of the question that it has shown:
//!
//! ```json
//! {"type":"answer","id":1,"hash":"9f86…","confirm":true}
//! {"type":"answer","id":1,"hash":"9f86…","confirm":false,"why":"wrong folder"}
//! ```
//!
//! and gets back whether the answer counts:
//!
//! ```json
//! {"type":"accepted","id":1}
//! {"type":"refused","id":1,"why":"it was confirmed before, by ann"}
//! ```
//!
//! The first answer counts. All front ends learn what became of a question: `confirmed`, `denied`, `timed_out`, or
//! `withdrawn`, if its call ended otherwise.
//!
//! ```json
//! {"type":"closed","id":1,"outcome":"confirmed","by":{"via":"socket","uid":1000,"user":"ann"}}
//! ```
//!
//! Readers ignore fields and types that they do not know. The gate does not: an answer with an unknown or a repeated field
//! is refused, and a line that exceeds [`MAX_ANSWER`] bytes ends the connection.

mod desk;
mod front_end;
mod message;
mod peer;
mod place;
mod service;
mod socket;

pub use desk::MAX_WAITING;
pub use front_end::{Answers, FrontEnd, Unreachable};
pub use message::{Answer, AnswerType, Message, OutcomeOfQuestion, PROTOCOL};
pub use place::SocketError;
pub use service::{MAX_ANSWER, MAX_FRONT_ENDS};
pub use socket::SocketConfirmer;
