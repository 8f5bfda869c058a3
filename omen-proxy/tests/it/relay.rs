//! What is not judged passes byte for byte, in both directions, but for what could end a line (`readers`).

use std::collections::VecDeque;

use crate::random::Random;
use crate::support::{World, proxy};

/// A random value: any text that JSON allows, as odd as it may be written.
fn value(random: &mut Random, depth: usize) -> String {
    const SCALARS: [&str; 12] = [
        "null",
        "true",
        "-0",
        "1e999",
        "0.10",
        "123456789012345678901234567890",
        "\"\\ud800\"",
        "\"\\/\\u0041é\u{202e}\"",
        "\"\"",
        "-1.5E+3",
        "[ ]",
        "{ }",
    ];
    const BLANKS: [&str; 4] = ["", " ", "\t", " \r "];
    let blank = BLANKS[random.below(4)];
    match random.below(if depth == 0 { 12 } else { 18 }) {
        scalar @ 0..12 => format!("{blank}{}", SCALARS[scalar]),
        12..15 => {
            let items: Vec<_> = (0..random.below(4)).map(|_| value(random, depth - 1)).collect();
            format!("[{}{blank}]", items.join(","))
        }
        _ => format!("{{{}{blank}}}", members(random, depth - 1, "")),
    }
}

/// Random members with keys that differ.
fn members(random: &mut Random, depth: usize, first: &str) -> String {
    let mut members: Vec<_> = if first.is_empty() { Vec::new() } else { vec![first.to_owned()] };
    for number in 0..random.below(4) {
        let key = ["k", "\\u006b", "K", "zé", "$x"][random.below(5)];
        members.push(format!("\"{key}{number}\" :{}", value(random, depth)));
    }
    members.join(",")
}

#[derive(Clone, Copy)]
enum Of {
    Client,
    Server,
}

/// Random messages of both sides, in an order in which they could be sent: what each side sends, and what the other has to
/// read, are the same lines.
fn conversation(random: &mut Random, count: usize) -> Vec<(Of, String)> {
    let mut lines = Vec::new();
    let (mut asked, mut number) = ([VecDeque::new(), VecDeque::new()], 0);
    while lines.len() < count {
        let (of, own, other) = if random.below(2) == 0 { (Of::Client, 0, 1) } else { (Of::Server, 1, 0) };
        let more = |random: &mut Random| {
            let members = members(random, 3, "");
            if members.is_empty() { String::new() } else { format!(",{members}") }
        };
        let body = format!("{{{}}}", members(random, 3, ""));
        let line = match random.below(4) {
            0 => {
                number += 1;
                let id = if random.below(2) == 0 { format!("{number}") } else { format!("\"\\u0069d {number}\"") };
                asked[own].push_back(id.clone());
                format!(r#"{{"params":{body},"method": "x/\u0079{number}","id":{id},"jsonrpc":"2.0"{}}}"#, more(random))
            }
            1 => format!(r#" {{"jsonrpc":"2.0"{},"method":"notifications/x"}}"#, more(random)),
            response => {
                let Some(id) = asked[other].pop_front() else { continue };
                let what = if response == 2 { "result" } else { "error" };
                format!(r#"{{"{what}": {body},"id":{id}{},"jsonrpc":"2.0"}} "#, more(random))
            }
        };
        lines.push((of, line));
    }
    lines
}

#[tokio::test]
async fn random_frames_pass_byte_for_byte_in_both_directions() {
    // In a release build as many as the goal is; else so many that the test is quick.
    let count = if cfg!(debug_assertions) { 4_000 } else { 100_000 };
    let lines = conversation(&mut Random(15), count);
    let (mut world, mut server) = World::with_server(proxy());
    let mut bytes = 0;
    // A few at a time, so that each side reads while the other writes, and responses come after their requests.
    for (of, line) in &lines {
        let read = match of {
            Of::Client => {
                world.client.send(line).await;
                server.line().await
            }
            Of::Server => {
                server.send(line).await;
                world.client.line().await
            }
        };
        assert_eq!(read, Some(line.replace('\r', " ")), "{:?}", world.logs);
        bytes += line.len();
    }
    println!("{count} frames, {bytes} bytes");
    assert_eq!(world.logs.lines(), [""; 0]);
}

#[tokio::test]
async fn messages_of_one_side_keep_their_order_however_fast_they_come() {
    let (mut world, mut server) = World::with_server(proxy());
    let lines: Vec<_> =
        (0..2_000).map(|n| format!(r#"{{"jsonrpc":"2.0","method":"notifications/x","params":{{"n":{n}}}}}"#)).collect();
    let (client, from_client, from_server) = (&mut world.client, lines.clone(), lines.clone());
    let mut to_server = client.to.take().unwrap();
    let all = lines.join("\n") + "\n";
    let write = async { tokio::io::AsyncWriteExt::write_all(&mut to_server, all.as_bytes()).await.unwrap() };
    let read = async {
        for line in &from_client {
            assert_eq!(server.line().await.as_deref(), Some(line.as_str()));
        }
        for line in &from_server {
            server.send(line).await;
        }
    };
    let read_back = async {
        for line in &from_server {
            assert_eq!(client.line().await.as_deref(), Some(line.as_str()));
        }
    };
    tokio::join!(write, read, read_back);
}

#[tokio::test]
async fn a_side_that_does_not_read_holds_up_the_other_one_and_no_memory() {
    let (mut world, server) = World::with_server(proxy());
    let line = format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":{{\"x\":\"{}\"}}}}\n",
        "x".repeat(500_000)
    );
    let mut to = world.client.to.take().unwrap();
    let mut sent = 0;
    // The server reads nothing: at some point nothing more is taken.
    while tokio::time::timeout(
        std::time::Duration::from_millis(500),
        tokio::io::AsyncWriteExt::write_all(&mut to, line.as_bytes()),
    )
    .await
    .is_ok()
    {
        sent += line.len();
        assert!(sent < 40 << 20, "the queue has no bound");
    }
    assert!(sent >= 8 << 20, "{sent}");
    drop(server);
}
