//! The listening loop: bounded connections, bounded headers, a stop that finishes what has begun.
//!
//! HTTP/1.1 alone: what speaks more than that belongs in front of a kernel, and a connection that
//! could still become HTTP/2 has no bound on its headers until it said which it is.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// The longest that a connection may take to send a request's headers.
const HEADER_TIME: Duration = Duration::from_secs(10);
/// The largest set of headers, in bytes.
const HEADER_BYTES: usize = 32 * 1024;

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
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(header_time)
        .max_buf_size(HEADER_BYTES);
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
        let connection = graceful.watch(http.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            if let Err(error) = connection.await {
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

#[cfg(test)]
mod tests {
    use super::*;
    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

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
