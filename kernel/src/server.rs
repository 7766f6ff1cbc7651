//! The listening loop: bounded connections, bounded headers, a stop that finishes what has begun.

use std::future::Future;
use std::io::{self, Cursor};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// The longest that a connection may take to send a request's headers.
const HEADER_TIME: Duration = Duration::from_secs(10);
/// The largest set of headers, in bytes.
const HEADER_BYTES: usize = 32 * 1024;
/// What an HTTP/2 connection begins with (RFC 9113, section 3.4).
const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Serves until `stop`; then takes no more connections, and gives those that are open `patience` to
/// end their requests.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    connections: usize,
    stop: impl Future<Output = ()>,
    patience: Duration,
) {
    serve_timely(listener, router, connections, HEADER_TIME, stop, patience).await;
}

async fn serve_timely(
    listener: TcpListener,
    router: Router,
    connections: usize,
    header_time: Duration,
    stop: impl Future<Output = ()>,
    patience: Duration,
) {
    let mut http = Builder::new(TokioExecutor::new());
    http.http1()
        .timer(TokioTimer::new())
        .header_read_timeout(header_time)
        .max_buf_size(HEADER_BYTES);
    http.http2()
        .timer(TokioTimer::new())
        .max_header_list_size(HEADER_BYTES as u32);
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(connections));
    tokio::pin!(stop);

    loop {
        let place = tokio::select! {
            () = &mut stop => break,
            place = Arc::clone(&places).acquire_owned() => place,
        };
        let Ok(place) = place else { break };
        let stream = tokio::select! {
            () = &mut stop => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // Out of file descriptors, or a peer that is gone already. Accepting at once
                    // again would spin.
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
        };
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(router.clone());
        let (http, watcher) = (http.clone(), graceful.watcher());
        tokio::spawn(async move {
            let served = match tokio::time::timeout(header_time, opened(stream)).await {
                Ok(Ok(stream)) => {
                    let connection = http.serve_connection(TokioIo::new(stream), service);
                    watcher.watch(connection.into_owned()).await
                }
                Ok(Err(error)) => Err(error.into()),
                Err(elapsed) => Err(elapsed.into()),
            };
            if let Err(error) = served {
                tracing::debug!(%error, "a connection ended badly");
            }
            drop(place);
        });
    }
    drop(listener);
    if tokio::time::timeout(patience, graceful.shutdown())
        .await
        .is_err()
    {
        tracing::warn!("some connections did not end in time");
    }
}

/// A connection that has sent as much as tells HTTP/2 from HTTP/1, and will be read from its
/// beginning. Only from there on does the HTTP library bound the time that headers may take.
async fn opened(
    mut stream: TcpStream,
) -> io::Result<impl AsyncRead + AsyncWrite + Unpin + Send + 'static> {
    let mut sent = Vec::with_capacity(HTTP2_PREFACE.len());
    while sent.len() < HTTP2_PREFACE.len() && HTTP2_PREFACE.starts_with(&sent) {
        let missing = HTTP2_PREFACE.len() - sent.len();
        let mut rest = (&mut stream).take(missing as u64);
        if rest.read_buf(&mut sent).await? == 0 {
            break;
        }
    }
    let (reader, writer) = stream.into_split();
    Ok(tokio::io::join(Cursor::new(sent).chain(reader), writer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::routing::get;
    use tokio::io::AsyncWriteExt;

    /// Starts a server with little time for headers and gives a connection to it.
    async fn connection() -> TcpStream {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().route("/", get(|| async { "here" }));
        let brief = Duration::from_millis(50);
        let serving = serve_timely(listener, router, 1, brief, std::future::pending(), brief);
        tokio::spawn(serving);
        TcpStream::connect(address).await.unwrap()
    }

    /// What comes until the server closes the connection.
    async fn rest(mut stream: TcpStream) -> String {
        let mut answer = String::new();
        let closed = stream.read_to_string(&mut answer);
        let closed = tokio::time::timeout(Duration::from_secs(20), closed).await;
        closed.expect("the server closes it").unwrap();
        answer
    }

    #[tokio::test]
    async fn a_connection_that_does_not_go_on_is_closed() {
        for beginning in [
            "",
            "P",
            "PRI * HTTP/2.0\r\n",
            "GET / HTTP/1.1\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\n",
        ] {
            let mut stream = connection().await;
            stream.write_all(beginning.as_bytes()).await.unwrap();
            let answer = rest(stream).await;
            assert!(!answer.contains("here"), "{beginning:?}: {answer}");
        }
    }

    #[tokio::test]
    async fn a_request_is_read_whole_in_whatever_pieces_it_comes() {
        let request = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        for cut in [1, 2, 10, 30, request.len()] {
            let mut stream = connection().await;
            stream.set_nodelay(true).unwrap();
            for piece in [&request[..cut], &request[cut..]] {
                stream.write_all(piece.as_bytes()).await.unwrap();
                stream.flush().await.unwrap();
                tokio::task::yield_now().await;
            }
            let answer = rest(stream).await;
            assert!(answer.starts_with("HTTP/1.1 200 "), "{cut}: {answer}");
            assert!(answer.ends_with("here"), "{cut}: {answer}");
        }
    }
}
