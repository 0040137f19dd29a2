//! The client against receivers that misbehave, on real sockets.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use super::client::{REQUESTS_PER_HOST, SLOW_REQUESTS_PER_HOST};
use super::resolve::Resolver;
use super::*;

/// Longer than any test takes.
const LONG: Duration = Duration::from_secs(60);

/// A receiver on the loopback interface: it answers each request with the next of the given
/// responses, and reports the requests.
struct Receiver {
    address: SocketAddr,
    requests: mpsc::UnboundedReceiver<String>,
}

impl Receiver {
    async fn answering(responses: Vec<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, requests) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            for response in responses {
                let (mut stream, _) = listener.accept().await.unwrap();
                sender.send(read_request(&mut stream).await).unwrap();
                stream.write_all(response.as_bytes()).await.unwrap();
            }
        });
        Self { address, requests }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

/// Reads the head of a request and a body of the announced length.
async fn read_request(stream: &mut TcpStream) -> String {
    let mut text = String::new();
    let mut buffer = [0; 4_096];
    loop {
        let read = stream.read(&mut buffer).await.unwrap();
        text.push_str(std::str::from_utf8(&buffer[..read]).unwrap());
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        if read == 0 || body.len() >= length.map_or(0, |text| text.parse().unwrap()) {
            return text;
        }
    }
}

fn policy(allow: &[&str]) -> OutboundPolicy {
    let allow = allow.iter().map(|text| Cidr::parse(text).unwrap()).collect();
    OutboundPolicy::new(&OutboundSettings { allow })
}

fn client() -> OutboundClient {
    OutboundClient::new(policy(&["127.0.0.0/8"])).unwrap()
}

