//! What is left when the kernel is killed in the middle of its work.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)] // a test says where it fails

mod process;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use actum_kernel::store::verify_file;
use process::{Home, Serving};
use serde_json::{Value, json};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{Connection, Row};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// After how many answers each kernel is killed.
const ROUNDS: [usize; 8] = [1, 40, 7, 95, 3, 61, 150, 23];
const CLIENTS: usize = 6;

/// An answer that a client has in hand.
struct Answered {
    call: String,
    /// The message that was posted, if the call was one.
    text: Option<String>,
}

/// What the store says of a call.
struct Stored {
    action: String,
    state: String,
    text: Option<String>,
}

/// Posts one call after another until the kernel is gone.
async fn client(
    serving: Arc<Serving>,
    tokens: [String; 2],
    name: String,
    answers: mpsc::UnboundedSender<Answered>,
) {
    let [stranger, owner] = tokens;
    for n in 0.. {
        let is_message = n % 3 != 2;
        let text = format!("{name}, message {n}");
        let (token, call) = match is_message {
            true => {
                let action = "terminal.reply:owner_device";
                let arguments = json!({"text": text});
                (&stranger, json!({"action": action, "arguments": arguments}))
            }
            false => (&owner, json!({"action": "openspine.status.read"})),
        };
        let Ok((status, body)) = serving.call(token, &call).await else {
            return;
        };
        assert_eq!(status, 200, "{body}");
        let call = body["request_id"].as_str().unwrap().to_owned();
        let text = is_message.then_some(text);
        if answers.send(Answered { call, text }).is_err() {
            return;
        }
    }
}

async fn tokens(home: &Home, serving: &Serving) -> [String; 2] {
    [
        serving.task(home, "public_chat", "stranger").await,
        serving.task(home, "signed_in_chat", "owner").await,
    ]
}

async fn rows(home: &Home, query: &'static str) -> Vec<sqlx::sqlite::SqliteRow> {
    let file = home.data().join("actum.db");
    let options = SqliteConnectOptions::new().filename(file).read_only(true);
    let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::query(query).fetch_all(&mut connection).await.unwrap()
}

async fn calls(home: &Home) -> BTreeMap<String, Stored> {
    let rows = rows(home, "SELECT id, action, state, arguments FROM calls").await;
    let stored = rows.iter().map(|row| {
        let arguments: Value = serde_json::from_str(row.get("arguments")).unwrap();
        let stored = Stored {
            action: row.get("action"),
            state: row.get("state"),
            text: arguments["text"].as_str().map(str::to_owned),
        };
        (row.get("id"), stored)
    });
    stored.collect()
}

