//! Proofs about grants, compared with an independent implementation that tries all short sequences of calls.

use omen_gate::prove::StepEnd;

use super::*;

/// Grant of a permission of the only tool. Times are seconds of a minute.
#[derive(Clone, Debug)]
struct TestGrant {
    permission: &'static str,
    uses: Option<u32>,
    expires: Option<u32>,
    is_pre_granted: bool,
}

const PERMISSIONS: [&str; 2] = ["READ", "WRITE"];

fn grants(random: &mut Random) -> Vec<TestGrant> {
    let mut grants = Vec::new();
    for permission in PERMISSIONS {
        for _ in 0..pick(random, &[1, 1, 2, 3]) {
            grants.push(TestGrant {
                permission,
                uses: pick(random, &[None, None, Some(1), Some(2)]),
                expires: pick(random, &[None, None, Some(20), Some(20), Some(22)]),
                is_pre_granted: random.below(2) == 0,
            });
        }
    }
    grants
}

const DAY: &str = "2026-12-01T10:00:";

fn grant_text(tool: &str, grant: &TestGrant) -> String {
    let TestGrant { permission, uses, expires, is_pre_granted } = grant;
    let uses = uses.map_or(String::new(), |uses| format!("uses = {uses}\n"));
    let expires = expires.map_or(String::new(), |second| format!("expires = '{DAY}{second}Z'\n"));
    format!(
        "[[grants]]\nserver = 's'\ntool = '{tool}'\npermissions = ['{permission}']\npre_granted = {is_pre_granted}\n{uses}{expires}"
    )
}

/// Grant of `READ` without limits.
pub(super) fn free_grant(tool: &str) -> String {
    grant_text(tool, &TestGrant { permission: "READ", uses: None, expires: None, is_pre_granted: true })
}

pub(super) fn entry(tool: &str, permissions: &[&str], rules: &str) -> String {
    let pin = "0".repeat(64);
    format!("[[allow]]\nserver = 's'\ntool = '{tool}'\npermissions = {permissions:?}\npin = 'v1:{pin}'\n{rules}\n")
}

fn configuration(grants: &[TestGrant]) -> Config {
    let grants: String = grants.iter().map(|grant| grant_text("t", grant)).collect();
    Config::parse(&format!("[servers.s]\n{}{grants}", entry("t", &PERMISSIONS, ""))).unwrap()
}

/// Whether a human confirms each call, up to the first one that is refused.
fn confirmed(grants: &[TestGrant], seconds: &[u32]) -> Vec<bool> {
    let mut left: Vec<_> = grants.iter().map(|grant| grant.uses.unwrap_or(u32::MAX)).collect();
    let mut confirmed = Vec::new();
    for second in seconds {
        let mut picked = Vec::new();
        for permission in PERMISSIONS {
            let live = |index: &usize| {
                let TestGrant { permission: own, expires, .. } = grants[*index];
                own == permission && left[*index] > 0 && expires.is_none_or(|expires| *second < expires)
            };
            let mut live: Vec<_> = (0..grants.len()).filter(live).collect();
            live.sort_by_key(|index| !grants[*index].is_pre_granted);
            let Some(first) = live.first() else { return confirmed };
            picked.push(*first);
        }
        picked.iter().for_each(|index| left[*index] -= 1);
        confirmed
            .push(picked.iter().any(|index| grants[*index].permission == "WRITE" && !grants[*index].is_pre_granted));
    }
    confirmed
}

/// Shortest times of calls whose last one only the new grants allow.
fn shortest(old: &[TestGrant], new: &[TestGrant]) -> Option<usize> {
    let mut sequences = vec![Vec::new()];
    // With at most three grants of two uses, nothing changes any more after six calls.
    for length in 1..=7 {
        let longer = sequences.iter().flat_map(|sequence: &Vec<u32>| {
            let last = sequence.last().copied().unwrap_or(0);
            let later = [19, 20, 21, 22, 23].into_iter().filter(move |second| *second >= last);
            later.map(move |second| sequence.iter().copied().chain([second]).collect::<Vec<_>>())
        });
        let allowed = |sequence: &Vec<u32>| [old, new].map(|grants| confirmed(grants, sequence).len());
        let judged: Vec<_> = longer.map(|sequence| (allowed(&sequence), sequence)).collect();
        if judged.iter().any(|(allowed, _)| *allowed == [length - 1, length]) {
            return Some(length);
        }
        sequences = judged.into_iter().filter(|(allowed, _)| *allowed == [length; 2]).map(|(_, all)| all).collect();
    }
    None
}

