//! Classes of tools and operations: a tool id has one class, and a directive that reads has no operation that writes (D88).

use omen::packet::{ExecutionMethod, ReadTaskType, TaskDirectivePayload, TaskType};
use omen::*;

use super::log::{Hands, envelope, setup};
use super::refusals::{acting, modelling};

tool!(Put = "kv.put", Write);
tool!(Mixed = "kv.put", Mixed);
tool!(Look = "kv.put", Read);
tool!(Get = "kv.get", Read);
scope!(Change: tools [Put], operations [Modify]);
scope!(Change2: tools [Mixed], operations [Modify]);

fn look() -> Order<ReadOnly> {
    Directive::new(Look, op::Read, fields!({ "key": "pool" })).ready()
}

fn code_and_text(why: &Refusal) -> (Option<Code>, String) {
    (why.code(), why.to_string())
}

#[test]
fn a_tool_id_is_called_in_one_class() {
    let (clock, envelope) = (Hands::new(), envelope());
    let episode = acting(setup("corr_a", clock), &envelope);
    let (episode, [permit]) = episode.authorize::<Change, 1>(TokenSpec::new(60, text!("agreed"))).unwrap();
    let write = Directive::new(Put, op::Modify, fields!({ "key": "pool" })).with(permit);
    let (episode, [task]) = episode.execute([write]).unwrap();
    let episode = episode.settle([task.success(1)]).unwrap();
    let lines = episode.lines().len();
    let refused = episode.execute([look()]).expect_err("as one that writes it needed a token");
    let (code, text) = code_and_text(&refused.why);
    assert_eq!(code, Some(Code::Inv007));
    assert!(text.contains("`kv.put` only reads in this directive, but may write in an earlier one"), "{text}");
    assert_eq!(refused.episode.lines().len(), lines, "nothing was written");
    let [_order] = refused.given;
    // Another tool may read, and the same tool may write again, whatever its class is called (D17).
    let get = Directive::new(Get, op::Read, fields!({ "key": "pool" })).ready();
    let (episode, [task]) = refused.episode.execute([get]).unwrap();
    let episode = episode.settle([task.success(1)]).unwrap().remodel(Belief::new("db", "pool", 1));
    let episode = episode.act(super::refusals::ruling().to_act(), &envelope).unwrap();
    let (episode, [permit]) = episode.authorize::<Change2, 1>(TokenSpec::new(60, text!("agreed"))).unwrap();
    let mixed = Directive::new(Mixed, op::Modify, fields!({ "key": "pool" })).with(permit);
    assert!(episode.execute([mixed]).is_ok());
}

#[test]
fn two_classes_in_one_step_and_after_a_restart_are_refused_too() {
    let (clock, envelope) = (Hands::new(), envelope());
    let episode = acting(setup("corr_a", clock.clone()), &envelope);
    let (episode, [task]) = episode.execute([look()]).unwrap();
    let log = episode.settle([task.success(1)]).unwrap().lines().to_vec();
    let resumed = AnyEpisode::resume(setup("corr_a", clock), log.iter().map(String::as_str)).unwrap();
    let AnyEpisode::Execute(episode) = resumed else { panic!("{resumed:?}") };
    let episode =
        episode.remodel(Belief::new("db", "pool", 1)).act(super::refusals::ruling().to_act(), &envelope).unwrap();
    let (episode, [permit]) = episode.authorize::<Change, 1>(TokenSpec::new(60, text!("agreed"))).unwrap();
    let write = Directive::new(Put, op::Modify, fields!({ "key": "pool" })).with(permit);
    let refused = episode.execute([write]).expect_err("it has read before the restart");
    assert_eq!(refused.why.code(), Some(Code::Inv007));

    let episode = acting(setup("corr_b", Hands::new()), &envelope);
    let named = |id: &str, class| Directive::named(Text::new(id).unwrap(), class, None).sort();
    let Sorted::Reads(read) = named("kv.put", omen::packet::ToolSafetyClass::Read) else { panic!("it reads") };
    let (episode, [task]) = episode.execute([named_read()]).unwrap();
    let episode = episode.settle([task.success(1)]).unwrap();
    let (episode, [task]) = episode.execute([read]).unwrap();
    drop(episode.settle([task.success(1)]).unwrap());
}

fn named_read() -> Order<ReadOnly> {
    Directive::new(Get, op::Read, fields!({ "key": "pool" })).ready()
}

