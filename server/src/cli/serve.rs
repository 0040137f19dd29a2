//! `telltale serve`: the life cycle of the server process.
//!
//! The listener opens first, so that `/readyz` responds with 503 while the log is replayed. Then
//! the engine, the keys and the control socket open, in this order, because the socket belongs to
//! the process that holds the lock of the data directory. The first SIGTERM, SIGINT or SIGHUP stops
//! accepting connections, completes the requests in flight, seals and closes; a second SIGTERM or
//! SIGINT ends the process at once, which loses nothing that was acknowledged. The log goes to
//! standard error, so there is no file that a SIGHUP could reopen. If SIGHUP is ignored at process
//! start, as under `nohup`, it stays ignored.

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

use super::error::CliError;
use super::login::base_url;
use super::output::note;
use crate::app::App;
use crate::areas;
use crate::background;
use crate::config::{Config, Environment};
use crate::http::{self, ApiError, ConnectionThreads, Listener, Server};
use crate::own_metrics::create_own_metrics;
use crate::platform::control::SOCKET_NAME;
use crate::platform::keys::{FirstStart, IssuedKey, KeyString};
use crate::platform::ticks::Ticks;
use crate::platform::{logging, panics, process};

/// How often the server checks whether the engine has failed permanently. Writers are notified at
/// once by the engine.
const FAILURE_CHECK_PERIOD: Duration = Duration::from_secs(1);

/// Serves until a signal arrives or the engine fails permanently. In the latter case the process
/// exits with an error, so that its supervisor restarts it.
pub(super) fn run(config: &Config, environment: &Environment) -> Result<(), CliError> {
    let admin_key = environment.admin_key().map(str::parse::<KeyString>).transpose();
    let admin_key = admin_key
        .map_err(|rule| CliError::Usage(format!("TELLTALE_ADMIN_KEY is malformed: {rule}")))?;
    let _logging = logging::start(&config.log)
        .map_err(|error| CliError::failed("cannot start logging", error))?;
    panics::watch();
    let runtime = Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::failed("cannot start", error))?;
    let ticks = Ticks::system();
    // Raises the limit, which the threads need on large machines.
    let files = process::files_max();
    let threads = ConnectionThreads::start(runtime.handle(), &ticks)
        .map_err(|error| CliError::failed("cannot start the threads of connections", error))?;
    let files = files.saturating_sub(threads.files());
    let threads = Arc::new(threads);
    let outcome = runtime.block_on(serve(config, admin_key, (ticks, files), &threads));
    // Tasks that are still running have been told to stop, or are abandoned after a second signal.
    runtime.shutdown_background();
    outcome
}

async fn serve(
    config: &Config,
    admin_key: Option<KeyString>,
    (ticks, files): (Ticks, usize),
    threads: &Arc<ConnectionThreads>,
) -> Result<(), CliError> {
    let clock = Clock::system();
    let mut signals = Signals::listen()?;
    let memory = config.memory();
    let mut settings = config.http_settings(&memory);
    settings.http.limit_connections(files, memory.limit());
    let server = Server::new(settings, clock.clone(), ticks.clone(), areas::routes())
        .map_err(|error| CliError::failed("cannot set up the routes", error))?;
    let (stop, stopping) = watch::channel(false);
    let network = listen(config.server.listen)?;
    let port = network.local_addr().unwrap_or(config.server.listen).port();
    server.listens_on(port);
    let base = base_url(config, port);
    let network = spawn((&server, threads), network, stopping.clone());

    let opening = tokio::task::spawn_blocking({
        let (config, clock, ticks, server) =
            (config.clone(), clock.clone(), ticks.clone(), Arc::clone(&server));
        move || open(&config, (clock, ticks), &server, admin_key, &base)
    });
    let app = tokio::select! {
        opened = opening => opened.map_err(|error| CliError::failed("cannot open the data", error))??,
        name = signals.next() => {
            tracing::info!(signal = name, "stopped before the data was open");
            return Ok(());
        }
    };
    let control = control(config).map(|listener| spawn((&server, threads), listener, stopping));
    let (end_sweeps, sweeps_ending) = watch::channel(false);
    let sweeps =
        background::run_sweeps(Arc::clone(&server), Arc::clone(&app), clock, sweeps_ending);
    let sweeps = tokio::spawn(sweeps);
    let workshop = tokio::spawn(areas::work(&app).run(
        Arc::clone(app.jobs()),
        stop.subscribe(),
        config.server.drain.duration(),
    ));
    tracing::info!(opened_ms = ms(&ticks), "ready");

    let failure = end(&mut signals, app.engine().clone()).await;
    let ending = async {
        // First, because requests that wait would delay the shutdown by their whole wait time.
        app.jobs().end_waits();
        app.event_followers().end();
        stop.send_replace(true);
        joined(Some(network)).await?;
        joined(control).await?;
        joined(Some(workshop)).await?;
        end_sweeps.send_replace(true);
        joined(Some(sweeps)).await?;
        let closing = tokio::task::spawn_blocking(move || {
            areas::close(&app);
            app.engine().close()
        });
        closing.await.map_err(|error| CliError::failed("cannot close the data", error))??;
        Ok::<(), CliError>(())
    };
    tokio::select! {
        // A failed engine cannot be closed properly; the cause of its failure is the more useful
        // error.
        ended = ending => match &failure {
            Some(why) => return Err(CliError::failed("the engine failed", why.as_str())),
            None => ended?,
        },
        () = signals.insists() => return Err(CliError::Found("terminated immediately by a second signal".to_owned())),
    }
    tracing::info!("stopped");
    Ok(())
}

