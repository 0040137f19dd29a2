//! A real Prometheus, which scrapes a page and writes to a server under test. `tools/setup test`
//! downloads the program.

use std::fs::File;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::binary::target_dir;
use crate::folder::folder;
use crate::server::ADMIN_KEY;

/// A running Prometheus, killed when it is dropped.
#[derive(Debug)]
pub struct Prometheus {
    home: TempDir,
    child: Child,
}

impl Prometheus {
    /// Starts Prometheus, which scrapes `page` every quarter of a second and writes to `server`.
    #[track_caller]
    pub fn start(page: SocketAddr, server: SocketAddr) -> Self {
        let home = folder();
        let config = format!(
            "global: {{scrape_interval: 250ms, scrape_timeout: 250ms}}\n\
             scrape_configs:\n\
             - job_name: page\n  \
               static_configs: [{{targets: ['{page}']}}]\n\
             remote_write:\n\
             - url: 'http://{server}/api/v1/write'\n  \
               authorization: {{credentials: {ADMIN_KEY}}}\n  \
               send_native_histograms: true\n  \
               metadata_config: {{send_interval: 1s}}\n  \
               queue_config: {{max_shards: 1, batch_send_deadline: 100ms, min_backoff: 30ms, max_backoff: 200ms}}\n"
        );
        assert!(std::fs::write(home.path().join("prometheus.yml"), config).is_ok());
        let child = spawn(&home);
        Self { home, child }
    }

    /// Stops it with SIGTERM and starts it again on the same data.
    #[track_caller]
    pub fn restart(&mut self) {
        let command = format!("kill -TERM {}", self.child.id());
        let sent = Command::new("sh").args(["-c", &command]).status();
        assert!(sent.is_ok_and(|status| status.success()), "{command} failed");
        assert!(self.child.wait().is_ok_and(|status| status.success()), "{}", self.log());
        self.child = spawn(&self.home);
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.home.path().join("log")).unwrap_or_default()
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let ended = self.child.kill().and_then(|()| self.child.wait());
        assert!(ended.is_ok() || std::thread::panicking(), "cannot kill Prometheus: {ended:?}");
        if std::thread::panicking() {
            tell(&self.log());
        }
    }
}

#[expect(clippy::print_stderr, reason = "a failed test shows what Prometheus said")]
fn tell(log: &str) {
    eprintln!("Prometheus: {log}");
}

#[track_caller]
fn spawn(home: &TempDir) -> Child {
    let log = File::options().create(true).append(true).open(home.path().join("log"));
    let Ok(log) = log else { panic!("cannot write a log") };
    let program = program();
    let spawned = Command::new(&program)
        .arg("--config.file=prometheus.yml")
        .args(["--storage.tsdb.path=data", "--web.listen-address=127.0.0.1:0"])
        .arg("--enable-feature=native-histograms")
        .current_dir(home.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::from(log))
        .spawn();
    match spawned {
        Ok(child) => child,
        Err(error) => {
            panic!("{} did not start ({error}); run tools/setup test", program.display())
        }
    }
}

/// Returns the program that `tools/setup` unpacked, else the installed one.
fn program() -> PathBuf {
    let unpacked = target_dir().join("clients/prometheus/usr/bin/prometheus");
    if unpacked.is_file() { unpacked } else { PathBuf::from("prometheus") }
}
