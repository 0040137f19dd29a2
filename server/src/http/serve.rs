//! Runs a server: accepts connections, and drains them on shutdown.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::connection;
use super::connection_slots::{ConnectionSlot, ConnectionSlots};
use super::listener::{Accepted, Listener};
use super::pipeline::Origin;
use super::server::Server;
use super::socket::share;
use crate::limits;

/// Serves until `shutdown` completes, then stops accepting connections and waits for the requests
/// in progress, at most for the shutdown timeout. The caller then closes the engine.
pub async fn serve(
    server: Arc<Server>,
    listeners: Vec<Listener>,
    shutdown: impl Future<Output = ()>,
) {
    let (stop, stopping) = watch::channel(false);
    let slots = ConnectionSlots::new(&server.settings, server.ticks.clone());
    let mut acceptors = JoinSet::new();
    for listener in listeners {
        acceptors.spawn(accept(
            Arc::clone(&server),
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
                Ok(accepted) => {
                    let slot = match accepted {
                        Accepted::Tcp(_, address) => tokio::select! {
                            biased;
                            () = connection::stop_requested(&mut stopped) => break,
                            slot = slots.enter(address, &server.telemetry) => match slot {
                                None => continue,
                                entered => entered,
                            },
                        },
                        Accepted::Control(_) => None,
                    };
                    let (server, stopping) = (Arc::clone(&server), stopping.clone());
                    connections.spawn(serve_connection(server, accepted, slot, stopping));
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

async fn serve_connection(
    server: Arc<Server>,
    accepted: Accepted,
    slot: Option<ConnectionSlot>,
    stopping: watch::Receiver<bool>,
) {
    let open = server.telemetry.connection();
    match accepted {
        Accepted::Tcp(stream, address) => {
            let origin = Origin::Network(address);
            let (reader, writer) = stream.into_split();
            let (socket, readiness) = share(reader, writer);
            connection::serve(Arc::clone(&server), origin, socket, readiness, slot, stopping).await
        }
        Accepted::Control(stream) => {
            let (reader, writer) = stream.into_split();
            let (socket, readiness) = share(reader, writer);
            let origin = Origin::Control;
            connection::serve(Arc::clone(&server), origin, socket, readiness, slot, stopping).await
        }
    }
    drop(open);
}
