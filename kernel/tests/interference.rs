//! What a worker can observe follows from its grant alone: a kernel that has the granted actions and no
//! others, and one that has thousands more, denied and ungranted ones among them, answer a worker with
//! the very same bytes, by every door.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)] // a test says where it fails

mod support;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

use actum::provider::Provider;
use actum::{Action, ActionError, Registry, ToolName, action};
use actum_kernel::Ids;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use ulid::Ulid;

use support::answer::Answer;
use support::client::Task;
use support::home::{Authority, Home};
use support::kernel::Here;

/// What the models of these tests fill in.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Words {
    /// Some text.
    #[schemars(length(max = 40))]
    text: String,
    /// How often.
    #[serde(default)]
    times: Option<u8>,
}

#[action(id = "kind.echo", description = "Say it again.")]
async fn echo(words: Words) -> Result<Words, ActionError> {
    Ok(words)
}

#[action(id = "kind.silent", description = "Do nothing.", read_only)]
async fn silent() -> Result<(), ActionError> {
    Ok(())
}

#[action(id = "kind.failing", description = "Fail.")]
async fn failing() -> Result<u8, ActionError> {
    Err(ActionError::failed("as it always does"))
}

#[action(id = "kind.asking", description = "Ask.", approval_required)]
async fn asking(words: Words) -> Result<Words, ActionError> {
    Ok(words)
}

#[action(
    id = "kind.channelled",
    description = "Write to the board.",
    egress(channels = ["board"])
)]
async fn channelled(words: Words) -> Result<Words, ActionError> {
    Ok(words)
}

#[action(
    id = "kind.selecting",
    description = "Read what was selected.",
    selection_token = "thing_selection"
)]
async fn selecting() -> Result<u8, ActionError> {
    Ok(1)
}

#[action(
    id = "kind.always",
    description = "Be there.",
    class = always,
    modes("standard")
)]
async fn always() -> Result<u8, ActionError> {
    Ok(2)
}

#[action(
    id = "kind.optional",
    description = "Be there for some.",
    class = optional,
    requires("held"),
    roles("clerk"),
    modes("standard")
)]
async fn optional(words: Words) -> Result<Words, ActionError> {
    Ok(words)
}

/// What only the larger kernel has: as many reasons for being absent as there are.
mod never_granted {
    use actum::{ActionError, action};

    #[action(id = "kind.unclaimed", description = "x", class = optional, requires("not.held"))]
    pub async fn unclaimed() -> Result<u8, ActionError> {
        Ok(3)
    }

    #[action(id = "kind.other_mode", description = "x", class = always, modes("test"))]
    pub async fn other_mode() -> Result<u8, ActionError> {
        Ok(4)
    }

    #[action(
        id = "kind.other_role", description = "x",
        class = optional, requires("held"), roles("board")
    )]
    pub async fn other_role() -> Result<u8, ActionError> {
        Ok(5)
    }

    #[action(id = "kind.owned", description = "x", class = control_plane)]
    pub async fn owned() -> Result<u8, ActionError> {
        Ok(6)
    }
}

fn granted_kinds() -> [Action; 8] {
    actum::actions![
        echo, silent, failing, asking, channelled, selecting, always, optional
    ]
    .map(|action| *action)
}

fn further_kinds() -> Vec<Action> {
    let absent = actum::actions![
        never_granted::unclaimed,
        never_granted::other_mode,
        never_granted::other_role,
        never_granted::owned
    ];
    // Those of the first three need no claims, so that only a list could grant them.
    let unlisted = granted_kinds().into_iter().take(6);
    absent
        .map(|action| *action)
        .into_iter()
        .chain(unlisted)
        .collect()
}

/// One setup: which actions are granted, how many more there are, and what manifests say of those.
#[derive(Debug, Clone)]
struct Setup {
    granted: Vec<(String, usize)>,
    asking: Vec<bool>,
    more: usize,
    seed: u64,
    channel: bool,
}