/// For each call, the kinds of its records, in their order.
async fn histories(home: &Home) -> BTreeMap<String, Vec<String>> {
    let mut histories: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for row in rows(home, "SELECT kind, body FROM audit ORDER BY seq").await {
        let body: Value = serde_json::from_str(row.get("body")).unwrap();
        if let Some(call) = body["call"].as_str() {
            let history = histories.entry(call.to_owned()).or_default();
            history.push(row.get("kind"));
        }
    }
    histories
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_in_a_stream_of_calls_it_loses_nothing_and_runs_nothing_twice() {
    let home = Home::sample();
    // A stream of calls is more than the sample's tasks may begin.
    for (agent, calls) in [("front_desk", 4), ("house_assistant", 20)] {
        let limit = "max_model_calls_per_task: ";
        let (file, from) = (
            format!("manifests/agents/{agent}.yaml"),
            format!("{limit}{calls}"),
        );
        home.edit(&file, &from, &format!("{limit}100000"));
    }
    let mut answered = Vec::new();
    let mut first_tokens = None;
    for (round, after) in ROUNDS.into_iter().enumerate() {
        let serving = Arc::new(home.serve().await);
        verify_file(&home.data())
            .await
            .unwrap()
            .expect("the chain holds after every kill");
        // Half of the clients go on with the task that they had before the first kill.
        let fresh = tokens(&home, &serving).await;
        let first = first_tokens.get_or_insert_with(|| fresh.clone());
        let (sender, mut answers) = mpsc::unbounded_channel();
        let clients: Vec<_> = (0..CLIENTS)
            .map(|n| {
                let tokens = if n % 2 == 0 {
                    first.clone()
                } else {
                    fresh.clone()
                };
                let name = format!("round {round}, client {n}");
                tokio::spawn(client(Arc::clone(&serving), tokens, name, sender.clone()))
            })
            .collect();
        drop(sender);
        for _ in 0..after {
            let answer = tokio::time::timeout(Duration::from_secs(60), answers.recv());
            answered.push(answer.await.expect("answers keep coming").unwrap());
        }
        serving.signal_kill();
        for client in clients {
            client.await.unwrap();
        }
        while let Some(answer) = answers.recv().await {
            answered.push(answer);
        }
        Arc::into_inner(serving)
            .expect("the clients are done")
            .gone()
            .await;
    }

    let serving = home.serve().await;
    // The readings of the status that were cut off are idempotent, and run again meanwhile.
    let mut asked = 0;
    let running = "SELECT id FROM calls WHERE state = 'running'";
    while !rows(&home, running).await.is_empty() {
        asked += 1;
        assert!(asked < 2_000, "calls that were cut off do not end");
    }
    let head = verify_file(&home.data())
        .await
        .unwrap()
        .expect("the chain holds");
    let calls = calls(&home).await;
    let histories = histories(&home).await;
    let resumed = |id: &str| {
        histories[id]
            .iter()
            .filter(|kind| *kind == "call_resumed")
            .count()
    };
    let resumptions: usize = calls.keys().map(|id| resumed(id)).sum();
    let in_state = |state: &str| calls.values().filter(|call| call.state == state).count();
    let unknown = in_state("outcome_unknown");
    println!(
        "{} kills, {} answers, {} calls: {} succeeded, {} failed, {unknown} of unknown outcome, {resumptions} resumed; {} records",
        ROUNDS.len(),
        answered.len(),
        calls.len(),
        in_state("succeeded"),
        in_state("failed"),
        head.seq,
    );
    assert!(answered.len() >= ROUNDS.iter().sum());

    // What was answered is kept, under the id that was answered.
    for Answered { call, text } in &answered {
        let stored = &calls[call];
        assert_eq!((stored.state.as_str(), &stored.text), ("succeeded", text));
    }
    // Every call has ended, and its records tell the same, once.
    for (id, call) in &calls {
        let end = match call.state.as_str() {
            "succeeded" => "call_succeeded",
            "failed" => "call_failed",
            "outcome_unknown" => "call_outcome_unknown",
            other => panic!("{id} is {other}"),
        };
        // What may be run again was, as often as it was cut off, and nothing else.
        let again = resumed(id);
        let is_idempotent = call.action == "openspine.status.read";
        assert!(again == 0 || is_idempotent, "{id}, {}", call.action);
        assert!(!is_idempotent || end == "call_succeeded", "{id}, {end}");
        let mut wanted = vec!["call_started"];
        wanted.extend(vec!["call_resumed"; again]);
        wanted.push(end);
        assert_eq!(histories[id], wanted, "{id}, {}", call.action);
    }
    assert_eq!(
        histories.keys().collect::<Vec<_>>(),
        calls.keys().collect::<Vec<_>>()
    );
    // More than one call of each client cannot have been cut off by one kill.
    assert!(unknown <= ROUNDS.len() * CLIENTS, "{unknown}");

    // Each message stands once, and belongs to a call that was recorded before.
    let rows = rows(&home, "SELECT body FROM messages").await;
    let messages: BTreeSet<String> = rows.iter().map(|row| row.get("body")).collect();
    assert_eq!(messages.len(), rows.len(), "a message was posted twice");
    let of = |succeeded: bool| {
        let calls = calls
            .values()
            .filter(move |call| !succeeded || call.state == "succeeded");
        calls
            .filter_map(|call| call.text.clone())
            .collect::<BTreeSet<_>>()
    };
    assert!(
        messages.is_subset(&of(false)),
        "a message without a record of its call"
    );
    assert!(
        of(true).is_subset(&messages),
        "a message of a call that succeeded is lost"
    );

    // The tokens of before work on, and the door says of a call what the store says.
    let [stranger, _] = first_tokens.unwrap();
    let of_first = answered
        .iter()
        .find(|answer| answer.text.is_some())
        .unwrap();
    let (status, body) = serving
        .get(&stranger, &format!("/v1/actions/{}", of_first.call))
        .await;
    assert_eq!(
        (status, &body["state"]),
        (200, &json!("succeeded")),
        "{body}"
    );
}

/// A server that takes requests and never answers; it tells of each.
async fn silent_server() -> (String, mpsc::UnboundedReceiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (sender, received) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut kept = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            stream.readable().await.unwrap();
            kept.push(stream);
            if sender.send(()).is_err() {
                return;
            }
        }
    });
    (url, received)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_was_cut_off_is_of_unknown_outcome_and_is_not_run_again() {
    const KILLS: usize = 3;
    let (telegram, mut received) = silent_server().await;
    let home = Home::sample();
    // The same sample, with a Telegram chat in place of the one on the web, whose replies need no
    // approval.
    for file in [
        "actum.yaml",
        "manifests/routes/owner_chat.yaml",
        "manifests/routes/stranger_chat.yaml",
    ] {
        home.edit(file, "webchat", "telegram");
    }
    let bot = format!("telegram: {{ base_url: \"{telegram}\", token_file: bot.token }}\nowner:");
    home.edit("actum.yaml", "\nowner:", &format!("\n{bot}"));
    home.write("bot.token", "123:abc");
    let asks = "approval_required:\n  - \"telegram.reply:owner_channel\"";
    home.edit(
        "manifests/packs/owner_pack.yaml",
        asks,
        "  - \"telegram.reply:owner_channel\"",
    );
    let asks = "approval_required_tools:\n  - \"telegram.reply:owner_channel\"";
    let allowed = "  - \"telegram.reply:owner_channel\"\napproval_required_tools:";
    home.edit("manifests/agents/house_assistant.yaml", asks, allowed);

    let mut token = None;
    for _ in 0..KILLS {
        let serving = Arc::new(home.serve().await);
        if token.is_none() {
            token = Some(tokens(&home, &serving).await[1].clone());
        }
        let (worker, token) = (Arc::clone(&serving), token.clone().unwrap());
        let call = json!({"action": "telegram.reply:owner_channel", "arguments": {"text": "Hi"}});
        let waiting = tokio::spawn(async move { worker.call(&token, &call).await });
        let effect = tokio::time::timeout(Duration::from_secs(60), received.recv()).await;
        effect.expect("the message goes out").unwrap();
        serving.signal_kill();
        assert!(waiting.await.unwrap().is_err(), "nobody answers any more");
        Arc::into_inner(serving).unwrap().gone().await;
        assert_eq!(
            calls(&home)
                .await
                .values()
                .filter(|call| call.state == "running")
                .count(),
            1
        );
    }

    let serving = home.serve().await;
    verify_file(&home.data())
        .await
        .unwrap()
        .expect("the chain holds");
    let (calls, histories) = (calls(&home).await, histories(&home).await);
    assert_eq!(calls.len(), KILLS);
    for id in calls.keys() {
        let (status, body) = serving
            .get(token.as_ref().unwrap(), &format!("/v1/actions/{id}"))
            .await;
        assert_eq!(
            (status, &body["state"]),
            (200, &json!("outcome_unknown")),
            "{body}"
        );
        assert_eq!(histories[id], ["call_started", "call_outcome_unknown"]);
    }
    assert!(received.try_recv().is_err(), "a restart repeats nothing");

    // A person looks, and says what became of them.
    let config = home.client_config(&serving);
    let recover = async |more: &[&str]| {
        home.actum(&[&["recover", "--config", &config], more].concat())
            .await
    };
    let listed = recover(&[]).await;
    for id in calls.keys() {
        assert!(listed.out.contains(id), "{listed:?}");
    }
    for told in [
        "telegram.reply:owner_channel",
        "\"text\":\"Hi\"",
        "unknown because: interrupted",
    ] {
        assert_eq!(
            listed.out.matches(told).count(),
            KILLS,
            "{told}: {listed:?}"
        );
    }
    let ids: Vec<&str> = calls.keys().map(String::as_str).collect();
    for incomplete in [
        &[ids[0]][..],
        &[ids[0], "--succeeded"],
        &["--failed", "--reason", "so"],
    ] {
        assert_ne!(recover(incomplete).await.code, 0, "{incomplete:?}");
    }
    let settled = recover(&[ids[0], "--succeeded", "--reason", "It is in the chat."]).await;
    assert_eq!(
        (settled.code, settled.out.as_str()),
        (0, "settled: the call is now `succeeded`\n")
    );
    let failed = recover(&[ids[1], "--failed", "--reason", "It is not there."]).await;
    assert_eq!(failed.code, 0, "{failed:?}");
    let again = recover(&[ids[0], "--failed", "--reason", "Or is it?"]).await;
    assert!(
        again.code != 0 && again.err.contains("`succeeded`"),
        "{again:?}"
    );
    let left = recover(&[]).await.out;
    assert!(left.contains(ids[2]) && !left.contains(ids[0]), "{left}");
    let path = format!("/v1/actions/{}", ids[1]);
    let (_, told) = serving.get(token.as_ref().unwrap(), &path).await;
    let wanted = (&json!("failed"), &json!("It is not there."));
    assert_eq!((&told["state"], &told["reason"]), wanted);
    assert!(received.try_recv().is_err(), "nothing is sent by it");
}

