//! `telltale serve`: the life of the server process.
//!
//! The listener opens first, so that `/readyz` says 503 while the log is replayed; then the engine, the keys and the
//! control socket, in this order, because the socket belongs to whoever holds the lock of the data directory. The
//! first SIGTERM, SIGINT or SIGHUP stops taking connections, lets the requests in flight end, seals and closes; a second SIGTERM or SIGINT
//! ends the process at once, which loses nothing that was acknowledged. The log goes to standard error, so there is no file that a
//! SIGHUP could open anew. Where it is ignored when the process starts, as under `nohup`, it stays ignored.

use std::future::pending;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use telltale_engine::{Clock, Engine};
use tokio::runtime::Builder;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

use super::background;
use super::error::CliError;
use super::output::note;
use super::wiring;
use crate::app::App;
use crate::areas;
use crate::http::{self, Listener, Server};
use crate::own_metrics::make_own_metrics;
use crate::platform::config::{Config, Environment};
use crate::platform::control::SOCKET_NAME;
use crate::platform::keys::{FirstStart, KeyText};
use crate::platform::ticks::Ticks;
use crate::platform::{logging, panics, process};

/// How often the server looks whether the engine has failed for good. Writers hear of it at once, by themselves.
const FAILURE_LOOK: Duration = Duration::from_secs(1);

/// Serves until a signal comes, or the engine has failed: then the process ends with an error, and whoever watches it starts it anew.
pub(super) fn run(config: &Config, environment: &Environment) -> Result<(), CliError> {
    let admin_key = environment.admin_key().map(str::parse::<KeyText>).transpose();
    let admin_key = admin_key
        .map_err(|rule| CliError::Usage(format!("TELLTALE_ADMIN_KEY is malformed: {rule}")))?;
    let _logging = logging::start(&config.log)
        .map_err(|error| CliError::failed("cannot start logging", error))?;
    panics::watch();
    let runtime = Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::failed("cannot start", error))?;
    let outcome = runtime.block_on(serve(config, admin_key));
    // Whatever still runs was told to end or was left behind by a second signal.
    runtime.shutdown_background();
    outcome
}

async fn serve(config: &Config, admin_key: Option<KeyText>) -> Result<(), CliError> {
    let ticks = Ticks::system();
    let clock = Clock::system();
    let mut signals = Signals::listen()?;
    let memory = config.memory();
    let mut settings = wiring::http_settings(config, &memory);
    settings.connections_max = wiring::connections_possible(
        settings.connections_max,
        process::files_max(),
        memory.limit(),
    );
    let server = Server::new(settings, clock.clone(), ticks.clone(), areas::routes())
        .map_err(|error| CliError::failed("cannot set up the routes", error))?;
    let (stop, stopping) = watch::channel(false);
    let network = listen(config.server.listen)?;
    let network = spawn(&server, network, stopping.clone());

    let opening = tokio::task::spawn_blocking({
        let (config, clock, ticks, server) =
            (config.clone(), clock.clone(), ticks.clone(), Arc::clone(&server));
        move || open(&config, clock, ticks, &server, admin_key)
    });
    let app = tokio::select! {
        opened = opening => opened.map_err(|died| CliError::failed("cannot open the data", died))??,
        name = signals.next() => {
            tracing::info!(signal = name, "stopped before the data was open");
            return Ok(());
        }
    };
    let control = control(config).map(|listener| spawn(&server, listener, stopping));
    let (end_sweeps, sweeps_ending) = watch::channel(false);
    let sweeps =
        background::run_sweeps(Arc::clone(&server), Arc::clone(&app), clock, sweeps_ending);
    let sweeps = tokio::spawn(sweeps);
    let workshop = tokio::spawn(background::workshop(&app).run(
        Arc::clone(app.jobs()),
        stop.subscribe(),
        config.server.drain.duration(),
    ));
    tracing::info!(opened_ms = ms(&ticks), "ready");

    let failure = end(&mut signals, app.engine().clone()).await;
    let ending = async {
        // First: whoever waits for jobs would hold up the end for as long as it may wait.
        app.jobs().end_waits();
        stop.send_replace(true);
        joined(Some(network)).await?;
        joined(control).await?;
        joined(Some(workshop)).await?;
        end_sweeps.send_replace(true);
        joined(Some(sweeps)).await?;
        let closing = tokio::task::spawn_blocking(move || {
            app.jobs().close();
            // A start that finds this undone counts what is missing from the events.
            if let Err(error) = app.errors().close() {
                tracing::warn!(%error, "not all that is known of errors was stored");
            }
            app.engine().close()
        });
        closing.await.map_err(|died| CliError::failed("cannot close the data", died))??;
        Ok::<(), CliError>(())
    };
    tokio::select! {
        // The engine cannot be closed in order where it failed: why it failed says more.
        ended = ending => match &failure {
            Some(why) => return Err(CliError::failed("the engine failed", why.as_str())),
            None => ended?,
        },
        () = signals.insists() => return Err(CliError::Found("terminated immediately by a second signal".to_owned())),
    }
    tracing::info!("stopped");
    Ok(())
}