impl Setup {
    fn strategy() -> impl Strategy<Value = Self> {
        let name = "[a-z]{1,3}(\\.[a-z]{1,4}){0,2}(:[a-z]{1,3})?";
        let granted = prop::collection::btree_map(name, 0..granted_kinds().len(), 1..8);
        let more = select(vec![1usize, 40, 2_500]);
        (
            granted,
            prop::collection::vec(any::<bool>(), 8),
            more,
            any::<u64>(),
            any::<bool>(),
        )
            .prop_map(|(granted, asking, more, seed, channel)| Self {
                // A mode that no action is for would be a fault of the manifests.
                granted: [("for.a.mode".to_owned(), 6)]
                    .into_iter()
                    .chain(granted)
                    .collect(),
                asking,
                more,
                seed,
                channel,
            })
    }

    fn small(&self) -> Vec<&'static Action> {
        let kinds = granted_kinds();
        let made = self
            .granted
            .iter()
            .map(|(id, kind)| named(kinds[*kind], id, "Granted."));
        made.collect()
    }

    /// The further actions: their ids stand before, between and after the granted ones.
    fn further(&self) -> Vec<&'static Action> {
        let kinds = further_kinds();
        let taken: BTreeSet<&str> = self.granted.iter().map(|(id, _)| id.as_str()).collect();
        let made = (0..self.more).filter_map(|index| {
            let first = char::from(b'a' + u8::try_from((self.seed as usize + index) % 26).unwrap());
            let id = format!("{first}x{index}.further");
            let kind = kinds[(self.seed as usize + index) % kinds.len()];
            (!taken.contains(id.as_str()))
                .then(|| named(kind, &id, &format!("Further {index}, a protected word.")))
        });
        made.collect()
    }

    /// The manifests that grant; `denied` is listed as well where the kernel knows of more.
    fn home(&self, denied: &[&str], asked_elsewhere: &[&str]) -> Home {
        let listed = |of: bool| -> Vec<&str> {
            let all = self.granted.iter().zip(&self.asking);
            // What claims offer is listed nowhere.
            let all = all.filter(|((_, kind), asks)| **asks == of && *kind < 6);
            all.map(|((id, _), _)| id.as_str()).collect()
        };
        let (allowed, approval) = (listed(false), listed(true));
        let channels: &[&str] = if self.channel { &["board"] } else { &[] };
        let work = Authority {
            name: "work",
            allowed: &allowed,
            approval: &approval,
            denied,
            channels,
            ..Authority::default()
        };
        let other = Authority {
            name: "other",
            allowed: asked_elsewhere,
            ..Authority::default()
        };
        let claims = if self.granted.iter().any(|(_, kind)| *kind == 7) {
            "[held]"
        } else {
            "[]"
        };
        Home::office(&[work, other], claims)
    }
}

/// A copy of an action under another id and description.
fn named(kind: Action, id: &str, description: &str) -> &'static Action {
    let line = LINE.fetch_add(1, Ordering::Relaxed) as u32;
    let at = actum::action::Place {
        line,
        ..kind.place()
    };
    Box::leak(Box::new(Action {
        id: Box::leak(id.to_owned().into_boxed_str()),
        description: Box::leak(description.to_owned().into_boxed_str()),
        at,
        ..kind
    }))
}

/// Each action stands in a place of its own.
static LINE: AtomicU64 = AtomicU64::new(1);

