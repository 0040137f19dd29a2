//! Runs a server: accepts connections, passes them to their threads, and drains them on shutdown.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpStream, UnixStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::connection;
use super::connection_slots::{ConnectionSlot, ConnectionSlots};
use super::connection_threads::ConnectionThreads;
use super::listener::{Accepted, Listener};
use super::pipeline::Origin;
use super::server::Server;
use super::socket::share;
use crate::limits;

/// Serves until `shutdown` completes, then stops accepting connections and waits for the requests
/// in progress, at most for the shutdown timeout. The caller then closes the engine.
pub async fn serve(
    server: Arc<Server>,
    threads: Arc<ConnectionThreads>,
    listeners: Vec<Listener>,
    shutdown: impl Future<Output = ()>,
) {
    let (stop, stopping) = watch::channel(false);
    let slots = ConnectionSlots::new(&server.settings, server.ticks.clone());
    let mut acceptors = JoinSet::new();
    for listener in listeners {
        acceptors.spawn(accept(
            Arc::clone(&server),
            Arc::clone(&threads),
            listener,
            Arc::clone(&slots),
            stopping.clone(),
        ));
    }
    drop(stopping);
    shutdown.await;
    server.drain();
    stop.send_replace(true);
    let drained = async { while acceptors.join_next().await.is_some() {} };
    if timeout(server.settings.drain.duration(), drained).await.is_err() {
        tracing::warn!("some connections did not end within the shutdown timeout and were closed");
        acceptors.shutdown().await;
    }
}

/// Accepts connections until the server stops, then waits for the open ones.
async fn accept(
    server: Arc<Server>,
    threads: Arc<ConnectionThreads>,
    listener: Listener,
    slots: Arc<ConnectionSlots>,
    stopping: watch::Receiver<bool>,
) {
    let mut connections = JoinSet::new();
    let mut stopped = stopping.clone();
    loop {
        tokio::select! {
            biased;
            () = connection::stop_requested(&mut stopped) => break,
            Some(_) = connections.join_next() => {}
            accepted = accept_next(&listener, &slots) => match accepted {
                Ok(Accepted::Tcp(stream, address)) => {
                    let slot = tokio::select! {
                        biased;
                        () = connection::stop_requested(&mut stopped) => break,
                        slot = slots.enter(address, &server.telemetry) => slot,
                    };
                    if let (Some(slot), Some(place)) = (slot, threads.place()) {
                        let runtime = place.runtime.clone();
                        let (server, stopping) = (Arc::clone(&server), stopping.clone());
                        let stream = stream.into_std();
                        let serving = async move {
                            let accepted = (stream.and_then(TcpStream::from_std), address);
                            serve_network(server, accepted, slot, stopping).await;
                            drop(place);
                        };
                        connections.spawn_on(serving, &runtime);
                    }
                }
                Ok(Accepted::Control(stream)) => {
                    let (server, stopping) = (Arc::clone(&server), stopping.clone());
                    connections.spawn(serve_control(server, stream, stopping));
                }
                Err(error) if is_client_error(&error) => {
                    tracing::debug!(cause = %error, "failed to accept a connection");
                }
                Err(error) => {
                    tracing::warn!(cause = %error, "failed to accept a connection");
                    sleep(Duration::from_millis(limits::ACCEPT_PAUSE_MS)).await;
                }
            },
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

/// Waits for capacity and then for a connection. The control socket needs no slot: the operator can
/// connect even if the network uses all slots.
async fn accept_next(listener: &Listener, slots: &ConnectionSlots) -> io::Result<Accepted> {
    match listener {
        Listener::Tcp(_) => slots.wait_for_capacity().await,
        Listener::Control(_) => {}
    }
    listener.accept().await
}

/// Returns whether the error concerns only the connecting client. Otherwise the system has no
/// sockets left, and an immediate retry would only waste time.
fn is_client_error(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted, PermissionDenied};
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted | PermissionDenied)
}

async fn serve_network(
    server: Arc<Server>,
    (stream, address): (io::Result<TcpStream>, IpAddr),
    slot: ConnectionSlot,
    stopping: watch::Receiver<bool>,
) {
    let stream = match stream {
        Ok(stream) => stream,
        Err(error) => {
            tracing::debug!(cause = %error, "a connection could not be passed to its thread");
            return;
        }
    };
    let open = server.telemetry.connection();
    let (reader, writer) = stream.into_split();
    let (socket, readiness) = share(reader, writer);
    let (shared, origin) = (Arc::clone(&server), Origin::Network(address));
    connection::serve(shared, origin, socket, readiness, Some(slot), stopping).await;
    drop(open);
}

async fn serve_control(server: Arc<Server>, stream: UnixStream, stopping: watch::Receiver<bool>) {
    let open = server.telemetry.connection();
    let (reader, writer) = stream.into_split();
    let (socket, readiness) = share(reader, writer);
    let shared = Arc::clone(&server);
    connection::serve(shared, Origin::Control, socket, readiness, None, stopping).await;
    drop(open);
}