fn request(client: &OutboundClient, url: &str) -> OutboundRequest {
    OutboundRequest {
        method: Method::POST,
        url: OutboundUrl::parse(url, client.policy()).unwrap(),
        headers: HeaderMap::from_iter([
            (http::header::AUTHORIZATION, HeaderValue::from_static("Bearer planted")),
            (http::header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (http::header::ACCEPT, HeaderValue::from_static("*/*")),
        ]),
        body: Bytes::from_static(b"{\"a\":1}"),
        redirects: Redirects::Follow(5),
        lane: Lane::Usual,
        body_use: BodyUse::Keep(64 << 10),
        timeout: LONG,
    }
}

fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

fn redirect(status: u16, location: &str) -> String {
    format!("HTTP/1.1 {status} Moved\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n")
}

#[tokio::test]
async fn a_request_arrives_as_it_was_given() {
    let mut receiver = Receiver::answering(vec![ok("fine")]).await;
    let client = client();
    let answer = client.send(request(&client, &receiver.url("/hook?a=b"))).await.unwrap();
    assert_eq!((answer.status, &*answer.body), (StatusCode::OK, &b"fine"[..]));
    assert!(!answer.is_truncated);
    let sent = receiver.requests.recv().await.unwrap();
    assert!(sent.starts_with("POST /hook?a=b HTTP/1.1\r\n"), "{sent}");
    assert!(sent.contains(&format!("host: {}\r\n", receiver.address)), "{sent}");
    assert!(sent.contains("authorization: Bearer planted\r\n"), "{sent}");
    assert!(sent.contains("user-agent: telltale/"), "{sent}");
    assert!(sent.ends_with("{\"a\":1}"), "{sent}");
}

#[tokio::test]
async fn redirects_are_followed_as_their_status_says() {
    for (status, method, has_body) in
        [(302, "GET", false), (303, "GET", false), (307, "POST", true)]
    {
        let mut receiver = Receiver::answering(vec![redirect(status, "/next"), ok("there")]).await;
        let client = client();
        let answer = client.send(request(&client, &receiver.url("/first"))).await.unwrap();
        assert_eq!(answer.url.as_str(), receiver.url("/next"));
        let _first = receiver.requests.recv().await.unwrap();
        let second = receiver.requests.recv().await.unwrap();
        assert!(second.starts_with(&format!("{method} /next ")), "{second}");
        assert_eq!(second.ends_with("{\"a\":1}"), has_body, "{second}");
        assert!(second.contains("Bearer planted"), "the same origin: {second}");
    }
}

#[tokio::test]
async fn another_origin_gets_no_secrets() {
    let mut other = Receiver::answering(vec![ok("there")]).await;
    let first = Receiver::answering(vec![redirect(302, &other.url("/x"))]).await;
    let client = client();
    client.send(request(&client, &first.url("/"))).await.unwrap();
    let sent = other.requests.recv().await.unwrap();
    assert!(!sent.contains("planted") && sent.contains("accept: */*"), "{sent}");
    assert!(sent.starts_with("GET /x ") && sent.ends_with("\r\n\r\n"), "no body: {sent}");
}

#[tokio::test]
async fn requests_that_change_something_are_not_repeated_elsewhere() {
    for status in [307, 308] {
        for (method, body) in [(Method::POST, "secret"), (Method::GET, "secret"), (Method::PUT, "")]
        {
            let mut other = Receiver::answering(vec![ok("there")]).await;
            let first = Receiver::answering(vec![redirect(status, &other.url("/x"))]).await;
            let client = client();
            let body = Bytes::from_static(body.as_bytes());
            let request = OutboundRequest { method, body, ..request(&client, &first.url("/")) };
            let refused = client.send(request).await.unwrap_err();
            let expected = format!(
                "redirected with HTTP {status} to another server, which must not get the method \
                 and the body"
            );
            assert_eq!((refused.to_string(), refused.is_temporary()), (expected, false));
            assert!(other.requests.try_recv().is_err(), "nothing was sent");
        }
        let mut other = Receiver::answering(vec![ok("there")]).await;
        let first = Receiver::answering(vec![redirect(status, &other.url("/x"))]).await;
        let client = client();
        let (method, body) = (Method::HEAD, Bytes::new());
        let request = OutboundRequest { method, body, ..request(&client, &first.url("/")) };
        client.send(request).await.unwrap();
        assert!(other.requests.recv().await.unwrap().starts_with("HEAD /x "), "nothing to keep");
    }
}

#[tokio::test]
async fn redirects_to_forbidden_addresses_and_endless_ones_are_refused() {
    // Longer than a request line when each quote is percent-encoded.
    let long = "\"".repeat(25_000);
    for location in
        ["http://10.0.0.1/", "http://169.254.169.254/", "//[::1]/", "file:///etc/passwd", &long]
    {
        let receiver = Receiver::answering(vec![redirect(302, location)]).await;
        let client = client();
        let refused = client.send(request(&client, &receiver.url("/"))).await.unwrap_err();
        assert!(matches!(refused, OutboundError::Redirect(_)), "{location}: {refused}");
        assert!(!refused.is_temporary());
    }
    let receiver = Receiver::answering(vec![redirect(302, "/again"); 7]).await;
    let client = client();
    let endless = client.send(request(&client, &receiver.url("/"))).await.unwrap_err();
    assert!(matches!(endless, OutboundError::TooManyRedirects(5)), "{endless}");
    let receiver = Receiver::answering(vec![redirect(302, "http://10.0.0.1/")]).await;
    let unfollowed =
        OutboundRequest { redirects: Redirects::Return, ..request(&client, &receiver.url("/")) };
    assert_eq!(client.send(unfollowed).await.unwrap().status, StatusCode::FOUND);
}

#[tokio::test]
async fn one_forbidden_address_of_a_name_refuses_all_and_what_was_checked_is_dialled() {
    let mut receiver = Receiver::answering(vec![ok("fine")]).await;
    let port = receiver.address.port();
    let known = |addresses: &[&str]| {
        let parsed: Vec<IpAddr> = addresses.iter().map(|text| text.parse().unwrap()).collect();
        Resolver::Fixed(HashMap::from([("hook.example".to_owned(), parsed)]))
    };
    let url = format!("http://hook.example:{port}/");
    for (addresses, is_special) in
        [(&["127.0.0.1", "10.0.0.1"][..], true), (&["169.254.169.254"], true), (&[], false)]
    {
        let client = client().resolving(known(addresses));
        let refused = client.send(request(&client, &url)).await.unwrap_err();
        assert_eq!(matches!(refused, OutboundError::Special { .. }), is_special, "{refused}");
    }
    let client = client().resolving(known(&["127.0.0.1"]));
    client.send(request(&client, &url)).await.unwrap();
    let sent = receiver.requests.recv().await.unwrap();
    assert!(sent.contains(&format!("host: hook.example:{port}\r\n")), "{sent}");
}

#[tokio::test]
async fn a_receiver_that_hangs_or_drips_is_left_after_the_timeout() {
    for beginning in ["", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\na"] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let client = client();
        let timeout = Duration::from_millis(100);
        let request = OutboundRequest { timeout, ..request(&client, &url) };
        let hanging = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            read_request(&mut stream).await;
            stream.write_all(beginning.as_bytes()).await.unwrap();
            // The client closes the connection.
            let mut rest = Vec::new();
            stream.read_to_end(&mut rest).await.map(|read| read == 0)
        };
        let (outcome, closed) = tokio::join!(client.send(request), hanging);
        let late = outcome.unwrap_err();
        assert!(matches!(late, OutboundError::TimedOut(_)) && late.is_temporary(), "{late}");
        // A reset counts, too.
        assert!(closed.unwrap_or(true));
    }
}

