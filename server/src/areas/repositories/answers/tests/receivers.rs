//! Methods that have the name of one in the repository, and belong to another type.

use super::fixture::ask;
use crate::areas::repositories::wiki::test_index::index_of;

const SERVER: &str = r##"//! Listens.

use std::net::TcpListener;

/// Listens on a socket.
pub struct Listener {
    inner: TcpListener,
}

impl Listener {
    /// Returns the address of the socket.
    pub fn local_socket_addr(&self) -> SocketAddr {
        self.inner.local_socket_addr()
    }
}

fn of_other_type(path: &str) {
    let listener = TcpListener::bind(path);
    print(listener.local_socket_addr());
}

fn of_its_type(path: &str) {
    let listener = Listener::open(path);
    print(listener.local_socket_addr());
}

fn of_parameter(socket: &TcpListener, ours: &Listener) {
    print(socket.local_socket_addr());
}

fn of_our_parameter(socket: &TcpListener, ours: &Listener) {
    print(ours.local_socket_addr());
}
"##;

const ELSEWHERE: &str = r##"fn of_unknown_type() {
    print(accept().local_socket_addr());
}
"##;

#[test]
fn a_method_is_that_of_the_declared_type() {
    let index = index_of(&[("src/server.rs", SERVER), ("src/elsewhere.rs", ELSEWHERE)]);
    let calls = |name: &str| {
        let text = ask(&index, &[&format!("What does `{name}` call?")]).text;
        text.contains("`Listener::local_socket_addr` (src/server.rs")
    };
    assert!(calls("of_its_type") && calls("of_our_parameter"));
    for name in ["of_other_type", "of_parameter", "of_unknown_type", "Listener::local_socket_addr"]
    {
        assert!(!calls(name), "{name}");
    }
    let users = ask(&index, &["Who calls `Listener::local_socket_addr`?"]).text;
    assert!(users.contains("of_its_type") && users.contains("of_our_parameter"), "{users}");
}