#[tokio::test]
async fn grants_are_compared_as_all_short_sequences_are() {
    let mut random = Random(4);
    let wanted = Proofs::wanted().choose(60, 600);
    let (mut decided, mut different) = (0, 0);
    for _ in 0..wanted {
        let [old, new] = [(); 2].map(|()| grants(&mut random));
        let proof = prove(&configuration(&old), &configuration(&new)).await;
        if let Some(outside) = proof.outside.first() {
            assert!(outside.why.contains("expire at different times"), "{old:?}\n{new:?}\n{outside:?}");
            continue;
        }
        decided += 1;
        let found = proof.differences.first();
        assert_eq!(found.map(|found| found.steps.len()), shortest(&old, &new), "{old:?}\n{new:?}\n{found:?}");
        let Some(found) = found else { continue };
        different += 1;
        assert_eq!(found.disagreement, None, "{found:?}");
        let millis = |time: &str| {
            let since = humantime::parse_rfc3339(time).unwrap().duration_since(std::time::UNIX_EPOCH).unwrap();
            i64::try_from(since.as_millis()).unwrap()
        };
        let mut at = found.start.as_deref().map_or(0, |start| millis(start) - millis(&format!("{DAY}00Z")));
        let second = |step: &omen_gate::prove::ProvenStep| {
            at += i64::try_from(step.pause_ms).unwrap();
            // What comes before the minute comes before each expiry.
            u32::try_from(at / 1000).unwrap_or(0)
        };
        let seconds: Vec<_> = found.steps.iter().map(second).collect();
        assert_eq!(found.confirmed, confirmed(&new, &seconds), "{new:?}\n{found:?}");
    }
    println!("{wanted} pairs, {decided} decided, {different} different");
    assert!(3 * decided >= wanted && 5 * different >= wanted);
}

#[tokio::test]
async fn rules_on_confirmed_calls_know_which_calls_are() {
    let grant = |permission, uses, is_pre_granted| TestGrant { permission, uses, expires: None, is_pre_granted };
    let config = |permission: &'static str, grants: &[TestGrant], was: &str| {
        let rule = format!("after = [{{ tool = 't', was = '{was}' }}]");
        let grants: String = grants.iter().map(|grant| grant_text("t", grant)).collect();
        let other = entry("u", &["READ"], &rule) + &grant_text("u", &grant("READ", None, true));
        Config::parse(&format!("[servers.s]\n{}{grants}{other}", entry("t", &[permission], ""))).unwrap()
    };
    // A grant of `READ` needs no confirmation, so its calls are never confirmed.
    let reads = [grant("READ", None, false)];
    let proof = prove(&config("READ", &reads, "confirmed"), &config("READ", &reads, "ok")).await;
    let [difference] = proof.differences.as_slice() else { panic!("{proof:?}") };
    assert_eq!((difference.steps.len(), &difference.disagreement), (2, &None));
    assert!(matches!(difference.steps[0].end, StepEnd::Ok(_)));
    let writes = [grant("WRITE", None, false)];
    let proof = prove(&config("WRITE", &writes, "confirmed"), &config("WRITE", &writes, "ok")).await;
    assert!(proof.differences.is_empty() && proof.outside.is_empty(), "{proof:?}");
    // The first call uses the grant that needs no confirmation, the next one the other.
    let both = [grant("WRITE", Some(1), true), grant("WRITE", None, false)];
    let proof = prove(&config("WRITE", &both, "confirmed"), &config("WRITE", &both, "ok")).await;
    let [outside] = proof.outside.as_slice() else { panic!("{proof:?}") };
    assert_eq!(
        outside.why,
        "it counts confirmed calls of `s/t`, and whether a call is confirmed depends on the grant that it uses"
    );
    assert_eq!(outside.path, "allow[1].after[0]");
}
