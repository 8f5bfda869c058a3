//! `omen gate init`: prints a configuration for a server, to be completed by the operator.

use std::os::unix::fs::PermissionsExt as _;

use super::catalog::{ROLE, server};
use super::*;

/// Runs `omen gate init` for a server in some role.
fn init(folder: &TempDir, role: &str, args: &[&str]) -> Run {
    let server = server();
    let command = ["--pass-env", ROLE, "--", "/bin/sh"].into_iter().chain(server.iter().map(String::as_str));
    let all = ["gate", "init"].into_iter().chain(args.iter().copied()).chain(command);
    run(omen(all).current_dir(folder).env(ROLE, role))
}

fn text(folder: &TempDir) -> String {
    fs::read_to_string(folder.path().join("gate.toml")).unwrap()
}

/// Returns the configuration of an operator who allows everything: each line of the proposals has one `#` less.
fn uncommented(text: &str) -> String {
    let line = |line: &str| match line.strip_prefix('#') {
        Some(entry) if !entry.starts_with('#') => format!("{entry}\n"),
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

/// Returns the file after an editor has removed a `#` from every line that has one.
fn without_one(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", line.strip_prefix('#').unwrap_or(line))).collect()
}

#[test]
fn nothing_is_allowed_until_the_operator_does() {
    let folder = folder(&[("plans.jsonl", read().as_bytes())]);
    let made = init(&folder, "good", &["--server", "files"]);
    assert_eq!((made.code, made.stderr.as_str()), (0, ""));
    assert_eq!(
        made.stdout.lines().take(2).collect::<Vec<_>>(),
        [
            "wrote gate.toml: 7 tools of `files`, none of them allowed yet",
            "wrote audit.key: keep it where neither the agent nor its tools can read it"
        ]
    );
    let mode = fs::metadata(folder.path().join("audit.key")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let file = text(&folder);
    let tool = format!(
        "\
## write_file(path, text)
##     Writes a file.
##     Proposed: READ (every tool answers), WRITE (it does not claim to be read-only).
#[[allow]]
#server = \"files\"
#tool = \"write_file\"
#permissions = [\"READ\", \"WRITE\"]
#pin = \"{pin}\"
## To restrict its arguments, add this in a table `[allow.where]`, with your own folders and hosts:
##     \"/path\" = {{ under = [\"./data\"] }}
#[[grants]]
#server = \"files\"
#tool = \"write_file\"
#permissions = [\"READ\", \"WRITE\"]
",
        pin = pin_of("write_file")
    );
    assert!(file.contains(&tool), "{file}");
    let long: Vec<_> = file.lines().filter(|line| line.chars().count() > 104 && !line.starts_with("args = ")).collect();
    assert!(long.is_empty(), "{long:?}");
    let config = omen_gate::Config::parse(&file).unwrap();
    assert_eq!((config.allow.iter().count(), config.grants.len()), (0, 0));
    let check = gate(&folder, &["check", "--config", "gate.toml"]);
    assert_eq!(check.code, 0, "{}", check.stdout);

    // The operator's next step.
    assert_eq!(gate_as(&folder, "good", &["catalog", "--config", "gate.toml", "--out", "catalog.json"]).code, 0);
    let denied = dry_run(&folder, &["plans.jsonl"]);
    assert!(denied.code == 1 && denied.stdout.contains("PG-3"), "{}", denied.stdout);
    write(folder.path(), "gate.toml", uncommented(&file).as_bytes());
    let allowed = dry_run(&folder, &["plans.jsonl"]);
    assert!(allowed.stdout.contains(r#""verdict":"needs_confirmation""#), "{} {}", allowed.stdout, allowed.stderr);
    let config = omen_gate::Config::load(&folder.path().join("gate.toml")).unwrap();
    assert_eq!((config.allow.iter().count(), config.grants.len()), (7, 14));
    assert!(config.grants.iter().all(|grant| !grant.pre_granted));
    // Prose stays a comment.
    let same = omen_gate::Config::parse(&without_one(&file)).unwrap();
    assert_eq!((same.allow.iter().count(), same.grants.len()), (7, 14));
    assert_ne!(same.hash(), omen_gate::Config::parse(&file).unwrap().hash());
}

/// The rules are about the folders that are passed to the server, and every uncommented prefix is a valid configuration.
#[test]
fn folders_are_those_of_the_command() {
    let folder = folder(&[("here", b"")]);
    fs::create_dir_all(folder.path().join("conf/data")).unwrap();
    fs::create_dir_all(folder.path().join("not")).unwrap();
    let absolute = folder.path().canonicalize().unwrap().join("not");
    let mut command = server();
    command.extend([
        "--".to_owned(),
        "./data".to_owned(),
        "not".to_owned(),
        format!("--more={}", absolute.display()),
        "../here".to_owned(),
    ]);
    let args = ["gate", "init", "--config", "conf/gate.toml", "--server", "files", "--pass-env", ROLE, "--", "/bin/sh"];
    let args: Vec<_> = args.into_iter().chain(command.iter().map(String::as_str)).collect();
    let made = run(omen(args).current_dir(&folder).env(ROLE, "good"));
    assert_eq!((made.code, made.stderr.as_str()), (0, ""));
    let file = fs::read_to_string(folder.path().join("conf/gate.toml")).unwrap();
    let rule = format!("#[allow.where]\n#\"/path\" = {{ under = [\"./data\", \"{}\"] }}\n", absolute.display());
    assert_eq!(file.matches(&rule).count(), 2, "{file}");
    for (number, _) in file.match_indices("\n\n##").chain([(file.len(), "")]) {
        // The first `number` tools are allowed.
        let (these, others) = file.split_at(number);
        let text = uncommented(these) + others;
        let config = omen_gate::Config::parse_as(&text, &folder.path().join("conf/gate.toml"));
        config.unwrap_or_else(|errors| panic!("{errors}: {text}"));
    }
    write(folder.path(), "conf/gate.toml", uncommented(&file).as_bytes());
    let check = gate(&folder, &["check", "--config", "conf/gate.toml"]);
    assert!(check.stdout.starts_with("conf/gate.toml: 0 errors, 0 warnings\n"), "{}", check.stdout);
}

#[test]
fn what_is_named_is_in_force() {
    let folder = folder(&[("plans.jsonl", read().as_bytes())]);
    let made = init(&folder, "good", &["--server", "files", "--allow", "read_file", "--allow", "move_file"]);
    assert_eq!((made.code, made.stderr.as_str()), (0, ""));
    assert!(
        made.stdout.starts_with("wrote gate.toml: 7 tools of `files`, allowed: `read_file`, `move_file`\n"),
        "{}",
        made.stdout
    );
    let config = omen_gate::Config::load(&folder.path().join("gate.toml")).unwrap();
    let allowed: Vec<_> = config.allow.iter().map(|allowed| allowed.demand.tool.tool.as_str()).collect();
    assert_eq!((allowed, config.grants.len()), (vec!["move_file", "read_file"], 4));
    assert_eq!(gate(&folder, &["check", "--config", "gate.toml"]).code, 0);
    // The others can still be selected.
    let all = omen_gate::Config::parse(&uncommented(&text(&folder))).unwrap();
    assert_eq!(all.allow.iter().count(), 7);

    for (args, why) in [
        (["--allow", "read_fil"], "omen: the server `files` lists no tool `read_fil`; did you mean `read_file`?\n"),
        (["--allow", "quite_another"], "omen: the server `files` lists no tool `quite_another`; its tools are `"),
    ] {
        let folder = super::folder(&[]);
        let refused = init(&folder, "good", &[&["--server", "files"], &args[..]].concat());
        assert_eq!((refused.code, refused.stdout.as_str()), (2, ""));
        assert!(refused.stderr.starts_with(why), "{}", refused.stderr);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

#[test]
fn the_folder_of_the_configuration_is_made_and_goes_with_a_failure() {
    let folder = folder(&[]);
    let failed = init(&folder, "dying", &["--server", "files", "--config", "gates/files/gate.toml"]);
    assert_eq!(failed.code, 3);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    let made = init(&folder, "good", &["--server", "files", "--config", "gates/files/gate.toml"]);
    assert_eq!((made.code, made.stderr.as_str()), (0, ""));
    assert!(folder.path().join("gates/files/audit.key").exists());
    // An existing folder is unchanged.
    fs::create_dir(folder.path().join("mine")).unwrap();
    let failed = init(&folder, "dying", &["--server", "files", "--config", "mine/more/gate.toml"]);
    assert_eq!(failed.code, 3);
    assert!(folder.path().join("mine").exists() && !folder.path().join("mine/more").exists());
}

fn gate_as(folder: &TempDir, role: &str, args: &[&str]) -> Run {
    run(omen(["gate"].into_iter().chain(args.iter().copied())).current_dir(folder).env(ROLE, role))
}

#[test]
fn nothing_is_overwritten() {
    let folder = folder(&[("gate.toml", b"# mine\n")]);
    let refused = init(&folder, "good", &["--server", "files"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (3, ""));
    assert_eq!(
        refused.stderr,
        "omen: gate.toml already exists; add the server to it with `--add`, choose another file, or replace it with `--force`\n"
    );
    assert_eq!(text(&folder), "# mine\n");
    assert!(!folder.path().join("audit.key").exists());

    // The key of an existing log outlives the configuration.
    assert_eq!(gate(&folder, &["--help"]).code, 0);
    assert_eq!(run(omen(["audit", "new-key", "audit.key"]).current_dir(&folder)).code, 0);
    let key = fs::read(folder.path().join("audit.key")).unwrap();
    let forced = init(&folder, "good", &["--server", "files", "--force"]);
    assert_eq!(forced.code, 0, "{}", forced.stderr);
    assert!(forced.stdout.contains("\nkept audit.key\n"), "{}", forced.stdout);
    assert_eq!(fs::read(folder.path().join("audit.key")).unwrap(), key);
    assert!(text(&folder).contains("[servers.\"files\"]"), "{}", text(&folder));

    // A key that others can read is refused.
    fs::set_permissions(folder.path().join("audit.key"), fs::Permissions::from_mode(0o644)).unwrap();
    let open = init(&folder, "good", &["--server", "files", "--force", "--config", "other.toml"]);
    assert_eq!(open.code, 3);
    assert!(open.stderr.contains("is accessible to other users (mode 644); run `chmod 600 "), "{}", open.stderr);
    assert!(!folder.path().join("other.toml").exists());
}

/// The default for recorded arguments is written, with the alternatives as comments.
#[test]
fn what_is_recorded_of_arguments_is_the_default() {
    let folder = folder(&[]);
    assert_eq!(init(&folder, "good", &["--server", "files"]).code, 0);
    let file = text(&folder);
    assert!(file.contains("\n##     arguments = \"full\"\n") && file.ends_with("\narguments = \"hash\"\n"), "{file}");
    let without = file.replace("\narguments = \"hash\"\n", "\n");
    let config = |text: &str| omen_gate::Config::parse(text).unwrap().audit.unwrap();
    assert_eq!(format!("{:?}", config(&file).recorder), format!("{:?}", config(&without).recorder));
}

/// A second server is added to the same configuration, whose text is unchanged.
#[test]
fn a_second_server_is_added() {
    let folder = folder(&[]);
    let add = |server: &str, more: &[&str]| init(&folder, "good", &[&["--add", "--server", server], more].concat());
    let missing = add("mail", &[]);
    assert_eq!((missing.code, missing.stdout.as_str()), (3, ""));
    assert!(missing.stderr.contains("omit `--add`"), "{}", missing.stderr);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);

    assert_eq!(init(&folder, "good", &["--server", "files", "--allow", "read_file"]).code, 0);
    // As an editor may leave it.
    let mine = format!("## mine\n{}", text(&folder).trim_end());
    write(folder.path(), "gate.toml", mine.as_bytes());
    let key = fs::read(folder.path().join("audit.key")).unwrap();
    let added = add("mail", &["--allow", "write_file"]);
    assert_eq!((added.code, added.stderr.as_str()), (0, ""));
    assert!(
        added.stdout.starts_with("added to gate.toml: 7 tools of `mail`, allowed: `write_file`\nnext:\n"),
        "{}",
        added.stdout
    );
    let both = text(&folder);
    assert!(both.starts_with(&format!("{mine}\n\n[servers.\"mail\"]\n")), "{both}");
    assert_eq!(fs::read(folder.path().join("audit.key")).unwrap(), key);
    let config = omen_gate::Config::load(&folder.path().join("gate.toml")).unwrap();
    let names: Vec<_> = config.servers.keys().map(|name| name.as_str()).collect();
    let allowed: Vec<_> = config.allow.iter().map(|allowed| allowed.demand.tool.to_string()).collect();
    assert_eq!(
        (names, allowed),
        (vec!["files", "mail"], vec!["files/read_file".to_owned(), "mail/write_file".to_owned()])
    );
    assert_eq!(gate(&folder, &["check", "--config", "gate.toml"]).code, 0);
    let all = omen_gate::Config::parse(&uncommented(&both)).unwrap();
    assert_eq!(all.allow.iter().count(), 14);

    // A server that cannot be added changes nothing.
    let twice = add("mail", &[]);
    assert_eq!((twice.code, twice.stdout.as_str()), (3, ""));
    assert!(
        twice.stderr.contains("already has a server `mail`; give the new one another name with `--server NAME`"),
        "{}",
        twice.stderr
    );
    assert_eq!(add("more", &["--allow", "none"]).code, 2);
    assert_eq!(init(&folder, "dying", &["--add", "--server", "more"]).code, 3);
    assert_eq!(add("more", &["--force"]).code, 2);
    assert_eq!(text(&folder), both);
    write(folder.path(), "gate.toml", b"[servers\n");
    let broken = add("more", &[]);
    assert!(broken.code == 3 && broken.stderr.contains("omen gate check --config gate.toml"), "{}", broken.stderr);
    assert_eq!(text(&folder), "[servers\n");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn what_a_server_says_stays_in_its_comment() {
    let folder = folder(&[]);
    assert_eq!(init(&folder, "sly", &["--server", "files"]).code, 0);
    let file = text(&folder);
    assert!(!file.contains(|c: char| c.is_control() && c != '\n' || c == '\u{202e}'), "{file:?}");
    assert!(omen_gate::Config::parse(&file).unwrap().allow.iter().next().is_none());
    let config = omen_gate::Config::parse(&uncommented(&file)).unwrap();
    assert_eq!(config.allow.iter().count(), 1, "{file}");
    assert!(file.contains("##     Proposed: READ (it claims to be read-only).\n"), "{file}");
}

#[test]
fn a_server_that_fails_leaves_nothing() {
    for role in ["dying", "garbling"] {
        let folder = folder(&[]);
        let run = init(&folder, role, &["--server", "files"]);
        assert_eq!((run.code, run.stdout.as_str()), (3, ""));
        assert!(run.stderr.starts_with("omen: cannot list the tools of the server `files`: "), "{}", run.stderr);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
    let folder = folder(&[]);
    let run = gate(&folder, &["init", "--", "./no-such-server"]);
    assert_eq!(run.code, 3);
    assert!(run.stderr.contains("`no-such`") && run.stderr.contains("`./no-such-server`"), "{}", run.stderr);
}

/// The server runs where it will run later: in the folder of the configuration.
#[test]
fn the_server_runs_in_the_folder_of_the_configuration() {
    let folder = folder(&[]);
    fs::create_dir(folder.path().join("conf")).unwrap();
    let words: Vec<_> = server().iter().map(|word| format!("'{word}'")).collect();
    let script = format!("#!/bin/sh\npwd > here\nexec /bin/sh {}\n", words.join(" "));
    write(folder.path(), "conf/server.sh", script.as_bytes());
    fs::set_permissions(folder.path().join("conf/server.sh"), fs::Permissions::from_mode(0o700)).unwrap();
    let args = ["gate", "init", "--config", "conf/gate.toml", "--pass-env", ROLE, "--", "./server.sh"];
    let made = run(omen(args).current_dir(&folder).env(ROLE, "good"));
    assert_eq!(made.code, 0, "{}", made.stderr);
    let here = || fs::read_to_string(folder.path().join("conf/here")).unwrap();
    let conf = folder.path().join("conf").canonicalize().unwrap();
    assert_eq!(here().trim_end(), conf.to_str().unwrap());
    assert!(folder.path().join("conf/audit.key").exists());

    fs::remove_file(folder.path().join("conf/here")).unwrap();
    let later = run(omen(["gate", "catalog", "--config", conf.join("gate.toml").to_str().unwrap()])
        .current_dir("/")
        .env(ROLE, "good"));
    assert_eq!(later.code, 0, "{}", later.stderr);
    assert_eq!(here().trim_end(), conf.to_str().unwrap());
}

#[test]
fn a_server_needs_a_name_and_a_command() {
    let folder = folder(&[]);
    for args in [&["init"][..], &["init", "--"], &["init", "--", "---"], &["init", "--server", "a b\u{7}", "--", "x"]] {
        let run = gate(&folder, args);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args:?}: {}", run.stderr);
    }
}
