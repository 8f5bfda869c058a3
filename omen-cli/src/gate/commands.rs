//! Words of command lines: launchers, whose program is named by a later word, and folders.

use std::path::Path;

/// Returns whether a word names a launcher, or is a subcommand of one.
pub(super) fn is_launcher(word: &str) -> bool {
    LAUNCHERS.contains(&stem(word))
}

/// Returns a file name without folder and extension.
pub(super) fn stem(word: &str) -> &str {
    Path::new(word).file_stem().and_then(|stem| stem.to_str()).unwrap_or(word)
}

const LAUNCHERS: &[&str] = &[
    "npx", "npm", "pnpm", "yarn", "bunx", "bun", "deno", "node", "uvx", "uv", "pipx", "python", "python3", "run",
    "exec", "dlx", "sh", "bash", "env",
];

/// Returns the words of a command that are existing folders, as written. Relative ones are resolved against `base`, the server's
/// working folder. Launchers, such as `npx`, and the program they start are never taken for folders.
pub(super) fn folders(command: &[String], base: &Path) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let words = command.iter().skip(started(command));
    for word in words {
        let word = match word.strip_prefix('-') {
            // The value of an option such as `--root=./data`.
            Some(option) => option.split_once('=').map_or("", |(_, value)| value),
            None => word,
        };
        if !word.is_empty() && !found.iter().any(|folder| folder == word) && base.join(word).is_dir() {
            found.push(word.to_owned());
        }
    }
    found
}

/// Returns the number of words up to and including the one that names the server's program or package.
fn started(command: &[String]) -> usize {
    let is_program = |word: &&String| !word.starts_with('-') && !is_launcher(word);
    command.iter().position(|word| is_program(&word)).map_or(1, |at| at + 1)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::folders;

    #[test]
    fn only_existing_folders_behind_the_program_count() {
        let base = tempfile::tempdir().unwrap();
        for name in ["data", "run", "server", "a b"] {
            std::fs::create_dir(base.path().join(name)).unwrap();
        }
        std::fs::write(base.path().join("file"), "").unwrap();
        let absolute = base.path().join("data").to_str().unwrap().to_owned();
        for (command, expected) in [
            ("npx|-y|@modelcontextprotocol/server-filesystem|./data", vec!["./data"]),
            ("npm|run|server|data|data", vec!["data"]),
            ("./server|--root=./data|a b|file|none", vec!["./data", "a b"]),
            ("uvx|mcp-server-git|--repository|.", vec!["."]),
            (&format!("server|{absolute}|--"), vec![&*absolute]),
            ("npx", vec![]),
            ("", vec![]),
        ] {
            let words: Vec<_> = command.split('|').map(str::to_owned).collect();
            assert_eq!(folders(&words, base.path()), expected, "{command}");
        }
        assert!(folders(&[], base.path()).is_empty());
    }
}