#[tokio::test]
async fn the_wait_for_other_requests_is_not_the_time_of_the_host() {
    let second = Receiver::answering(vec![ok("there")]).await;
    let first = Receiver::answering(vec![redirect(302, &second.url("/"))]).await;
    let client = client();
    let url = OutboundUrl::parse(&first.url("/"), client.policy()).unwrap();
    let next = OutboundUrl::parse(&second.url("/"), client.policy()).unwrap();
    let mut others = Vec::new();
    for url in [&url, &next] {
        for _ in 0..REQUESTS_PER_HOST {
            others.push(client.enter(url, Lane::Usual).await.unwrap());
        }
    }
    let limit = Duration::from_millis(500);
    let request = OutboundRequest { timeout: limit, ..request(&client, url.as_str()) };
    let release = async {
        tokio::time::sleep(limit * 2).await;
        others.remove(0);
        tokio::time::sleep(limit * 2).await;
        others.pop();
    };
    let (answer, ()) = tokio::join!(client.send(request), release);
    let answer = answer.unwrap();
    assert_eq!(answer.url.as_str(), second.url("/"));
    assert!(answer.took < limit, "{:?}", answer.took);
}

#[tokio::test(start_paused = true)]
async fn a_request_waits_for_others_only_so_long() {
    let client = client();
    let request = request(&client, "http://127.0.0.1:1/");
    let enter = || client.enter(&request.url, Lane::Usual);
    let mut others = Vec::new();
    for _ in 0..REQUESTS_PER_HOST {
        others.push(enter().await.unwrap());
    }
    assert!(enter().await.is_none());
    let busy = client.send(request.clone()).await.unwrap_err();
    assert!(matches!(busy, OutboundError::Busy { .. }) && busy.is_temporary(), "{busy}");
    others.pop();
    assert!(enter().await.is_some());
}

#[tokio::test]
async fn a_response_of_which_nothing_is_kept_ends_with_its_head() {
    for head in [
        "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n",
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let client = client();
        let request = OutboundRequest { body_use: BodyUse::Nothing, ..request(&client, &url) };
        let late = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            read_request(&mut stream).await;
            stream.write_all(head.as_bytes()).await.unwrap();
            // Nothing of the body is sent.
            stream
        };
        let (answer, _stream) = tokio::join!(client.send(request), late);
        let answer = answer.unwrap();
        assert_eq!((answer.status, answer.body.len()), (StatusCode::OK, 0));
    }
    let receiver = Receiver::answering(vec![ok("")]).await;
    let client = client();
    let request =
        OutboundRequest { body_use: BodyUse::Nothing, ..request(&client, &receiver.url("/")) };
    assert!(!client.send(request).await.unwrap().is_truncated);
}

#[tokio::test]
async fn hosts_are_connected_to_as_name_servers_know_them() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let known = HashMap::from([("xn--bcher-kva.example".to_owned(), vec![[127, 0, 0, 1].into()])]);
    let client = client().resolving(Resolver::Fixed(known));
    let host = OutboundHost::parse("Bücher.Example.", client.policy()).unwrap();
    let slot = client.enter_host(&host, port, Lane::Usual).await.unwrap();
    client.connect(slot, LONG).await.unwrap();
    let policy = policy(&["::1/128"]);
    for text in ["[::1]", "::1"] {
        let origin = OutboundHost::parse(text, &policy).unwrap().origin(port);
        let addresses = Resolver::System.resolve(&origin, &policy).await.unwrap();
        assert_eq!(addresses, [SocketAddr::from(([0, 0, 0, 0, 0, 0, 0, 1], port))], "{text}");
    }
}

