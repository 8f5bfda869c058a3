//! Programs that start another one, which a later word of their command names.

use std::path::Path;

/// Whether a word of a command is such a program, or a word that belongs to one.
pub(super) fn is_launcher(word: &str) -> bool {
    LAUNCHERS.contains(&stem(word))
}

/// The name of a file without its folder and ending.
pub(super) fn stem(word: &str) -> &str {
    Path::new(word).file_stem().and_then(|stem| stem.to_str()).unwrap_or(word)
}

const LAUNCHERS: &[&str] = &[
    "npx", "npm", "pnpm", "yarn", "bunx", "bun", "deno", "node", "uvx", "uv", "pipx", "python", "python3", "run",
    "exec", "dlx", "sh", "bash", "env",
];