#[test]
fn a_directive_that_reads_names_no_operation_that_writes() {
    let envelope = envelope();
    for word in ["delete", "Write", "MODIFY"] {
        let episode = acting(setup("corr_a", Hands::new()), &envelope);
        let lines = episode.lines().len();
        let order = Directive::new(Get, op::Read, fields!({ "operation": word })).ready();
        let refused = episode.execute([order]).expect_err("it writes");
        let (code, text) = code_and_text(&refused.why);
        assert_eq!(code, Some(Code::E4));
        assert!(text.contains(&format!("the operation `{word}` writes")), "{text}");
        assert_eq!(refused.episode.lines().len(), lines, "nothing was written");
        // A tool that is named at run time needs a permit.
        let params = Some(fields!({ "operation": word }));
        let named = Directive::named(text!("kv.get"), omen::packet::ToolSafetyClass::Read, params);
        assert!(matches!(named.sort(), Sorted::Writes(_)), "{word}");
        // So does a payload.
        let method = ExecutionMethod::tool().tool_id("kv.get");
        let method = method.tool_params(fields!({ "operation": word }).into_map()).build();
        let payload = TaskDirectivePayload::read()
            .task_id("task_1".parse().unwrap())
            .task_type(ReadTaskType::ToolRead)
            .execution_method(method)
            .build();
        assert!(matches!(Directive::stating(payload.clone()).sort(), Sorted::Writes(_)), "{word}");
        assert!(refused.episode.execute([payload]).is_err());
    }
    // Any other word is defined by the tool (D26).
    for word in ["read", "deleted", "list"] {
        let order = Directive::new(Get, op::Read, fields!({ "operation": word })).ready();
        assert!(acting(setup("corr_a", Hands::new()), &envelope).execute([order]).is_ok(), "{word}");
    }
}

#[test]
fn a_task_type_that_writes_is_not_one_that_reads() {
    assert!(ReadTaskType::try_from(TaskType::ToolWrite).is_err());
    let rest: Vec<TaskType> = TaskType::ALL.iter().copied().filter(|kind| *kind != TaskType::ToolWrite).collect();
    for kind in rest {
        assert_eq!(ReadTaskType::try_from(kind).map(TaskType::from), Ok(kind));
    }
}

#[test]
fn a_number_that_json_does_not_have_is_never_written_as_null() {
    #[derive(serde::Serialize)]
    struct Deep {
        list: Vec<Option<(f64, f32)>>,
    }
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let wrong = DoesNotFit::NotFinite(number.to_string());
        assert_eq!(Json::number(number), Err(wrong.clone()));
        assert_eq!(Json::of(&number), Err(wrong.clone()));
        assert_eq!(Json::of(&[Some(number)]), Err(wrong.clone()));
        assert_eq!(Json::of(&std::collections::BTreeMap::from([("a", number)])), Err(wrong.clone()));
        assert_eq!(Json::of(&Deep { list: vec![None, Some((number, 0.0))] }), Err(wrong.clone()));
        assert_eq!(Belief::try_new("db", "load", &number).err(), Some(wrong));
        assert!(Json::of(&Deep { list: vec![Some((0.0, number as f32))] }).is_err());
        // A value that a tool cannot return as JSON is a failure, not a SUCCESS with `null`.
        let episode = acting(setup("corr_a", Hands::new()), &envelope());
        let failed = match episode.execute_with(named_read(), |_| Ok::<f64, std::fmt::Error>(number)) {
            Err(ExecuteError::Failed(failed)) => failed,
            Err(other) => panic!("{other:?}"),
            Ok(_) => panic!("a SUCCESS of {number}"),
        };
        assert!(matches!(failed.error, TaskError::DoesNotFit(DoesNotFit::NotFinite(_))));
        assert!(failed.episode.lines().last().unwrap().contains("\"FAILURE\""));
    }
    assert_eq!(Json::number(0.25), Json::of(&0.25));
    assert_eq!(fields!({ "a": 2.5, "b": -1, "c": 'x', "d": "y", "e": true, "f": -0.5 }).into_map()["f"], json!(-0.5));
    assert_eq!(number!(2.5).into_value(), json!(2.5));
    drop(modelling(setup("corr_b", Hands::new())));
}

#[test]
fn a_text_has_a_visible_character() {
    for text in ["", "\0", "   ", "\u{200b}", "\u{feff}", "\u{3000}\u{85}"] {
        assert!(Text::new(text).is_err() && Text::literal("").is_none() && text.parse::<Text>().is_err(), "{text:?}");
        assert!(Text::try_from(text).is_err() && Text::try_from(text.to_owned()).is_err(), "{text:?}");
    }
    assert!(Text::literal("\u{200b}").is_none() && Text::literal("\u{200b}a").is_some());
    let why = Text::new("\u{200b}").unwrap_err().to_string();
    assert!(why.contains("a string with a visible character"), "{why}");
    // In a log it is a text, as the schema requires.
    assert!(serde_json::from_str::<Text>("\" \"").is_ok());
}
