//! Secure connections: TLS, passwords, keys and credentials.

use std::fs;
use std::path::Path;

use async_nats::ConnectOptions;
use data_encoding::BASE64URL_NOPAD;
use nkeys::KeyPair;
use omen::log::Nats;
use omen_worker::Failure;
use omen_worker::connect::Server;
use omen_worker::names;
use omen_worker::tail::{self, Findings};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer};
use serde_json::{Value, json};
use tokio::task::block_in_place;

use crate::messages::Worker;
use crate::process::options;
use crate::same::{many, same};
use crate::server::{Nats as NatsServer, PARTITIONS, setup};
use crate::stream::{PATIENCE, end, expected, found, judged, publish};

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).display().to_string()
}

/// Writes the certificate of a new authority, a certificate signed by it, and its key.
fn certificates(folder: &Path, name: &str) {
    let mut authority = CertificateParams::new(Vec::<String>::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = rcgen::KeyPair::generate().unwrap();
    fs::write(folder.join(format!("{name}.ca.pem")), authority.self_signed(&key).unwrap().pem()).unwrap();
    let issuer = Issuer::new(authority, key);
    let of_one = rcgen::KeyPair::generate().unwrap();
    let one = CertificateParams::new(vec!["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
    fs::write(folder.join(format!("{name}.pem")), one.signed_by(&of_one, &issuer).unwrap().pem()).unwrap();
    fs::write(folder.join(format!("{name}.key")), of_one.serialize_pem()).unwrap();
}

async fn connects(server: &Server) -> Result<(), Failure> {
    let client = server.connect("test").await?;
    // A connection is accepted only once the server responds.
    client.flush().await.map_err(|error| Failure::Input(error.to_string()))
}

/// Checks that a connection fails with an error that names the address and the reason.
async fn refused(server: &Server, why: &str) {
    match connects(server).await {
        Err(Failure::Server { what, why: found }) => {
            assert!(what.contains("127.0.0.1"), "{what}");
            assert!(found.to_lowercase().contains(why), "{found}");
        }
        other => panic!("expected a failure of the server, found {other:?}"),
    }
}

/// Checks that a worker with this connection judges as usual.
async fn judges(server: &Server) {
    let context = server.jetstream(server.connect("test").await.unwrap());
    let log = many(81, 2);
    publish(&context, "log", &log).await;
    let worker = Worker::connect(server.clone(), options());
    judged(&context).await;
    worker.stop().await;
    same(&found(&context).await, &expected(&context, &log).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_sides_show_certificates() {
    let server = NatsServer::start_with(|folder| {
        certificates(folder, "own");
        certificates(folder, "other");
        let path = |name| path(folder, name);
        format!(
            "tls {{ cert_file: \"{}\", key_file: \"{}\", ca_file: \"{}\", verify: true }}",
            path("own.pem"),
            path("own.key"),
            path("own.ca.pem")
        )
    });
    let Some(server) = server else { return };
    let path = |name| path(server.folder.path(), name);
    let own = Server { ca: path("own.ca.pem"), cert: path("own.pem"), key: path("own.key"), ..server.address() };
    judges(&own).await;
    // The authority is not among the system's, or it is a different one.
    let certificate = "certificate";
    refused(&Server { ca: String::new(), ..own.clone() }, certificate).await;
    refused(&Server { ca: path("other.ca.pem"), ..own.clone() }, certificate).await;
    // The server requires a certificate of its own authority.
    let anonymous = Server { cert: String::new(), key: String::new(), ..own.clone() };
    assert!(matches!(connects(&anonymous).await, Err(Failure::Server { .. })));
    let stranger = Server { cert: path("other.pem"), key: path("other.key"), ..own.clone() };
    assert!(matches!(connects(&stranger).await, Err(Failure::Server { .. })));
    // Unreadable files are not reported as errors of the server.
    for (file, wrong) in [
        ("missing.pem", Server { ca: path("missing.pem"), ..own.clone() }),
        ("missing.key", Server { key: path("missing.key"), ..own.clone() }),
    ] {
        let failure = connects(&wrong).await;
        assert!(matches!(&failure, Err(Failure::Input(why)) if why.contains(file)), "{failure:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tls_may_come_first() {
    let server = NatsServer::start_with(|folder| {
        certificates(folder, "own");
        let path = |name| path(folder, name);
        format!(
            "tls {{ cert_file: \"{}\", key_file: \"{}\", handshake_first: true }}",
            path("own.pem"),
            path("own.key")
        )
    });
    let Some(server) = server else { return };
    let own = Server { ca: path(server.folder.path(), "own.ca.pem"), tls_first: true, ..server.address() };
    connects(&own).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn passwords_and_tokens_are_checked() {
    let Some(server) = NatsServer::start_with(|_| "authorization { user: omen, password: secret }".to_owned()) else {
        return;
    };
    let own = Server { user: "omen".to_owned(), password: "secret".to_owned(), ..server.address() };
    judges(&own).await;
    let in_url = Server { url: format!("nats://omen:secret@127.0.0.1:{}", server.port), ..Server::default() };
    connects(&in_url).await.unwrap();
    for wrong in [
        server.address(),
        Server { password: "guessed".to_owned(), ..own.clone() },
        Server { url: format!("nats://omen:guessed@127.0.0.1:{}", server.port), ..Server::default() },
    ] {
        refused(&wrong, "authorization").await;
        assert!(!connects(&wrong).await.unwrap_err().to_string().contains("guessed"), "a password is not shown");
    }
    let Some(server) = NatsServer::start_with(|_| "authorization { token: t0ken }".to_owned()) else { return };
    connects(&Server { token: "t0ken".to_owned(), ..server.address() }).await.unwrap();
    let in_url = Server { url: format!("nats://t0ken@127.0.0.1:{}", server.port), ..Server::default() };
    connects(&in_url).await.unwrap();
    refused(&Server { token: "other".to_owned(), ..server.address() }, "authorization").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_nkey_is_checked() {
    let key = KeyPair::new_user();
    let users = format!("authorization {{ users: [ {{ nkey: {} }} ] }}", key.public_key());
    let Some(server) = NatsServer::start_with(|_| users) else { return };
    let path = |name| path(server.folder.path(), name);
    fs::write(path("own.nk"), format!("{}\n", key.seed().unwrap())).unwrap();
    fs::write(path("other.nk"), KeyPair::new_user().seed().unwrap()).unwrap();
    fs::write(path("not-a-seed.nk"), "secret").unwrap();
    let own = Server { nkey: path("own.nk"), ..server.address() };
    judges(&own).await;
    refused(&Server { nkey: path("other.nk"), ..own.clone() }, "authorization").await;
    assert!(connects(&Server { nkey: path("not-a-seed.nk"), ..own.clone() }).await.is_err());
    let missing = connects(&Server { nkey: path("missing.nk"), ..own }).await;
    assert!(matches!(&missing, Err(Failure::Input(why)) if why.contains("missing.nk")), "{missing:?}");
}

/// Returns a token in the form that a server accepts for operators, accounts and users.
fn jwt(issuer: &KeyPair, subject: &KeyPair, nats: &Value) -> String {
    let encoded = |value: &Value| BASE64URL_NOPAD.encode(value.to_string().as_bytes());
    let (issuer_key, subject_key) = (issuer.public_key(), subject.public_key());
    let claims =
        json!({ "jti": subject_key, "iat": 1, "iss": issuer_key, "name": "test", "sub": subject_key, "nats": nats });
    let signed = format!("{}.{}", encoded(&json!({ "typ": "JWT", "alg": "ed25519-nkey" })), encoded(&claims));
    let signature = issuer.sign(signed.as_bytes()).unwrap();
    format!("{signed}.{}", BASE64URL_NOPAD.encode(&signature))
}

fn account(operator: &KeyPair, account: &KeyPair, has_streams: bool) -> String {
    let mut limits = json!({
        "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true, "conn": -1, "leaf": -1,
    });
    if has_streams {
        for name in ["mem_storage", "disk_storage", "streams", "consumer"] {
            limits[name] = json!(-1);
        }
    }
    jwt(operator, account, &json!({ "limits": limits, "type": "account", "version": 2 }))
}

/// Returns the content of a credentials file for a user of an account.
fn credentials(account: &KeyPair) -> String {
    let user = KeyPair::new_user();
    let claims = json!({ "pub": {}, "sub": {}, "subs": -1, "data": -1, "payload": -1, "type": "user", "version": 2 });
    let (token, seed) = (jwt(account, &user, &claims), user.seed().unwrap());
    format!(
        "-----BEGIN NATS USER JWT-----\n{token}\n------END NATS USER JWT------\n\n\
         -----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n"
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn credentials_are_checked() {
    let (operator, system, tenant) = (KeyPair::new_operator(), KeyPair::new_account(), KeyPair::new_account());
    let server = NatsServer::start_with(|_| {
        format!(
            "operator: {}\nsystem_account: {}\nresolver: MEMORY\nresolver_preload {{\n{}: {}\n{}: {}\n}}",
            jwt(&operator, &operator, &json!({ "type": "operator", "version": 2 })),
            system.public_key(),
            system.public_key(),
            account(&operator, &system, false),
            tenant.public_key(),
            account(&operator, &tenant, true),
        )
    });
    let Some(server) = server else { return };
    let path = |name| path(server.folder.path(), name);
    fs::write(path("own.creds"), credentials(&tenant)).unwrap();
    fs::write(path("other.creds"), credentials(&KeyPair::new_account())).unwrap();
    fs::write(path("empty.creds"), "").unwrap();
    let own = Server { creds: path("own.creds"), ..server.address() };
    judges(&own).await;
    refused(&Server { creds: path("other.creds"), ..own.clone() }, "authorization").await;
    for file in ["missing.creds", "empty.creds"] {
        let failure = connects(&Server { creds: path(file), ..own.clone() }).await;
        assert!(matches!(&failure, Err(Failure::Input(why)) if why.contains(file)), "{failure:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_publishes_packets_and_nothing_else() {
    let example = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../deploy/nats-server.conf")).unwrap();
    let example = ["AGENT", "TYPED", "WORKER", "READER"]
        .iter()
        .fold(example, |text, name| text.replace(&format!("$OMEN_{name}_PASSWORD"), &name.to_lowercase()));
    assert!(example.contains(&format!("partition({PARTITIONS},1)")));
    let Some(server) = NatsServer::start_with(|_| example) else { return };
    let user = |name: &str| Server { user: name.to_owned(), password: name.to_owned(), ..server.address() };
    let connect = async |name: &str| user(name).jetstream(user(name).connect(name).await.unwrap());
    let (agent, operator, reader) = (connect("agent").await, connect("worker").await, connect("reader").await);

    let worker = Worker::connect(user("worker"), options());
    let log = many(82, 2);
    publish(&operator, "log", &log).await;
    judged(&operator).await;
    let before = end(&operator).await;
    let body = "{}".to_owned();
    agent.publish("omen.packets.corr_of_agent", body.clone().into()).await.unwrap().await.unwrap();
    assert_eq!(end(&operator).await, before + 1);
    judged(&operator).await;

    // Anyone who may write to these could end all episodes, or forge findings.
    let stored = async || {
        let last = |stream: &str| operator.get_stream(stream.to_owned());
        let findings = last("PACKETS_FINDINGS").await.unwrap().cached_info().state.last_sequence;
        let state = last("KV_PACKETS_STATE").await.unwrap().cached_info().state.last_sequence;
        (end(&operator).await, findings, state)
    };
    worker.stop().await;
    let (before, mut sent) = (stored().await, 0);
    for subject in [
        "omen.marks.0.tick",
        "omen.marks.0.lost",
        "omen.findings.0.error",
        "$KV.PACKETS_STATE.checkpoint.0",
        "$JS.API.STREAM.DELETE.PACKETS_0",
    ] {
        agent.client().publish(subject, body.clone().into()).await.unwrap();
        // The server's response is not stored there either.
        let answered = format!("omen.packets.{}.corr_of_agent", names::partition_of("corr_of_agent", PARTITIONS));
        agent.client().publish_with_reply(answered, subject, body.clone().into()).await.unwrap();
        sent += 1;
    }
    // Only the packets are stored.
    let begin = std::time::Instant::now();
    while end(&operator).await < before.0 + sent {
        assert!(begin.elapsed() < PATIENCE, "the packets are not stored");
    }
    agent.client().flush().await.unwrap();
    assert_eq!(stored().await, (before.0 + sent, before.1, before.2));
    let log = block_in_place(|| {
        let options = ConnectOptions::with_user_and_password("typed".to_owned(), "typed".to_owned());
        Nats::connect_with(&server.address().url, options)
    });
    assert!(log.is_ok(), "the typed API finds the streams: {log:?}");

    let findings = Findings::open(&user("reader"), &reader, &setup().names).await.unwrap();
    let mut count = 0;
    let each = |_: &[u8], packet: Option<&[u8]>| {
        count += usize::from(packet.is_some());
        Ok::<(), std::convert::Infallible>(())
    };
    let once = tail::Options { with_packets: true, consumer: Some("pager".to_owned()), ..tail::Options::default() };
    let Ok(()) = tail::run(&findings, &once, std::future::pending(), each).await.unwrap();
    assert!(count > 1, "{count}");
}
