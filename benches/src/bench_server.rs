//! The server with all its routes and middleware, in this process, on a port of 127.0.0.1.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::JoinHandle;

use telltale_engine::{Engine, Memory};
use telltale_server::app::App;
use telltale_server::areas;
use telltale_server::areas::errors::ErrorSettings;
use telltale_server::config::Config;
use telltale_server::http::{self, ConnectionThreads, Listener, Server};
use telltale_server::platform::keys::KeyString;
use telltale_server::platform::quota::{Quota, Quotas};
use telltale_server::platform::ticks::Ticks;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// A running server, stopped when it is dropped.
#[derive(Debug)]
pub struct BenchServer {
    /// The address it listens on.
    pub address: SocketAddr,
    /// The value of `Authorization` with all scopes.
    pub authorization: String,
    /// What the handlers use.
    pub app: Arc<App>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl BenchServer {
    /// Serves `engine`, without rate limits, and with any number of new errors an hour.
    ///
    /// # Panics
    /// When it cannot.
    pub fn open(engine: Engine) -> Self {
        let (sender, address) = channel();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
            let Ok(runtime) = runtime else { panic!("no runtime") };
            runtime.block_on(async {
                let unlimited = Quotas {
                    batch: Quota::Unlimited,
                    query: Quota::Unlimited,
                    console: Quota::Unlimited,
                    single: Quota::Unlimited,
                    other: Quota::Unlimited,
                };
                let new_groups_per_hour = u64::MAX;
                let errors = ErrorSettings { new_groups_per_hour, ..ErrorSettings::default() };
                let config = Config { limits: unlimited, errors, ..Config::default() };
                let settings = config.http_settings(&Memory::unlimited());
                let (clock, ticks) = (telltale_engine::Clock::system(), Ticks::system());
                let app = App::new(engine, clock.clone(), ticks.clone(), &config);
                let threads = ConnectionThreads::start(&Handle::current(), &ticks);
                let server = Server::new(settings, clock, ticks, areas::routes());
                let (Ok(app), Ok(server), Ok(threads)) = (app, server, threads) else {
                    panic!("no server")
                };
                let Ok(key) = KEY.parse::<KeyString>() else { panic!("the key is malformed") };
                assert!(app.keys().first_start(Some(key)).is_ok(), "the key is stored");
                assert!(server.open(Arc::clone(&app)).is_ok(), "the server is new");
                let Ok(listener) = Listener::tcp(([127, 0, 0, 1], 0).into()) else {
                    panic!("no port")
                };
                let address = listener.local_addr();
                assert!(sender.send((address, app)).is_ok(), "somebody waits");
                let stopped = async { drop(stopped.await) };
                http::serve(server, Arc::new(threads), vec![listener], stopped).await;
            });
        });
        let Ok((Some(address), app)) = address.recv() else { panic!("the server did not start") };
        let authorization = format!("Bearer {KEY}");
        Self { address, authorization, app, stop: Some(stop), thread: Some(thread) }
    }
}

/// A well-formed key, valid on this server only.
const KEY: &str = "tt_benchmark_0123456789012345678901234567890123456789012";

impl Drop for BenchServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been printed.
            let _joined = thread.join();
        }
    }
}
