//! Where the socket lies, and whom it lets in.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use omen_proxy::confirm::{FrontEnd, SocketConfirmer, SocketError, Unreachable};

use super::{Person, World, path};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// A folder that nobody else can enter.
fn private() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
    folder
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_for_its_owner_alone() {
    let world = World::new();
    assert_eq!((mode(&world.socket()), mode(world.socket().parent().unwrap())), (0o600, 0o700));
}

#[tokio::test]
async fn a_folder_that_others_can_enter_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let open = folder.path().join("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o750)).unwrap();
    let refused = SocketConfirmer::bind(&open.join("confirm.sock")).unwrap_err();
    assert!(matches!(refused, SocketError::Open { mode: 0o750, .. }), "{refused}");
    assert_eq!(refused.help(), format!("run `chmod 700 {}`, or choose another folder", open.display()));
    assert_eq!(fs::read_dir(&open).unwrap().count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_live_gate_keeps_its_socket() {
    let world = World::new();
    let refused = SocketConfirmer::bind(&world.socket()).unwrap_err();
    assert!(matches!(refused, SocketError::InUse(_)), "{refused}");
    // And it still answers there.
    let asked = world.ask(path("a.txt"));
    let (mut person, mut waiting) = Person::come(&world.socket()).await;
    if waiting.is_empty() {
        waiting.push(person.next().await);
    }
    person.answer(&waiting[0], true);
    assert!(asked.await.unwrap().1.is_ok());
}

#[tokio::test]
async fn what_a_dead_gate_left_is_replaced() {
    let folder = private();
    let socket = folder.path().join("confirm.sock");
    // Nobody listens at it any more, and nobody has its lock.
    drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
    assert!(socket.exists());
    assert!(matches!(FrontEnd::connect(&socket).unwrap_err(), Unreachable::Nobody { .. }));
    let confirmer = SocketConfirmer::bind(&socket).unwrap();
    assert_eq!(confirmer.path(), socket);
    drop(confirmer);
    assert!(!socket.exists(), "it goes with its gate");
    drop(SocketConfirmer::bind(&socket).unwrap());
}

#[tokio::test]
async fn what_is_not_a_socket_stays() {
    let folder = private();
    let socket = folder.path().join("confirm.sock");
    fs::write(&socket, "mine").unwrap();
    let refused = SocketConfirmer::bind(&socket).unwrap_err();
    assert!(matches!(refused, SocketError::NotSocket(_)), "{refused}");
    assert_eq!(fs::read_to_string(&socket).unwrap(), "mine");
}

/// The address of a socket has room for a hundred bytes or so.
#[tokio::test(flavor = "multi_thread")]
#[cfg(target_os = "linux")]
async fn its_path_may_be_long() {
    let folder = tempfile::tempdir().unwrap();
    let deep = (0..8).fold(folder.path().to_owned(), |path, _| path.join("a".repeat(30)));
    let socket = deep.join("confirm.sock");
    let _confirmer = SocketConfirmer::bind(&socket).unwrap();
    assert_eq!(mode(&socket), 0o600);
    let (_person, waiting) = Person::come(&socket).await;
    assert_eq!(waiting, []);
}

#[test]
fn nobody_listens() {
    let folder = tempfile::tempdir().unwrap();
    let nobody = FrontEnd::connect(&folder.path().join("confirm.sock")).unwrap_err();
    assert!(nobody.to_string().starts_with("no gate is listening at `"), "{nobody}");
}
