//! What is between clients and a kernel: a network that loses requests and answers, and delivers some twice or late.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::chance::Chance;
use crate::counts::Counts;
use crate::program::Address;

/// The longest that one request may be under way.
const PATIENCE: Duration = Duration::from_secs(30);
/// The largest request that is passed on.
const LARGEST: usize = 1 << 20;

/// What happens to a request.
#[derive(Debug, Clone, Copy)]
enum Way {
    Passed,
    /// It never arrives.
    Lost,
    /// The connection breaks in the middle of it.
    Torn,
    /// It arrives, and the connection breaks before an answer comes.
    HungUp,
    /// Its answer never arrives.
    AnswerLost,
    /// It arrives twice at once.
    Doubled,
    /// An older request arrives once more beside it.
    OlderOnceMore,
}

/// Takes requests for one kernel at an address that stays.
pub struct Proxy {
    pub address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    kernel: Address,
    counts: Arc<Counts>,
    chance: Mutex<Chance>,
    /// How many in a hundred requests do not just pass.
    mischief: AtomicUsize,
    older: Mutex<Vec<u8>>,
}

impl Proxy {
    pub async fn start(kernel: Address, counts: Arc<Counts>, chance: Chance) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            kernel,
            counts,
            chance: Mutex::new(chance),
            mischief: AtomicUsize::new(12),
            older: Mutex::default(),
        });
        let serving = Arc::clone(&shared);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let serving = Arc::clone(&serving);
                // Whatever breaks, breaks for this client alone.
                tokio::spawn(
                    async move { tokio::time::timeout(PATIENCE, serving.serve(client)).await },
                );
            }
        });
        Self { address, shared }
    }

    /// From now on, how many in a hundred requests do not just pass.
    pub fn mischief(&self, percent: usize) {
        self.shared.mischief.store(percent, Ordering::SeqCst);
    }
}

impl Shared {
    fn way(&self) -> Way {
        let mut chance = self.chance.lock().unwrap();
        if !chance.percent(self.mischief.load(Ordering::SeqCst)) {
            return Way::Passed;
        }
        let way = *chance.one(&[
            Way::Lost,
            Way::Torn,
            Way::HungUp,
            Way::AnswerLost,
            Way::Doubled,
            Way::Doubled,
            Way::OlderOnceMore,
        ]);
        self.counts.one(format!(
            "requests: {}",
            match way {
                Way::Passed => "passed",
                Way::Lost => "lost on the way",
                Way::Torn => "torn in the middle",
                Way::HungUp => "hung up on before the answer",
                Way::AnswerLost => "answered, and the answer lost",
                Way::Doubled => "delivered twice at once",
                Way::OlderOnceMore => "delivered once more, late",
            }
        ));
        way
    }

    async fn serve(&self, mut client: TcpStream) -> Option<()> {
        let request = read_request(&mut client).await?;
        if self.kernel.lock().unwrap().is_none() {
            return None;
        }
        let way = self.way();
        let answer = match way {
            Way::Passed => self.ask(&request).await?,
            Way::Lost => return None,
            Way::Torn => {
                let mut kernel = self.connect().await?;
                return kernel.write_all(&request[..request.len() / 2]).await.ok();
            }
            Way::HungUp => {
                let mut kernel = self.connect().await?;
                return kernel.write_all(&request).await.ok();
            }
            Way::AnswerLost => {
                self.ask(&request).await?;
                return None;
            }
            Way::Doubled => {
                let (first, _) = tokio::join!(self.ask(&request), self.ask(&request));
                first?
            }
            Way::OlderOnceMore => {
                let older = self.older.lock().unwrap().clone();
                let (answer, _) = tokio::join!(self.ask(&request), self.ask(&older));
                answer?
            }
        };
        client.write_all(&answer).await.ok()?;
        if self.chance.lock().unwrap().percent(20) {
            *self.older.lock().unwrap() = request;
        }
        Some(())
    }

    async fn connect(&self) -> Option<TcpStream> {
        let address = (*self.kernel.lock().unwrap())?;
        TcpStream::connect(address).await.ok()
    }

    /// The whole answer of the kernel, if one comes.
    async fn ask(&self, request: &[u8]) -> Option<Vec<u8>> {
        let mut kernel = self.connect().await?;
        kernel.write_all(request).await.ok()?;
        let mut answer = Vec::new();
        kernel.read_to_end(&mut answer).await.ok()?;
        Some(answer)
    }
}

/// A request as it is to be passed on: the kernel is asked to close the connection after it, so that an answer has an
/// end.
async fn read_request(client: &mut TcpStream) -> Option<Vec<u8>> {
    let (mut request, mut bytes) = (Vec::new(), [0; 4096]);
    loop {
        if let Some(end) = find(&request, b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&request[..end]).to_lowercase();
            let length = head
                .split("\r\n")
                .find_map(|line| line.strip_prefix("content-length:"));
            let length: usize = length.map_or(Some(0), |length| length.trim().parse().ok())?;
            if request.len() >= end + 4 + length {
                request.splice(end..end, *b"\r\nconnection: close");
                return Some(request);
            }
        }
        let read = client.read(&mut bytes).await.ok()?;
        if read == 0 || request.len() > LARGEST {
            return None;
        }
        request.extend_from_slice(&bytes[..read]);
    }
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}
