//! Test code that runs in a separate process, and is killed by the test that starts it.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStdout, Command, Stdio};

/// Process that runs one test of the same test binary.
#[derive(Debug)]
pub struct TestChild {
    child: Child,
    output: BufReader<ChildStdout>,
    text: String,
}

impl TestChild {
    /// Starts the test with this path. The variables tell it that it runs as the child.
    ///
    /// # Panics
    /// If it cannot be started.
    #[must_use]
    pub fn start(test: &str, variables: &[(&str, &OsStr)]) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture", "--test-threads=1"])
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, output, text: String::new() }
    }

    /// Waits for a line that contains a word, or for the end of the output. The test harness also prints lines.
    ///
    /// # Panics
    /// If the output cannot be read.
    pub fn read_until(&mut self, word: &str) {
        let mut start = self.text.len();
        while self.output.read_line(&mut self.text).unwrap() > 0 && !self.text[start..].contains(word) {
            start = self.text.len();
        }
    }

    /// Kills the process, and returns everything that it has printed.
    ///
    /// # Panics
    /// If it has already ended by itself and passed.
    #[must_use]
    pub fn kill(mut self) -> String {
        self.child.kill().unwrap();
        assert!(!self.child.wait().unwrap().success());
        self.output.read_to_string(&mut self.text).unwrap();
        self.text
    }
}
