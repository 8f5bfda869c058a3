//! What becomes of a question.

use std::time::Duration;

use omen_gate::{GateCode, Outcome};
use omen_proxy::confirm::{Message, OutcomeOfQuestion};

use super::{Person, World, call, named, path};

#[tokio::test(flavor = "multi_thread")]
async fn what_is_confirmed_is_this_call_and_the_log_says_by_whom() {
    let world = World::new();
    let (mut person, waiting) = Person::come(&world.socket()).await;
    assert_eq!(waiting, []);
    let asked = world.ask(path("a.txt"));
    let question = person.next().await;
    let Message::Question { server, tool, permissions, args, hash, turn, seconds_left, .. } = &question else {
        panic!("{question:?}")
    };
    assert_eq!((server.as_str(), tool.as_str(), turn.as_str()), ("files", "write_file", "turn_1"));
    assert_eq!((permissions.join(" ").as_str(), args.as_str()), ("READ WRITE", r#"{"path":"a.txt"}"#));
    assert_eq!(hash, &call(path("a.txt")).hash().to_string());
    assert!((50..=60).contains(seconds_left), "{seconds_left}");

    person.answer(&question, true);
    let (id, _) = named(&question);
    let mut received = [person.next().await, person.next().await];
    received.sort_by_key(|message| matches!(message, Message::Closed { .. }));
    assert_eq!(received[0], Message::Accepted { id });
    let Message::Closed { outcome: OutcomeOfQuestion::Confirmed, by: Some(by), .. } = &received[1] else {
        panic!("{received:?}")
    };
    let ours = rustix::process::geteuid().as_raw();
    assert_eq!((by.via.as_str(), by.uid), ("socket", Some(ours)));

    let (decision, confirmed) = asked.await.unwrap();
    assert_eq!(decision.outcome, Outcome::Allowed);
    assert_eq!(decision.by.as_ref(), Some(by));
    assert_eq!(confirmed.unwrap().hash(), call(path("a.txt")).hash());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_denied_is_denied_with_the_reason_and_by_whom() {
    let world = World::new();
    let asked = world.ask(path("a.txt"));
    // Somebody comes when it waits already.
    let (mut person, waiting) = loop {
        let (person, waiting) = Person::come(&world.socket()).await;
        if !waiting.is_empty() {
            break (person, waiting);
        }
    };
    let (id, hash) = named(&waiting[0]);
    person.say(&format!(r#"{{"type":"answer","id":{id},"hash":"{hash}","confirm":false,"why":"wrong folder"}}"#));
    let (decision, denied) = asked.await.unwrap();
    let denied = denied.unwrap_err();
    assert_eq!((denied.code, decision.outcome), (GateCode::G3, Outcome::Denied));
    assert!(denied.message.ends_with("was not confirmed: wrong folder"), "{denied}");
    assert_eq!(decision.by.unwrap().uid, Some(rustix::process::geteuid().as_raw()));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_answers_the_first_one_counts_and_the_second_learns_that() {
    let world = World::new();
    let (mut first, _) = Person::come(&world.socket()).await;
    let (mut second, _) = Person::come(&world.socket()).await;
    let asked = world.ask(path("a.txt"));
    let (question, same) = (first.next().await, second.next().await);
    assert_eq!(named(&question), named(&same));
    first.answer(&question, false);
    assert!(asked.await.unwrap().1.is_err());
    assert!(matches!(second.next().await, Message::Closed { outcome: OutcomeOfQuestion::Denied, by: Some(_), .. }));
    second.answer(&same, true);
    let Message::Refused { id, why } = second.next().await else { panic!("it counts") };
    assert_eq!(id, Some(named(&same).0));
    assert!(why.starts_with("it was denied before, by "), "{why}");
}

/// Sixty-four threads answer one question, half of them with yes.
#[tokio::test(flavor = "multi_thread")]
async fn one_of_many_answers_at_once_counts() {
    let world = World::new();
    let mut people = Vec::new();
    for _ in 0..32 {
        people.push(Person::come(&world.socket()).await.0);
    }
    let asked = world.ask(path("a.txt"));
    let mut answers = Vec::new();
    for (number, mut person) in people.into_iter().enumerate() {
        let question = person.next().await;
        answers.push(tokio::spawn(async move {
            person.answer(&question, number % 2 == 0);
            loop {
                match person.next().await {
                    Message::Accepted { .. } => break Some(number % 2 == 0),
                    Message::Refused { .. } => break None,
                    _ => {}
                }
            }
        }));
    }
    let mut counted = Vec::new();
    for answer in answers {
        counted.extend(answer.await.unwrap());
    }
    assert_eq!(counted.len(), 1, "{counted:?}");
    assert_eq!(asked.await.unwrap().1.is_ok(), counted[0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_is_for_this_very_call() {
    let world = World::new();
    let (mut person, _) = Person::come(&world.socket()).await;
    let one = world.ask(path("a.txt"));
    let first = person.next().await;
    let other = world.ask(path("b.txt"));
    let second = person.next().await;
    // The id of one call with the hash of the other.
    let ((id, _), (_, hash)) = (named(&first), named(&second));
    person.say(&format!(r#"{{"type":"answer","id":{id},"hash":"{hash}","confirm":true}}"#));
    let Message::Refused { why, .. } = person.next().await else { panic!("it counts") };
    assert!(why.starts_with("the hash belongs to another call"), "{why}");
    assert!(!one.is_finished() && !other.is_finished(), "both go on waiting");
    person.answer(&first, true);
    assert!(one.await.unwrap().1.is_ok());
    assert!(!other.is_finished());
    // A second time it is worth nothing.
    person.answer(&second, false);
    assert!(other.await.unwrap().1.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_answers_in_time() {
    let world = World::waiting(Duration::from_millis(300));
    let (mut person, _) = Person::come(&world.socket()).await;
    let asked = world.ask(path("a.txt"));
    let question = person.next().await;
    let (decision, denied) = asked.await.unwrap();
    assert!(denied.unwrap_err().message.ends_with("no answer in time"));
    assert_eq!(decision.by, None);
    let (id, _) = named(&question);
    assert_eq!(person.next().await, Message::Closed { id, outcome: OutcomeOfQuestion::TimedOut, by: None });
    person.answer(&question, true);
    let late = person.next().await;
    assert_eq!(late, Message::Refused { id: Some(id), why: "it was not answered in time".to_owned() });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_goes_away_takes_its_question_with_it() {
    let world = World::new();
    let (mut person, _) = Person::come(&world.socket()).await;
    let asked = world.ask(path("a.txt"));
    let question = person.next().await;
    asked.abort();
    let (id, _) = named(&question);
    assert_eq!(person.next().await, Message::Closed { id, outcome: OutcomeOfQuestion::Withdrawn, by: None });
    let (_, waiting) = Person::come(&world.socket()).await;
    assert_eq!(waiting, []);
}
