//! Lists the JSON files, so that new schemas and examples need no change in Rust code.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let mut code = String::new();
    for (name, doc, folder) in [
        ("FILES", "The schema files: path under `v0.7/`, text. Sorted by path.", "v0.7"),
        (
            "EXAMPLES",
            "The example logs and what they must give: path under `examples/`, text. Sorted by path.",
            "examples",
        ),
        ("HOOKS", "The dialects of coding agents' hooks: path under `hooks/`, text. Sorted by path.", "hooks"),
    ] {
        let folder = root.join(folder);
        let mut paths = Vec::new();
        walk(&folder, &mut paths)?;
        let mut named: Vec<(String, PathBuf)> = paths
            .into_iter()
            .map(|path| {
                let short = path.strip_prefix(&folder).unwrap_or(&path).to_string_lossy();
                (short.replace('\\', "/"), path)
            })
            .collect();
        named.sort();
        let _ = writeln!(code, "/// {doc}\npub static {name}: &[(&str, &str)] = &[");
        for (short, path) in named {
            let _ = writeln!(code, "    ({short:?}, include_str!({:?})),", path.to_string_lossy());
        }
        code.push_str("];\n");
    }
    fs::write(out.join("files.rs"), code)
}

fn walk(folder: &Path, into: &mut Vec<PathBuf>) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            walk(&path, into)?;
        } else if path.extension().is_some_and(|ext| ext == "json" || ext == "jsonl") {
            println!("cargo::rerun-if-changed={}", path.display());
            into.push(path);
        }
    }
    Ok(())
}
