//! Front ends that do not keep to the protocol.

use omen_proxy::confirm::{MAX_ANSWER, MAX_WAITING, Message};
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use super::{Person, World, named, path};

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_an_answer_is_refused_and_confirms_nothing() {
    let world = World::new();
    let (mut person, _) = Person::come(&world.socket()).await;
    let asked = world.ask(path("a.txt"));
    let question = person.next().await;
    let (id, hash) = named(&question);
    for line in [
        String::new(),
        "y".to_owned(),
        "true".to_owned(),
        "[]".to_owned(),
        format!(r#"{{"type":"answer","id":{id},"confirm":true}}"#),
        format!(r#"{{"id":{id},"hash":"{hash}","confirm":true}}"#),
        format!(r#"{{"type":"question","id":{id},"hash":"{hash}","confirm":true}}"#),
        format!(r#"{{"type":"answer","id":{id},"hash":"{hash}","confirm":"true"}}"#),
        format!(r#"{{"type":"answer","id":{id},"hash":"{hash}","confirm":true,"always":true}}"#),
        format!(r#"{{"type":"answer","id":{id},"hash":"{hash}","confirm":false,"confirm":true}}"#),
        format!(r#"{{"type":"answer","id":{id}.0,"hash":"{hash}","confirm":true}}"#),
        format!(r#"{{"type":"answer","id":{id},"hash":"{}","confirm":true}}"#, hash.to_uppercase()),
        format!(r#"{{"type":"answer","id":{},"hash":"{hash}","confirm":true}}"#, id + 1),
        format!(r#"{{"type":"answer","id":{id},"hash":"{hash}","confirm":true}} {{}}"#),
    ] {
        person.say(&line);
        assert!(matches!(person.next().await, Message::Refused { .. }), "{line}");
    }
    assert!(!asked.is_finished());
    person.answer(&question, false);
    assert!(asked.await.unwrap().1.is_err());
}

/// Half a line is not an answer, however long it is.
#[tokio::test(flavor = "multi_thread")]
async fn a_line_that_is_too_long_ends_the_connection() {
    let world = World::new();
    let (mut person, _) = Person::come(&world.socket()).await;
    let asked = world.ask(path("a.txt"));
    let question = person.next().await;
    let (id, hash) = named(&question);
    let mut rude = UnixStream::connect(world.socket()).unwrap();
    let start = format!(r#"{{"type":"answer","id":{id},"hash":"{hash}","confirm":true,"why":""#);
    let read = tokio::task::spawn_blocking(move || {
        rude.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        // The gate may hang up before everything is written.
        let _ = rude.write_all((start + &"x".repeat(MAX_ANSWER)).as_bytes());
        let mut all = Vec::new();
        let _ = rude.read_to_end(&mut all);
        String::from_utf8(all).unwrap()
    });
    let read = read.await.unwrap();
    assert!(!read.contains("accepted"), "{read}");
    assert!(!asked.is_finished());
    person.answer(&question, false);
    assert!(asked.await.unwrap().1.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_is_bounded() {
    let world = World::new();
    let mut asked: Vec<_> = (0..=MAX_WAITING).map(|number| world.ask(path(&number.to_string()))).collect();
    // One of them was too many.
    let denied = loop {
        if let Some(at) = asked.iter().position(tokio::task::JoinHandle::is_finished) {
            break asked.swap_remove(at).await.unwrap().1.unwrap_err();
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    assert!(denied.message.contains("calls are already waiting for a confirmation"), "{denied}");
    let (_person, waiting) = Person::come(&world.socket()).await;
    assert_eq!(waiting.len(), MAX_WAITING);
    asked.iter().for_each(tokio::task::JoinHandle::abort);
}

/// A front end that does not read keeps nobody from answering.
#[tokio::test(flavor = "multi_thread")]
async fn a_front_end_that_sleeps_holds_nothing_up() {
    let world = World::new();
    let _asleep = UnixStream::connect(world.socket()).unwrap();
    let (mut person, _) = Person::come(&world.socket()).await;
    for number in 0..200 {
        let asked = world.ask(path(&format!("{number}{}", "x".repeat(10_000))));
        let question = loop {
            let message = person.next().await;
            if matches!(message, Message::Question { .. }) {
                break message;
            }
        };
        person.answer(&question, true);
        assert!(asked.await.unwrap().1.is_ok());
    }
}