/// A worker can go away at any moment: its call has not begun then, or it runs to its end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_hangs_up_leaves_no_call_half_done() {
    const STEPS: usize = 120;
    let home = Home::sample();
    let serving = home.serve().await;
    let token = serving.task(&home, "public_chat", "stranger").await;
    let address = serving.url.strip_prefix("http://").unwrap();
    let begin = async |text: &str| {
        let arguments = json!({"text": text});
        let call = json!({"action": "terminal.reply:owner_device", "arguments": arguments});
        let call = call.to_string();
        let head = format!(
            "POST /v1/actions HTTP/1.1\r\nhost: actum\r\nauthorization: Bearer {token}\r\ncontent-length: {}\r\n\r\n",
            call.len()
        );
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all((head + &call).as_bytes()).await.unwrap();
        stream
    };
    // How long a whole call takes tells when to hang up.
    let mut whole = 0usize;
    let waiting = begin("patient").await;
    tokio::select! {
        biased;
        ready = waiting.readable() => ready.unwrap(),
        () = async { loop { whole += 1; tokio::task::yield_now().await } } => {}
    }
    for step in 0..STEPS {
        let stream = begin(&format!("impatient {step}")).await;
        for _ in 0..whole * step / STEPS {
            tokio::task::yield_now().await;
        }
        drop(stream);
    }
    assert_eq!(serving.terminate().await, 0);

    verify_file(&home.data())
        .await
        .unwrap()
        .expect("the chain holds");
    let (calls, histories) = (calls(&home).await, histories(&home).await);
    println!("{STEPS} hang-ups, {} calls", calls.len());
    for (id, call) in &calls {
        assert_eq!(call.state, "succeeded", "{:?}", call.text);
        assert_eq!(histories[id], ["call_started", "call_succeeded"]);
    }
    assert_eq!(
        rows(&home, "SELECT seq FROM messages").await.len(),
        calls.len()
    );
}
