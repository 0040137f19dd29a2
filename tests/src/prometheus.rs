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

    /// Starts Prometheus, which evaluates these groups of alerting rules several times a second,
    /// and delivers its alerts to `server`.
    #[track_caller]
    pub fn alerting(rules: &str, server: SocketAddr) -> Self {
        let home = folder();
        let config = format!(
            "global: {{evaluation_interval: 250ms}}\n\
             rule_files: [rules.yml]\n\
             alerting:\n  \
               alertmanagers:\n  \
               - static_configs: [{{targets: ['{server}']}}]\n    \
                 authorization: {{credentials: {ADMIN_KEY}}}\n"
        );
        assert!(std::fs::write(home.path().join("prometheus.yml"), config).is_ok());
        assert!(std::fs::write(home.path().join("rules.yml"), rules).is_ok());
        let child = spawn(&home);
        Self { home, child }
    }

    /// Replaces the alerting rules, and lets Prometheus read them.
    #[track_caller]
    pub fn replace_rules(&self, rules: &str) {
        assert!(std::fs::write(self.home.path().join("rules.yml"), rules).is_ok());
        let command = format!("kill -HUP {}", self.child.id());
        let sent = Command::new("sh").args(["-c", &command]).status();
        assert!(sent.is_ok_and(|status| status.success()), "{command} failed");
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
    let program = unpacked("prometheus", "prometheus");
    let spawned = Command::new(&program)
        .arg("--config.file=prometheus.yml")
        .args(["--storage.tsdb.path=data", "--web.listen-address=127.0.0.1:0"])
        .arg("--enable-feature=native-histograms")
        // An alert is sent before the notifier knows its receiver, and then only after this.
        .arg("--rules.alert.resend-delay=1s")
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

/// Runs `amtool` against a server, and returns what it prints.
#[track_caller]
pub fn amtool(server: SocketAddr, arguments: &[&str]) -> String {
    let home = folder();
    let key = format!("authorization: {{credentials: {ADMIN_KEY}}}\n");
    assert!(std::fs::write(home.path().join("http.yml"), key).is_ok());
    let program = unpacked("prometheus-alertmanager", "amtool");
    let output = Command::new(&program)
        .arg(format!("--alertmanager.url=http://{server}"))
        .arg("--http.config.file=http.yml")
        .args(arguments)
        .current_dir(home.path())
        .stdin(Stdio::null())
        .output();
    match output {
        Ok(output) => {
            let error = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "amtool {arguments:?}: {error}");
            String::from_utf8_lossy(&output.stdout).into_owned()
        }
        Err(error) => {
            panic!("{} did not start ({error}); run tools/setup test", program.display())
        }
    }
}

/// Returns a program that `tools/setup` unpacked from a package, else the installed one.
fn unpacked(package: &str, program: &str) -> PathBuf {
    let unpacked = target_dir().join("clients").join(package).join("usr/bin").join(program);
    if unpacked.is_file() { unpacked } else { PathBuf::from(program) }
}
