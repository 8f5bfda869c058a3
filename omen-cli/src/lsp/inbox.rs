//! Messages that have come from the editor and are not handled yet.

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use serde_json::Value;

use super::transport::{self, InputFrame};

/// Messages from standard input, which a thread reads ahead.
pub(super) struct Inbox {
    receiver: Receiver<io::Result<InputFrame>>,
    waiting: VecDeque<io::Result<InputFrame>>,
}

impl Inbox {
    pub(super) fn new() -> Self {
        let (sender, receiver) = sync_channel(MOST_WAITING);
        thread::spawn(move || {
            let mut input = io::stdin().lock();
            loop {
                let frame = match transport::read(&mut input) {
                    Ok(Some(frame)) => Ok(frame),
                    Ok(None) => return,
                    Err(error) => Err(error),
                };
                let is_end = frame.is_err();
                // Without a receiver the process is about to end.
                if sender.send(frame).is_err() || is_end {
                    return;
                }
            }
        });
        Self { receiver, waiting: VecDeque::new() }
    }

    /// The next message, if one has come.
    pub(super) fn next(&mut self) -> Option<io::Result<InputFrame>> {
        self.collect();
        self.waiting.pop_front()
    }

    /// Waits for the next message; `None` at the end of standard input.
    pub(super) fn wait(&mut self) -> Option<io::Result<InputFrame>> {
        self.next().or_else(|| self.receiver.recv().ok())
    }

    /// Whether a waiting message has a property.
    pub(super) fn has(&mut self, property: impl Fn(&Value) -> bool) -> bool {
        self.collect();
        self.waiting.iter().any(|frame| matches!(frame, Ok(InputFrame::Message(message)) if property(message)))
    }

    fn collect(&mut self) {
        while self.waiting.len() < MOST_WAITING
            && let Ok(frame) = self.receiver.try_recv()
        {
            self.waiting.push_back(frame);
        }
    }
}

/// The most messages that are read ahead; the editor has to wait with the next ones.
const MOST_WAITING: usize = 64;