/// Waits for a signal, or until the engine has failed for good: answers why then.
async fn end(signals: &mut Signals, engine: Engine) -> Option<String> {
    tokio::select! {
        name = signals.next() => {
            tracing::info!(signal = name, "stopping; SIGTERM or SIGINT ends the process at once");
            None
        }
        failure = failed(engine) => {
            tracing::error!(failure, "stopping: the engine writes nothing any more before a start reads the disk anew");
            Some(failure)
        }
    }
}

/// Waits until the engine has failed for good. Answers why.
async fn failed(engine: Engine) -> String {
    let mut looks = interval(FAILURE_LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        looks.tick().await;
        if let Some(failure) = engine.failure() {
            return failure;
        }
    }
}

/// Opens the engine, reads the keys, and makes the server ready. Blocks while the log is replayed.
fn open(
    config: &Config,
    clock: Clock,
    ticks: Ticks,
    server: &Server,
    admin_key: Option<KeyText>,
) -> Result<Arc<App>, CliError> {
    let engine = Engine::open(
        &config.server.data,
        config.engine_options(clock.clone(), &server.settings().memory),
    )?;
    let keys_failed = |error| CliError::failed("cannot read the keys", error);
    let app = App::new(engine, clock, ticks, server.settings())
        .map_err(|error| CliError::failed("cannot read the keys, jobs and errors", error))?;
    if let Err(error) = make_own_metrics(app.engine()) {
        // A full disk keeps nobody from reading; the next start tries again.
        tracing::error!(%error, "the server's own metrics were not created");
    }
    // Before the first key: should the start end between the two, the next one is the first once more.
    if app.keys().list().is_empty() {
        areas::dashboards::make_first(&app).map_err(|error| {
            CliError::failed(
                "cannot make the first dashboard",
                error.cause().unwrap_or(error.message()),
            )
        })?;
    }
    match app.keys().first_start(admin_key).map_err(keys_failed)? {
        FirstStart::NotFirst => {}
        FirstStart::Given(key) => tracing::info!(key = key.id, "the given key is the admin key"),
        FirstStart::Generated(issued) => note(&boxed(&[
            "Admin key of this server, shown this once:",
            &issued.text.reveal(),
            "Send it as: Authorization: Bearer <key>",
        ])),
    }
    // A server that was just made has no app yet.
    drop(server.open(Arc::clone(&app)));
    Ok(app)
}

fn listen(address: SocketAddr) -> Result<Listener, CliError> {
    let listener = Listener::tcp(address)
        .map_err(|error| CliError::failed(format!("cannot listen on {address}"), error))?;
    // With port 0 only this line says where: whoever starts the process reads the field from the JSON log.
    let bound = listener.local_addr().unwrap_or(address);
    tracing::info!(listen = %bound, version = env!("CARGO_PKG_VERSION"), "listening");
    Ok(listener)
}

/// The control socket. Without it the server serves all the same.
fn control(config: &Config) -> Option<Listener> {
    let path = config.server.data.join(SOCKET_NAME);
    match Listener::control(&path) {
        Ok(listener) => Some(listener),
        Err(error) => {
            let path = path.display();
            tracing::warn!(%path, %error, "no control socket: commands cannot reach this server");
            None
        }
    }
}

fn spawn(
    server: &Arc<Server>,
    listener: Listener,
    mut stopping: watch::Receiver<bool>,
) -> JoinHandle<()> {
    let told = async move {
        // The sender lives until the end; if it were gone, that would be the end too.
        drop(stopping.wait_for(|stop| *stop).await);
    };
    tokio::spawn(http::serve(Arc::clone(server), vec![listener], told))
}

async fn joined(task: Option<JoinHandle<()>>) -> Result<(), CliError> {
    match task {
        Some(task) => {
            task.await.map_err(|died| CliError::failed("a task of the server failed", died))
        }
        None => Ok(()),
    }
}

fn ms(ticks: &Ticks) -> u64 {
    u64::try_from(ticks.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// Lines with a frame around them, hard to overlook between log lines.
fn boxed(lines: &[&str]) -> String {
    let width = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    let bar = "─".repeat(width + 2);
    let inside: Vec<String> = lines.iter().map(|line| format!("│ {line:<width$} │")).collect();
    format!("┌{bar}┐\n{}\n└{bar}┘", inside.join("\n"))
}

/// The signals that end the process.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    /// `None` where it is ignored.
    hang_up: Option<Signal>,
}

impl Signals {
    fn listen() -> Result<Self, CliError> {
        let listen = |kind| {
            signal(kind).map_err(|error| CliError::failed("cannot register signal handlers", error))
        };
        Ok(Self {
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
            hang_up: if process::ignores_hang_ups() {
                None
            } else {
                Some(listen(SignalKind::hangup())?)
            },
        })
    }

    /// The name of the next signal.
    async fn next(&mut self) -> &'static str {
        let hang_up = async {
            match &mut self.hang_up {
                Some(signal) => signal.recv().await,
                None => pending().await,
            }
        };
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
            _ = hang_up => "SIGHUP",
        }
    }

    /// Waits for one that means at once. A terminal that goes away may say so more than once, and does not mean that.
    async fn insists(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_fits_its_longest_line() {
        assert_eq!(boxed(&["a", "bcd"]), "┌─────┐\n│ a   │\n│ bcd │\n└─────┘");
    }
}