#[tokio::test]
async fn an_endless_response_is_cut() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let client = client();
    let endless = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        let head = "HTTP/1.1 200 OK\r\ncontent-length: 10000000000\r\n\r\n";
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut sent = 0_u64;
        while stream.write_all(&[b'x'; 16 << 10]).await.is_ok() {
            sent += 16 << 10;
        }
        sent
    };
    let (answer, sent) = tokio::join!(client.send(request(&client, &url)), endless);
    let answer = answer.unwrap();
    assert_eq!((answer.body.len(), answer.is_truncated), (64 << 10, true));
    assert!(sent < 100 << 20, "{sent} bytes until the connection was closed");
}

#[tokio::test]
async fn what_is_no_http_or_has_no_end_of_headers_is_an_error() {
    let long = format!("HTTP/1.1 200 OK\r\n{}", "a: b\r\n".repeat(100_000));
    for answer in ["SSH-2.0-OpenSSH_9.2\r\n".to_owned(), "\0\u{1}".repeat(100), long, String::new()]
    {
        let receiver = Receiver::answering(vec![answer]).await;
        let client = client();
        let failed = client.send(request(&client, &receiver.url("/"))).await.unwrap_err();
        assert!(matches!(failed, OutboundError::Http(_)), "{failed}");
        assert!(!failed.to_string().contains("SSH"), "nothing of the answer is shown");
    }
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let client = client();
    let refused = client.send(request(&client, &format!("http://{closed}/"))).await.unwrap_err();
    assert!(matches!(refused, OutboundError::Connect { .. }), "{refused}");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap());
    let plain = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(b"220 plain text\r\n").await.unwrap();
    };
    let (failed, ()) = tokio::join!(client.send(request(&client, &url)), plain);
    let failed = failed.unwrap_err();
    assert!(matches!(failed, OutboundError::Tls { .. }), "{failed}");
}

#[tokio::test]
async fn hosts_that_hang_take_no_requests_of_others() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let client = client();
    let send = |lane| client.send(OutboundRequest { lane, ..request(&client, &url) });
    let hanging = SLOW_REQUESTS_PER_HOST + 1;
    let slow = futures_util::future::join_all((0..hanging).map(|_| send(Lane::Slow)));
    let usual = async {
        // All that may be open at a time are, and none of them is answered.
        let mut open = Vec::new();
        for _ in 0..SLOW_REQUESTS_PER_HOST {
            let (mut stream, _) = listener.accept().await.unwrap();
            read_request(&mut stream).await;
            open.push(stream);
        }
        let answer = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            read_request(&mut stream).await;
            stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
        };
        tokio::join!(send(Lane::Usual), answer).0
    };
    tokio::select! {
        _ = slow => panic!("nobody answers"),
        answer = usual => assert_eq!(answer.unwrap().status, StatusCode::NO_CONTENT),
    }
}

#[tokio::test]
async fn interim_responses_are_limited() {
    let interim = "HTTP/1.1 103 Early Hints\r\n\r\n";
    let receiver = Receiver::answering(vec![interim.repeat(16) + &ok("fine")]).await;
    let client = client();
    let answer = client.send(request(&client, &receiver.url("/"))).await.unwrap();
    assert_eq!(answer.status, StatusCode::OK);

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let endless = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        let mut sent = 0_u64;
        while stream.write_all(interim.as_bytes()).await.is_ok() {
            sent += 1;
        }
        sent
    };
    let (answer, sent) = tokio::join!(client.send(request(&client, &url)), endless);
    assert!(matches!(answer, Err(OutboundError::Http(_))), "{answer:?}");
    assert!(sent < 1_000_000, "{sent} responses until the connection was closed");
}

#[tokio::test]
async fn hundreds_of_headers_are_read() {
    let headers: String = (0..900).map(|n| format!("x-{n}: 1\r\n")).collect();
    let response = format!("HTTP/1.1 200 OK\r\n{headers}content-length: 0\r\n\r\n");
    let receiver = Receiver::answering(vec![response]).await;
    let client = client();
    let answer = client.send(request(&client, &receiver.url("/"))).await.unwrap();
    assert_eq!(answer.headers.len(), 901);
}
