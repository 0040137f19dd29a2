//! Browsers and images of the tests.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use telltale_server::areas::snapshots::capture::{
    Browser, BrowserSettings, Capture, CaptureError, CaptureRequest, Dial, DialError, DialFuture,
    PageArea, Viewport,
};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

use crate::site::Site;

/// Connects to one server by its address, or by any name that ends with `.test`.
pub(crate) struct OnlySite(pub(crate) SocketAddr);

impl Dial for OnlySite {
    fn dial<'a>(&'a self, host: &'a str, port: u16) -> DialFuture<'a> {
        Box::pin(async move {
            if host.ends_with(".invalid") {
                return Err(DialError::Failed(std::io::Error::other("the name has no address")));
            }
            let is_named = host.ends_with(".test") && port == 80;
            if !is_named && (host, port) != (self.0.ip().to_string().as_str(), self.0.port()) {
                return Err(DialError::Refused(format!("{host} is not a public address")));
            }
            Ok(TcpStream::connect(self.0).await?)
        })
    }
}

/// A browser with a directory of its own for profiles.
pub(crate) struct TestBrowser {
    pub(crate) browser: Browser,
    pub(crate) root: tempfile::TempDir,
}

impl TestBrowser {
    pub(crate) fn new(site: &Site) -> Self {
        Self::with_slots(site, 2)
    }

    pub(crate) fn with_slots(site: &Site, slots: usize) -> Self {
        let root = tempfile::tempdir().unwrap();
        let settings =
            BrowserSettings { profile_root: root.path().to_owned(), ..BrowserSettings::default() };
        Self::with_settings(site, slots, settings, root)
    }

    pub(crate) fn with_settings(
        site: &Site,
        slots: usize,
        settings: BrowserSettings,
        root: tempfile::TempDir,
    ) -> Self {
        let slots = Arc::new(Semaphore::new(slots));
        let browser = Browser::new(settings, Arc::new(OnlySite(site.address)), slots);
        Self { browser, root }
    }

    pub(crate) async fn capture(&self, request: &CaptureRequest) -> Result<Capture, CaptureError> {
        self.browser.capture(request).await
    }

    /// Captures a page that is expected to be captured.
    pub(crate) async fn shoot(&self, request: &CaptureRequest) -> Capture {
        let capture = self.browser.capture(request).await.unwrap();
        assert_eq!(capture.png[..4], *b"\x89PNG");
        capture
    }

    /// Kills the browser and checks that nothing is left.
    pub(crate) async fn end(self) {
        self.browser.close().await;
        assert_eq!(processes(self.root.path()), Vec::<u32>::new());
        let left: Vec<_> = std::fs::read_dir(self.root.path()).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

pub(crate) fn request(url: &str) -> CaptureRequest {
    CaptureRequest::new(url, Viewport::new(800, 600).unwrap()).unwrap()
}

pub(crate) fn full_page(url: &str) -> CaptureRequest {
    request(url).area(PageArea::FullPage)
}

/// The processes that run with a path on their command line.
pub(crate) fn processes(path: &Path) -> Vec<u32> {
    processes_with(path.to_str().unwrap())
}

pub(crate) fn processes_with(text: &str) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let matching = entries.filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        // A process that has ended has no command line; its parent may be slow to notice.
        if line.is_empty() {
            return None;
        }
        String::from_utf8_lossy(&line).contains(text).then_some(pid)
    });
    matching.collect()
}

/// The processes of a type (`renderer`) in a process group.
pub(crate) fn children(group: u32, kind: &str) -> Vec<u32> {
    let in_group = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let rest = stat.rsplit(')').next().unwrap_or_default().to_owned();
        rest.split_whitespace().nth(2) == Some(&group.to_string())
    };
    let kind = if kind.is_empty() { String::new() } else { format!("--type={kind}") };
    processes_with(&kind).into_iter().filter(in_group).collect()
}

pub(crate) fn kill(pid: u32) {
    Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
}

/// Waits for a condition, ten seconds at most.
pub(crate) async fn eventually(what: &str, condition: impl AsyncFn() -> bool) {
    for _ in 0..500 {
        if condition().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{what}");
}

/// A decoded image.
pub(crate) struct Pixels {
    width: u32,
    channels: usize,
    data: Vec<u8>,
}

impl Pixels {
    pub(crate) fn of(capture: &Capture) -> Self {
        let decoder = png::Decoder::new(std::io::Cursor::new(&capture.png));
        let mut reader = decoder.read_info().unwrap();
        let mut data = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut data).unwrap();
        assert_eq!((info.width, info.height), (capture.width, capture.height));
        let channels = info.color_type.samples();
        Self { width: info.width, channels, data }
    }

    pub(crate) fn at(&self, x: u32, y: u32) -> [u8; 3] {
        let start = (y as usize * self.width as usize + x as usize) * self.channels;
        self.data[start..start + 3].try_into().unwrap()
    }

    /// How many pixels have a colour.
    pub(crate) fn count(&self, colour: [u8; 3]) -> usize {
        self.data.chunks(self.channels).filter(|pixel| pixel[..3] == colour).count()
    }
}
