//! Runs a server: accepts connections, and drains them when told to stop.

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

/// Serves until `shutdown` ends, then takes no more connections, lets the requests in flight end, and returns
/// when they have, or when the shutdown timeout has passed. The caller then closes the engine.
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
    if timeout(server.settings.shutdown_timeout, drained).await.is_err() {
        tracing::warn!("some connections did not end in time and were cut");
        acceptors.shutdown().await;
    }
}

/// Accepts connections until told to stop, then waits for those there are.
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
            () = connection::requested(&mut stopped) => break,
            Some(_) = connections.join_next() => {}
            accepted = next(&listener, &slots) => match accepted {
                Ok(accepted) => {
                    let slot = match accepted {
                        Accepted::Tcp(_, address) => tokio::select! {
                            biased;
                            () = connection::requested(&mut stopped) => break,
                            slot = slots.enter(address, &server.telemetry) => match slot {
                                None => continue,
                                entered => entered,
                            },
                        },
                        Accepted::Control(_) => None,
                    };
                    let (server, stopping) = (Arc::clone(&server), stopping.clone());
                    connections.spawn(converse(server, accepted, slot, stopping));
                }
                Err(error) if is_of_one_client(&error) => {
                    tracing::debug!(cause = %error, "a connection was not accepted");
                }
                Err(error) => {
                    tracing::warn!(cause = %error, "a connection was not accepted");
                    sleep(Duration::from_millis(limits::ACCEPT_PAUSE_MS)).await;
                }
            },
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

/// Waits until there may be another connection and then for one. The control socket needs no slot: the operator gets in
/// also when the network has taken them all.
async fn next(listener: &Listener, slots: &ConnectionSlots) -> io::Result<Accepted> {
    match listener {
        Listener::Tcp(_) => slots.room().await,
        Listener::Control(_) => {}
    }
    listener.accept().await
}

/// Whether only the client that just came is the cause; else the system has no sockets to give, and trying again
/// at once would only burn time.
fn is_of_one_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted, PermissionDenied};
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted | PermissionDenied)
}

async fn converse(
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
            let (socket, lookout) = share(reader, writer);
            connection::serve(Arc::clone(&server), origin, socket, lookout, slot, stopping).await
        }
        Accepted::Control(stream) => {
            let (reader, writer) = stream.into_split();
            let (socket, lookout) = share(reader, writer);
            let origin = Origin::Control;
            connection::serve(Arc::clone(&server), origin, socket, lookout, slot, stopping).await
        }
    }
    drop(open);
}