/// One request of a worker's.
#[derive(Debug, Clone)]
enum Step {
    Task,
    ToolsOf(Provider),
    Query(&'static str),
    /// Of an action, chosen by this number, under a spelling, with arguments.
    Call(usize, Spelling, usize),
    Raw(&'static str),
    /// The same by MCP, by the revision with sessions or without.
    McpCall(usize, Spelling, usize, bool),
    McpTools(bool),
    McpRead(usize),
    /// The state of an earlier call, or of one that never was.
    State(usize),
    Elsewhere(&'static str),
}

#[derive(Debug, Clone, Copy)]
enum Spelling {
    Id,
    ToolName,
    UpperCase,
    Blank,
    Dotted,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let spelling = select(vec![
        Spelling::Id,
        Spelling::ToolName,
        Spelling::UpperCase,
        Spelling::Blank,
        Spelling::Dotted,
    ]);
    let step = prop_oneof![
        1 => Just(Step::Task),
        1 => select(Provider::ALL.to_vec()).prop_map(Step::ToolsOf),
        1 => select(vec!["tools=", "tools=none", "more=1"]).prop_map(Step::Query),
        12 => (any::<usize>(), spelling.clone(), 0..arguments().len())
            .prop_map(|(of, spelling, with)| Step::Call(of, spelling, with)),
        6 => (any::<usize>(), spelling, 0..arguments().len(), any::<bool>())
            .prop_map(|(of, spelling, with, new)| Step::McpCall(of, spelling, with, new)),
        2 => any::<bool>().prop_map(Step::McpTools),
        1 => any::<usize>().prop_map(Step::McpRead),
        1 => select(vec!["", "{", "[]", "{\"action\":1}", "{\"action\":\"kind.echo\",\"more\":1}"])
            .prop_map(Step::Raw),
        2 => any::<usize>().prop_map(Step::State),
        1 => select(vec!["/", "/v1/tasks", "/mcp", "/v1/owner/messages"]).prop_map(Step::Elsewhere),
    ];
    prop::collection::vec(step, 30)
}

fn arguments() -> Vec<Value> {
    vec![
        json!({}),
        json!({"arguments": {}}),
        json!({"arguments": {"text": "hello"}}),
        json!({"arguments": {"text": "hello", "times": 3}}),
        json!({"arguments": {"text": 1}}),
        json!({"arguments": {"text": "hello", "unknown": true}}),
        json!({"arguments": null}),
        json!({"arguments": {"text": "hello"}, "selection_token": "01J0000000000000000000T0KN"}),
        json!({"arguments": {"text": "hello"}, "approved": true}),
    ]
}

/// What a worker may name: the granted ids, further ones, and ids that neither kernel has.
fn nameable(setup: &Setup, further: &[&'static Action]) -> Vec<String> {
    let granted = setup.granted.iter().map(|(id, _)| id.clone());
    let step = (further.len() / 12).max(1);
    let known = further
        .iter()
        .step_by(step)
        .map(|action| action.id().to_owned());
    let unknown = ["nobody.has", "zz", "", "kind.owned", "*", "a.b:c:d"].map(str::to_owned);
    granted.chain(known).chain(unknown).collect()
}

fn spelt(id: &str, spelling: Spelling) -> String {
    match spelling {
        Spelling::Id => id.to_owned(),
        Spelling::ToolName => actum::ActionId::parse(id)
            .map_or_else(|_| id.to_owned(), |id| ToolName::of(&id).to_string()),
        Spelling::UpperCase => id.to_uppercase(),
        Spelling::Blank => format!(" {id} "),
        Spelling::Dotted => format!("{id}."),
    }
}

async fn answers(kernel: &Here, task: &Task, steps: &[Step], names: &[String]) -> Vec<Answer> {
    let token = &task.token;
    let mut calls: Vec<String> = vec![
        "01J0000000000000000000CA11".to_owned(),
        "nonsense".to_owned(),
    ];
    let mut all = Vec::new();
    for step in steps {
        let answer = match step {
            Step::Task => kernel.task(token).await,
            Step::ToolsOf(provider) => {
                kernel
                    .get(&format!("/v1/task?tools={provider}"), Some(token))
                    .await
            }
            Step::Query(query) => kernel.get(&format!("/v1/task?{query}"), Some(token)).await,
            Step::Call(of, spelling, with) => {
                let mut body = arguments()[*with].clone();
                body["action"] = spelt(&names[of % names.len()], *spelling).into();
                kernel.call(token, &body).await
            }
            Step::McpCall(of, spelling, with, new) => {
                let mut params = arguments()[*with].clone();
                params["name"] = spelt(&names[of % names.len()], *spelling).into();
                kernel.mcp(token, &mcp("tools/call", params, *new)).await
            }
            Step::McpTools(new) => kernel.mcp(token, &mcp("tools/list", json!({}), *new)).await,
            Step::McpRead(of) => {
                let uri = format!("actum://calls/{}", calls[of % calls.len()]);
                let read = mcp("resources/read", json!({"uri": uri}), false);
                kernel.mcp(token, &read).await
            }
            Step::Raw(body) => kernel.post("/v1/actions", Some(token), *body).await,
            Step::State(of) => kernel.state(token, &calls[of % calls.len()]).await,
            Step::Elsewhere(path) => kernel.get(path, Some(token)).await,
        };
        if let Ok(Value::String(id)) =
            serde_json::from_slice(&answer.body).map(|body: Value| body["request_id"].clone())
        {
            calls.push(id);
        }
        all.push(answer);
    }
    all
}

fn mcp(method: &str, mut params: Value, new: bool) -> Value {
    if new {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
    }
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

/// A kernel with these actions, whose time stands still and whose ids are numbers.
async fn kernel(actions: Vec<&'static Action>, home: Home) -> (Here, Task) {
    let next = AtomicU64::new(1);
    let ids = Ids::of(move || Ulid(u128::from(next.fetch_add(1, Ordering::SeqCst))));
    let registry = Registry::new(actions, []).unwrap_or_else(|faults| panic!("{faults}"));
    let kernel = Here::start_with(home, |builder| builder.registry(registry).ids(ids)).await;
    let event = json!({
        "event_type": "work", "channel_account": "room", "actor_hint": {"handle": "ada"},
    });
    let task = kernel.begin("desk", &event).await;
    (kernel, task)
}

async fn compare(setup: &Setup, steps: &[Step]) -> Result<usize, TestCaseError> {
    let further = setup.further();
    let names = nameable(setup, &further);
    let listable = |keep: usize| -> Vec<&str> {
        let all = further.iter().enumerate();
        all.filter(|(index, _)| index % 3 == keep)
            .map(|(_, action)| action.id())
            .collect()
    };
    let (small, shown) = kernel(setup.small(), setup.home(&[], &[])).await;
    let all = setup
        .small()
        .into_iter()
        .chain(further.iter().copied())
        .collect();
    let (large, shown_too) = kernel(all, setup.home(&listable(0), &listable(1))).await;
    let one = answers(&small, &shown, steps, &names).await;
    let two = answers(&large, &shown_too, steps, &names).await;
    for ((step, one), two) in steps.iter().zip(&one).zip(&two) {
        prop_assert_eq!(one, two, "{:?}", step);
        prop_assert!(!two.text().contains("protected"), "{:?}", two);
    }
    let ran = one.iter().filter(|answer| answer.status == 200).count();
    small.stopped().await;
    large.stopped().await;
    Ok(ran)
}

#[test]
fn thousands_of_actions_more_change_no_byte_of_what_a_worker_gets() {
    const CASES: u32 = 20;
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut runner = TestRunner::new(Config {
        cases: CASES,
        // Each case starts two kernels; the first that fails says enough.
        max_shrink_iters: 8,
        failure_persistence: None,
        ..Config::default()
    });
    let ran = std::cell::Cell::new(0);
    runner
        .run(&(Setup::strategy(), steps()), |(setup, steps)| {
            let answered = runtime.block_on(compare(&setup, &steps))?;
            ran.set(ran.get() + answered);
            Ok(())
        })
        .unwrap_or_else(|fault| panic!("{fault}"));
    // Equal refusals alone would prove little.
    let (requests, ran) = (CASES * 30, ran.get());
    println!(
        "{CASES} pairs of kernels, {requests} requests to each, {ran} of them answered with 200"
    );
    assert!(ran > 20, "{ran}");
}
