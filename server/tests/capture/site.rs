//! A small web server whose pages are captured.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;

/// A response.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// Status, headers and body.
    Full(u16, Vec<(String, String)>, Vec<u8>),
    /// The same, after a pause.
    Late(Duration, Box<Reply>),
    /// Nothing, ever.
    Hang,
    /// An endless body.
    Endless,
}

/// A running server. Stopped when dropped.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
    task: AbortHandle,
}

impl Reply {
    pub(crate) fn html(body: &str) -> Self {
        Self::typed("text/html; charset=utf-8", body.as_bytes())
    }

    pub(crate) fn typed(kind: &str, body: &[u8]) -> Self {
        Self::Full(200, vec![("Content-Type".into(), kind.into())], body.to_vec())
    }

    pub(crate) fn redirect(to: &str) -> Self {
        Self::Full(302, vec![("Location".into(), to.into())], Vec::new())
    }
}

impl Site {
    /// Starts a server with a page at `/`.
    pub(crate) async fn page(html: &str) -> Self {
        Self::start(vec![("/", Reply::html(html))]).await
    }

    /// Starts a server with replies by path. Other paths get a 404.
    pub(crate) async fn start(replies: Vec<(&str, Reply)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        Self::on(listener, address, replies)
    }

    /// The same, with pages that contain the address of the server.
    pub(crate) fn on(
        listener: TcpListener,
        address: SocketAddr,
        replies: Vec<(&str, Reply)>,
    ) -> Self {
        let replies: HashMap<String, Reply> =
            replies.into_iter().map(|(path, reply)| (path.to_owned(), reply)).collect();
        let replies = Arc::new(replies);
        let heads = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&heads);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (replies, seen) = (Arc::clone(&replies), Arc::clone(&seen));
                tokio::spawn(async move { serve(stream, &replies, &seen).await });
            }
        });
        Self { address, heads, task: task.abort_handle() }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The heads of all requests, or `""` for a connection without one.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }

    pub(crate) fn paths(&self) -> Vec<String> {
        let path = |head: &String| head.split(' ').nth(1).unwrap_or_default().to_owned();
        self.heads().iter().map(path).collect()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, replies: &HashMap<String, Reply>, seen: &Mutex<Vec<String>>) {
    let mut head = Vec::new();
    let mut buffer = [0; 4096];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut buffer).await {
            Ok(count @ 1..) => head.extend_from_slice(&buffer[..count]),
            _ => break,
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let target = head.split(' ').nth(1).unwrap_or_default().to_owned();
    seen.lock().unwrap().push(head);
    let path = target.split(['?', '#']).next().unwrap_or_default();
    let missing = Reply::Full(404, Vec::new(), b"none".to_vec());
    let mut reply = replies.get(path).cloned().unwrap_or(missing);
    loop {
        match reply {
            Reply::Full(status, headers, body) => {
                let mut text = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n", body.len());
                for (name, value) in headers {
                    text += &format!("{name}: {value}\r\n");
                }
                text += "Connection: close\r\n\r\n";
                let _ = stream.write_all(text.as_bytes()).await;
                let _ = stream.write_all(&body).await;
                let _ = stream.shutdown().await;
                return;
            }
            Reply::Late(pause, next) => {
                tokio::time::sleep(pause).await;
                reply = *next;
            }
            Reply::Hang => std::future::pending::<()>().await,
            Reply::Endless => {
                let head = "HTTP/1.1 200 X\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n";
                let _ = stream.write_all(head.as_bytes()).await;
                let body = vec![b' '; 1 << 20];
                while stream.write_all(&body).await.is_ok() {}
                return;
            }
        }
    }
}