/// Waits for a signal or for a permanent failure of the engine; returns the reason of the failure.
async fn end(signals: &mut Signals, engine: Engine) -> Option<String> {
    tokio::select! {
        name = signals.next() => {
            tracing::info!(signal = name, "stopping; SIGTERM or SIGINT ends the process at once");
            None
        }
        failure = failed(engine) => {
            tracing::error!(failure, "stopping: the engine cannot write until it is restarted");
            Some(failure)
        }
    }
}

/// Waits until the engine has failed permanently, and returns the reason.
async fn failed(engine: Engine) -> String {
    let mut checks = interval(FAILURE_CHECK_PERIOD);
    checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        checks.tick().await;
        if let Some(failure) = engine.failure() {
            return failure;
        }
    }
}

/// Opens the engine, loads keys, jobs and errors, and makes the server ready. Blocks while the log
/// is replayed.
fn open(
    config: &Config,
    (clock, ticks): (Clock, Ticks),
    server: &Server,
    admin_key: Option<KeyString>,
    base: &str,
) -> Result<Arc<App>, CliError> {
    let engine = Engine::open(
        &config.server.data,
        config.engine_options(clock.clone(), &server.settings().memory),
    )?;
    let keys_failed = |error| CliError::failed("cannot read the keys", error);
    let app = App::new(engine, clock, ticks, config)
        .map_err(|error| CliError::failed("cannot read the keys, jobs and errors", error))?;
    if let Err(error) = create_own_metrics(app.engine()) {
        // A full disk must not prevent reads; the next start tries again.
        tracing::error!(%error, "the server's own metrics were not created");
    }
    // Before the first key: if the start is interrupted between the two, the next one counts as the
    // first start again.
    if app.keys().list().is_empty() {
        let failed = |what, error: ApiError| {
            CliError::failed(what, error.cause().unwrap_or(error.message()))
        };
        areas::dashboards::make_first(&app)
            .map_err(|error| failed("cannot create the first dashboard", error))?;
        areas::alerting::make_first_rules(&app)
            .map_err(|error| failed("cannot create the first alert rules", error))?;
    }
    match app.keys().first_start(admin_key).map_err(keys_failed)? {
        FirstStart::NotFirst => {}
        FirstStart::Given(key) => tracing::info!(key = key.id, "the given key is the admin key"),
        FirstStart::Generated(issued) => show_first_key(&app, &issued, base),
    }
    // A new server has no app yet.
    drop(server.open(Arc::clone(&app)));
    Ok(app)
}

/// Prints the admin key, which cannot be shown later, and a link to the console if one can be made.
fn show_first_key(app: &App, issued: &IssuedKey, base: &str) {
    let link = app.sessions().sign_in_path(app.keys(), &issued.key.id);
    let link = link.map(|path| format!("{base}{path}")).unwrap_or_else(|error| {
        tracing::error!(error, "no sign-in link was made");
        format!("{base}/console")
    });
    note(&boxed(&[
        "Admin key of this server, shown this once:",
        &issued.text.reveal(),
        "Send it as: Authorization: Bearer <key>",
        "",
        "The console, signed in (once, within ten minutes):",
        &link,
        "Later links: telltale login",
    ]));
}

fn listen(address: SocketAddr) -> Result<Listener, CliError> {
    let listener = Listener::tcp(address)
        .map_err(|error| CliError::failed(format!("cannot listen on {address}"), error))?;
    // With port 0 only this line has the port: whoever starts the process reads the field from the
    // JSON log.
    let bound = listener.local_addr().unwrap_or(address);
    tracing::info!(listen = %bound, version = env!("CARGO_PKG_VERSION"), "listening");
    Ok(listener)
}

/// Opens the control socket. The server works without it.
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
    (server, threads): (&Arc<Server>, &Arc<ConnectionThreads>),
    listener: Listener,
    mut stopping: watch::Receiver<bool>,
) -> JoinHandle<()> {
    let stop_requested = async move {
        // The sender lives until the end; if it is dropped, the server must stop too.
        drop(stopping.wait_for(|stop| *stop).await);
    };
    let (server, threads) = (Arc::clone(server), Arc::clone(threads));
    tokio::spawn(http::serve(server, threads, vec![listener], stop_requested))
}

async fn joined(task: Option<JoinHandle<()>>) -> Result<(), CliError> {
    match task {
        Some(task) => {
            task.await.map_err(|error| CliError::failed("a task of the server failed", error))
        }
        None => Ok(()),
    }
}

fn ms(ticks: &Ticks) -> u64 {
    u64::try_from(ticks.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// Draws a frame around lines, so that they stand out between log lines.
fn boxed(lines: &[&str]) -> String {
    let width = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    let bar = "─".repeat(width + 2);
    let inside: Vec<String> = lines.iter().map(|line| format!("│ {line:<width$} │")).collect();
    format!("┌{bar}┐\n{}\n└{bar}┘", inside.join("\n"))
}

/// The signals that stop the process.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    /// `None` if SIGHUP is ignored.
    cancel: Option<Signal>,
}

impl Signals {
    fn listen() -> Result<Self, CliError> {
        let listen = |kind| {
            signal(kind).map_err(|error| CliError::failed("cannot register signal handlers", error))
        };
        Ok(Self {
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
            cancel: if process::ignores_hang_ups() {
                None
            } else {
                Some(listen(SignalKind::hangup())?)
            },
        })
    }

    /// Returns the name of the next signal.
    async fn next(&mut self) -> &'static str {
        let cancel = async {
            match &mut self.cancel {
                Some(signal) => signal.recv().await,
                None => pending().await,
            }
        };
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
            _ = cancel => "SIGHUP",
        }
    }

    /// Waits for a signal that demands an immediate end. SIGHUP does not count: a closing terminal
    /// may send it more than once.
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
