//! Pages reach nothing but what the dialler allows: servers that must not be reached see nothing.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use telltale_server::areas::snapshots::capture::BrowserSettings;
use tokio::net::{TcpListener, UdpSocket};

use crate::site::{Reply, Site};
use crate::support::{TestBrowser, request};

/// Counts connections and datagrams at a port of the loopback interface.
struct Canary {
    port: u16,
    seen: Arc<AtomicUsize>,
}

impl Canary {
    async fn start() -> Self {
        let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = tcp.local_addr().unwrap().port();
        let udp = UdpSocket::bind(("127.0.0.1", port)).await.unwrap();
        let seen = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&seen);
        tokio::spawn(async move {
            let mut buffer = [0; 2048];
            loop {
                tokio::select! {
                    accepted = tcp.accept() => drop(accepted.unwrap()),
                    received = udp.recv(&mut buffer) => drop(received.unwrap()),
                }
                count.fetch_add(1, Ordering::SeqCst);
            }
        });
        Self { port, seen }
    }

    fn seen(&self) -> usize {
        self.seen.load(Ordering::SeqCst)
    }
}

/// A page that tries to reach a canary in all ways that pages have.
fn attack(canary: &Canary) -> String {
    let c = format!("127.0.0.1:{}", canary.port);
    format!(
        "<!doctype html><title>Attack</title>
        <link rel=preconnect href=http://{c}><link rel=preconnect href=https://{c}>
        <link rel=dns-prefetch href=http://{c}><link rel=dns-prefetch href=//canary.example>
        <link rel=prefetch href=http://{c}/p><link rel=preload as=image href=http://{c}/pl>
        <link rel=prerender href=http://{c}/pr><link rel=stylesheet href=http://{c}/css>
        <link rel=icon href=http://{c}/icon><link rel=manifest href=http://{c}/m>
        <script type=speculationrules>{{\"prefetch\":[{{\"source\":\"list\",
        \"urls\":[\"http://{c}/s\"]}}],\"prerender\":[{{\"source\":\"list\",
        \"urls\":[\"http://{c}/sp\"]}}]}}</script>
        <img src=http://{c}/img><img src=http://localhost:{p}/img><img src=http://[::1]:{p}/img>
        <img src=http://0x7f.1:{p}/img><img src=/redirect><img src=https://{c}/img>
        <iframe src=http://{c}/frame></iframe><iframe src=file:///etc/passwd></iframe>
        <iframe src=/redirect></iframe><iframe src=view-source:http://{c}/></iframe>
        <iframe src=chrome://version></iframe><iframe src=ftp://{c}/></iframe>
        <object data=http://{c}/object></object><embed src=http://{c}/embed>
        <video src=http://{c}/video></video><audio src=http://{c}/audio></audio>
        <script src=http://{c}/script></script>
        <form id=f action=http://{c}/form target=_blank method=post></form>
        <a id=ping href='#x' ping=http://{c}/ping>x</a>
        <p id=done></p><script>
        const note = (what, value) => navigator.sendBeacon('/note?' + what + '=' + value);
        fetch('http://{c}/fetch').catch(() => note('fetch', 'failed'));
        fetch('http://{c}/no-cors', {{ mode: 'no-cors', keepalive: true }}).catch(() => 0);
        const x = new XMLHttpRequest(); x.open('GET', 'http://{c}/xhr'); x.send();
        new WebSocket('ws://{c}/ws').onerror = () => note('ws', 'failed');
        new WebSocket('wss://{c}/ws'); new WebSocket('ws://' + location.host + '/ws');
        new EventSource('http://{c}/events'); navigator.sendBeacon('http://{c}/beacon');
        navigator.serviceWorker?.register('/worker.js').then(() => note('sw', 'registered'),
            (error) => note('sw', error.message));
        new Worker('/worker.js'); try {{ new SharedWorker('/worker.js') }} catch {{}}
        try {{ new WebTransport('https://canary.example/wt') }} catch {{}}
        try {{ new WebTransport('https://{c}/wt').ready.catch(() => note('wt', 'failed')) }}
        catch {{ note('wt', 'thrown') }}
        try {{ const peer = new RTCPeerConnection({{ iceServers: [{{ urls: 'stun:{c}' }},
            {{ urls: 'stun:canary.example' }},
            {{ urls: 'turn:canary.example?transport=tcp', username: 'a', credential: 'b' }},
            {{ urls: 'turn:{c}?transport=udp', username: 'a', credential: 'b' }},
            {{ urls: 'turn:{c}?transport=tcp', username: 'a', credential: 'b' }}] }});
          peer.createDataChannel('x'); peer.createOffer().then((o) => peer.setLocalDescription(o));
          peer.onicecandidate = (e) => note('ice', e.candidate && e.candidate.candidate);
        }} catch {{ note('rtc', 'thrown') }}
        window.open('http://{c}/popup'); document.querySelector('#f').submit();
        document.querySelector('#ping').click();
        setTimeout(() => note('end', 1), 1500);
        const until = setInterval(() => fetch('/note?tick'), 200);
        setTimeout(() => clearInterval(until), 2500);
        </script>",
        p = canary.port,
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn no_request_of_a_page_reaches_a_refused_address() {
    let canary = Canary::start().await;
    let c = format!("127.0.0.1:{}", canary.port);
    let worker = format!(
        "fetch('http://{c}/from-worker').catch(() => 0);
        try {{ importScripts('http://{c}/import') }} catch {{}}
        try {{ new WebSocket('ws://{c}/from-worker') }} catch {{}}
        try {{ new WebTransport('https://{c}/from-worker') }} catch {{}}"
    );
    let site = Site::start(vec![
        ("/", Reply::html(&attack(&canary))),
        ("/redirect", Reply::redirect(&format!("http://{c}/redirected"))),
        ("/worker.js", Reply::typed("text/javascript", worker.as_bytes())),
        ("/note", Reply::typed("text/plain", b"")),
    ])
    .await;
    let (test, log) = logging_browser(&site);
    let capture = test.shoot(&request(&site.url("/"))).await;
    assert_eq!(canary.seen(), 0, "{:#?}", site.paths());
    let paths = site.paths();
    for path in ["/worker.js", "/note?end=1", "/note?fetch=failed", "/note?ws=failed", "/ws"] {
        assert!(paths.iter().any(|seen| seen == path), "{path} in {paths:#?}");
    }
    let traffic = &capture.traffic;
    assert!(traffic.refused > 20 && traffic.bytes > 1_000, "{traffic:#?}");
    let has_host = |host: &str| traffic.refusals.iter().any(|refusal| refusal.host == host);
    assert!(has_host("127.0.0.1") && has_host("localhost") && has_host("::1"), "{traffic:#?}");
    assert!(traffic.refusals.iter().all(|refusal| refusal.reason.contains("not a public")));
    let candidates = paths.iter().filter(|path| path.starts_with("/note?ice=candidate")).count();
    assert_eq!(candidates, 0, "{paths:#?}");
    test.end().await;
    assert_eq!(canary.seen(), 0);
    check_network_log(&log, site.address.port());
}

/// A browser that writes what its network does to a file.
fn logging_browser(site: &Site) -> (TestBrowser, PathBuf) {
    let root = tempfile::tempdir().unwrap();
    let files = tempfile::tempdir().unwrap().keep();
    let (script, log) = (files.join("browser"), files.join("network.json"));
    let text = format!("#!/bin/sh\nexec chromium \"$@\" --log-net-log={}\n", log.display());
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let settings = BrowserSettings {
        executable: Some(script),
        profile_root: root.path().to_owned(),
        ..BrowserSettings::default()
    };
    (TestBrowser::with_settings(site, 1, settings, root), log)
}

/// Checks that Chromium connected to proxies only, asked no name server and sent no datagram.
fn check_network_log(log: &Path, site_port: u16) {
    let text = std::fs::read_to_string(log).unwrap();
    // Killed, it does not end the file, and may have written half a line.
    let mut lines = text.lines();
    let first = lines.next().unwrap().trim_end_matches(',').to_owned() + "}";
    let constants: Value = serde_json::from_str(&first).unwrap();
    let kinds = constants["constants"]["logEventTypes"].as_object().unwrap();
    let name = |number: &Value| kinds.iter().find(|(_, of)| *of == number).map(|(name, _)| name);
    let mut connections = 0;
    for line in lines {
        let Ok(event) = serde_json::from_str::<Value>(line.trim_end_matches(',')) else { continue };
        let Some(name) = name(&event["type"]) else { continue };
        let forbidden = ["HOST_RESOLVER_SYSTEM_TASK", "HOST_RESOLVER_DNS_TASK", "DNS_TRANSACTION"];
        assert!(!forbidden.contains(&name.as_str()), "{event}");
        assert!(!name.starts_with("UDP_BYTES_SENT"), "{event}");
        let address = event["params"]["address"].as_str();
        if let (true, Some(address)) = (name == "TCP_CONNECT_ATTEMPT", address) {
            let port = address.strip_prefix("127.0.0.1:").unwrap().parse::<u16>().unwrap();
            assert_ne!(port, site_port, "not even what is allowed is connected to directly");
            connections += 1;
        }
    }
    assert!(connections > 10, "{connections}");
    std::fs::remove_dir_all(log.parent().unwrap()).unwrap();
}
