//! The registry over real annotated handlers: what each descriptor says, what keeps a start from
//! happening, and the one way from a permit to a handler.
// Test code outside of `#[test]` functions, which clippy takes for production code.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use actum::__private as hidden;
use actum::action::{ActionErrorKind, Declaration, HandlerContext, ReplyTo};
use actum::gate::{Evidence, Origin, Permit, Request, SelectionToken, Verdict, gate};
use actum::grant::{SealKey, SealedGrant, TaskGrant, VerifiedGrant};
use actum::registry::RegistryFaults;
use actum::schema::ArgumentFault;
use actum::{Action, ActionError, Call, Registry, Resources, Selection, action};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

// ---- the handlers ----

/// What the host gives to some of them.
#[derive(Default)]
struct Mailbox {
    sent: Mutex<Vec<String>>,
    runs: AtomicUsize,
}

mod elsewhere {
    pub(super) use super::Mailbox as Box;
    pub use actum::{Call as Request, Selection as Chosen};

    /// Registered by nobody.
    pub struct Printer;
}

type Letters = elsewhere::Box;

#[derive(Deserialize, JsonSchema)]
struct Letter {
    /// Whom to write to.
    to: String,
    /// How often, 1 to 3 times.
    #[schemars(range(min = 1, max = 3))]
    times: u8,
}

#[derive(Serialize, JsonSchema)]
struct Receipt {
    /// How many letters went out.
    sent: usize,
}

type Sent = Result<Receipt, ActionError>;
type Ask = Letter;

/// Writes a letter.
#[action(
    id = "post.send:owner",
    description = "Send a letter to the owner.",
    title = "Send a letter",
    approval_required,
    idempotency_key_required,
    non_delegable,
    egress(channels = ["owner", "archive"], class = "mail"),
    destructive,
    idempotent,
    open_world,
)]
async fn send(mailbox: &Mailbox, ask: Ask) -> Sent {
    let mut sent = mailbox
        .sent
        .lock()
        .map_err(|_| ActionError::failed("poisoned"))?;
    for _ in 0..ask.times {
        sent.push(ask.to.clone());
    }
    Ok(Receipt { sent: sent.len() })
}

#[action(id = "post.ping", description = "Do nothing.")]
fn ping() -> Result<(), ActionError> {
    Ok(())
}

#[derive(Deserialize, JsonSchema)]
struct Count {
    step: usize,
}

#[action(id = "post.count", description = "Count the runs.", read_only)]
async fn count(ask: Count, mailbox: &Letters) -> Result<usize, ActionError> {
    Ok(mailbox.runs.fetch_add(ask.step, Ordering::SeqCst) + ask.step)
}

#[action(
    id = "post.told",
    description = "Say what the handler was given.",
    selection_token = "letter_selection"
)]
async fn told(
    thread: &elsewhere::Chosen,
    mailbox: &elsewhere::Box,
    call: &elsewhere::Request,
    again: &Mailbox,
) -> Result<Vec<String>, ActionError> {
    assert!(std::ptr::eq(mailbox, again));
    Ok(vec![
        thread.target.clone(),
        call.action.to_string(),
        call.principal.clone(),
    ])
}

#[action(id = "post.lose", description = "Fail.")]
async fn lose() -> Result<(), std::num::ParseIntError> {
    "none".parse::<u8>().map(drop)
}

/// What is taken from nobody here stays a fault of the resources alone.
#[action(id = "post.print", description = "Print.")]
async fn print(_: &elsewhere::Printer, _: &Mailbox, _: &Call) -> Result<(), ActionError> {
    Ok(())
}

actum::known!("post.burn");
actum::kernel_origin!("post.notify");
actum::kernel_origin!("post.ping");

// ---- what is needed to call them ----

fn linked() -> Registry {
    Registry::linked().unwrap()
}

fn actions(registry: &Registry) -> Vec<&'static Action> {
    registry.actions().map(|(_, action)| action).collect()
}

fn linked_action(id: &str) -> &'static Action {
    let registry = linked();
    actions(&registry)
        .into_iter()
        .find(|action| action.id() == id)
        .unwrap()
}

fn made(action: Action) -> &'static Action {
    Box::leak(Box::new(action))
}

fn declared(id: &'static str, kind: hidden::DeclarationKind) -> &'static Declaration {
    let at = place(90);
    Box::leak(Box::new(Declaration { id, kind, at }))
}

fn place(line: u32) -> hidden::Place {
    hidden::Place {
        file: "post.rs",
        line,
        column: 1,
        module: "post",
    }
}

fn told_faults(faults: &RegistryFaults) -> Vec<(&str, u32, &str)> {
    faults
        .all()
        .iter()
        .map(|fault| (fault.id.as_str(), fault.at.line, fault.problem.as_str()))
        .collect()
}

/// A grant of everything in the registry, with one selection token.
fn grant(registry: &Registry) -> VerifiedGrant {
    let ids: Vec<_> = registry.actions().map(|(id, _)| id.as_str()).collect();
    let nothing = format!("sha256:{}", "0".repeat(64));
    let grant: TaskGrant = serde_json::from_value(json!({
        "id": "00000000000000000000000001",
        "task_id": "00000000000000000000000002",
        "event_id": "00000000000000000000000003",
        "principal": {"kind": "known", "id": "ada"},
        "purpose": "Test.",
        "allowed_actions": ids,
        "approval_required_actions": [],
        "denied_actions": [],
        "allowed_egress_classes": ["mail"],
        "output_channels": ["owner", "archive"],
        "selection_tokens": {"00000000000000000000000004": "letter_selection"},
        "limits": {"max_model_calls": 1, "max_artifacts": 1, "max_runtime_seconds": 60},
        "mode": "live",
        "reply_to": null,
        "issued_at": "2024-01-01T00:00:00Z",
        "expires_at": "2024-01-01T00:01:00Z",
        "authority_sources": [],
        "policy_revision": nothing,
        "catalog_digest": nothing,
    }))
    .unwrap();
    let key = SealKey::new([7; 32]);
    SealedGrant::seal(grant, &key)
        .unwrap()
        .verify(&key)
        .unwrap()
}

fn permit(registry: &Registry, id: &str, arguments: &Value) -> Permit {
    let grant = grant(registry);
    let root = grant.root();
    let token = *root.selection_tokens.keys().next().unwrap();
    let request = Arc::new(Request {
        action: id.to_owned(),
        arguments: arguments.as_object().unwrap().clone(),
        payload_digest: None,
        target_digest: None,
        selection_token: Some(token),
        origin: Origin::Worker,
    });
    let stored = SelectionToken {
        id: token,
        token_type: "letter_selection".to_owned(),
        expires_at: root.expires_at,
    };
    let evidence = Evidence {
        selection_token: Some(&stored),
        ..Evidence::default()
    };
    match gate(
        &grant,
        &request,
        &registry.catalog(),
        evidence,
        root.issued_at,
    ) {
        Verdict::Allow(permit) => permit,
        refused => panic!("{id}: {refused:?}"),
    }
}

fn context(registry: &Registry, permit: &Permit, resources: &Arc<Resources>) -> HandlerContext {
    let grant = grant(registry);
    let root = grant.root();
    HandlerContext {
        caller: actum::Caller::nobody(),
        call: Call {
            request_id: root.id,
            task_id: root.task_id,
            action: permit.action().clone(),
            principal: root.principal.to_string(),
            reply_to: Some(ReplyTo {
                source: "test".to_owned(),
                account: "1".to_owned(),
            }),
            approved: false,
            revision: root.policy_revision,
            at: root.issued_at,
            deadline: root.expires_at,
        },
        selection: Some(Selection {
            token_type: "letter_selection".to_owned(),
            target: "letter-9".to_owned(),
        }),
        resources: Arc::clone(resources),
    }
}

/// The whole way: gate, admit, run.
fn dispatch(
    id: &str,
    arguments: &Value,
    resources: &Arc<Resources>,
) -> Result<Result<Value, ActionError>, Vec<ArgumentFault>> {
    let registry = linked();
    let permit = permit(&registry, id, arguments);
    let context = context(&registry, &permit, resources);
    let ended = wait(registry.admit(permit)?.run(context));
    Ok(ended.map(|result| result.deliver().value))
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    match future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a handler of this file waits for something"),
    }
}

fn with_a_mailbox() -> Arc<Resources> {
    Arc::new(Resources::new().with(Mailbox::default()))
}

// ---- descriptors ----

#[test]
fn a_descriptor_says_what_the_annotation_and_the_types_say() {
    let catalog = linked().catalog();
    let told = serde_json::to_value(catalog.tool_descriptor_for("post.send:owner")).unwrap();
    assert_eq!(
        told,
        json!({
            "name": "post-send--owner",
            "description": "Send a letter to the owner.",
            "title": "Send a letter",
            "parameters_schema": {
                "type": "object",
                "properties": {
                    "to": {"type": "string", "description": "Whom to write to."},
                    "times": {
                        "type": "integer", "minimum": 1, "maximum": 3,
                        "description": "How often, 1 to 3 times."
                    }
                },
                "required": ["to", "times"],
                "additionalProperties": false
            },
            "output_schema": {
                "type": "object",
                "properties": {
                    "sent": {
                        "type": "integer", "minimum": 0,
                        "description": "How many letters went out."
                    }
                },
                "required": ["sent"]
            },
            "approval_required": true,
            "selection_token_required": false,
            "idempotency_key_required": true,
            "hints": {"destructive": true, "idempotent": true, "open_world": true}
        })
    );
}

#[test]
fn a_descriptor_without_extras_is_five_fields() {
    let catalog = linked().catalog();
    let told = serde_json::to_value(catalog.tool_descriptor_for("post.ping")).unwrap();
    assert_eq!(
        told,
        json!({
            "name": "post-ping",
            "description": "Do nothing.",
            "parameters_schema": {
                "type": "object", "properties": {}, "additionalProperties": false
            },
            "approval_required": false,
            "selection_token_required": false
        })
    );
}

#[test]
fn what_the_model_is_not_told_is_in_the_catalog() {
    let catalog = linked().catalog();
    let egress = |id| serde_json::to_value(catalog.egress_declaration_for(id)).unwrap();
    assert_eq!(
        egress("post.send:owner"),
        json!({"egress_class": "mail", "output_channels": ["archive", "owner"]})
    );
    assert_eq!(
        egress("post.ping"),
        json!({"egress_class": null, "output_channels": null})
    );
    assert!(catalog.is_non_delegable("post.send:owner") && !catalog.is_non_delegable("post.ping"));
    assert_eq!(
        catalog.selection_token_type_for("post.told"),
        Some("letter_selection")
    );
    assert_eq!(catalog.selection_token_type_for("post.ping"), None);
    let selected = catalog.tool_descriptor_for("post.told").unwrap();
    assert!(selected.selection_token_required);
    let counting = catalog.tool_descriptor_for("post.count").unwrap();
    assert_eq!(
        serde_json::to_value(counting.hints).unwrap(),
        json!({"read_only": true})
    );
    assert_eq!(catalog.faults(), []);
}

#[test]
fn declared_ids_are_known_and_only_handlers_make_them_dispatchable() {
    let catalog = linked().catalog();
    for id in ["post.burn", "post.notify"] {
        assert!(catalog.is_known(id) && !catalog.is_dispatchable(id), "{id}");
        assert!(catalog.tool_descriptor_for(id).is_none(), "{id}");
    }
    assert!(catalog.is_dispatchable("post.ping") && catalog.is_kernel_origin("post.ping"));
    assert!(catalog.is_kernel_origin("post.notify") && !catalog.is_kernel_origin("post.burn"));
    assert!(!catalog.is_known("post.se"));
}

#[test]
fn an_action_knows_where_its_annotation_stands() {
    let place = linked_action("post.ping").place();
    let source = include_str!("registry.rs");
    let line = source.lines().nth(place.line as usize - 1).unwrap();
    assert!(line.contains("#[action(id = \"post.ping\""), "{line}");
    assert!(place.file.ends_with("registry.rs"), "{place}");
    assert_eq!(place.module, module_path!());
}

#[test]
fn a_handler_stays_an_ordinary_function() {
    let mailbox = Mailbox::default();
    let letter = Letter {
        to: "ada".to_owned(),
        times: 2,
    };
    assert!(matches!(
        wait(send(&mailbox, letter)),
        Ok(Receipt { sent: 2 })
    ));
    assert!(ping().is_ok());
}

// ---- the start ----

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
enum Colour {
    Red,
    Green,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Names(Vec<String>);

/// Six actions and two declarations with one fault each, at lines of their own.
fn faulty() -> (Vec<&'static Action>, Vec<&'static Declaration>) {
    let ping = *linked_action("post.ping");
    let told = *linked_action("post.told");
    let variant = |id, line| Action {
        id,
        at: place(line),
        ..ping
    };
    let actions = vec![
        made(variant("a.twice", 10)),
        made(variant("a.twice", 20)),
        made(Action {
            parameters: hidden::parameters::<Colour>,
            ..variant("b.enum", 30)
        }),
        made(Action {
            parameters: hidden::parameters::<Names>,
            ..variant("c.list", 40)
        }),
        made(Action {
            id: "d.selected",
            at: place(50),
            selection_token: None,
            ..told
        }),
        made(variant("e.known", 60)),
        made(variant("Not An Id", 70)),
        made(variant("z.sound", 80)),
    ];
    use hidden::DeclarationKind::{KernelOrigin, Known};
    let declarations = vec![
        declared("e.known", Known),
        declared("f:g:h", KernelOrigin),
        declared("z.sound", KernelOrigin),
    ];
    (actions, declarations)
}

#[test]
fn every_fault_of_a_start_is_told_at_once() {
    let (actions, declarations) = faulty();
    let faults = Registry::new(actions, declarations).unwrap_err();
    let object = "put the value into a field of a struct";
    let told = told_faults(&faults);
    let (expected, found): (Vec<_>, Vec<_>) = [
        ("Not An Id", 70, "dotted lower-case segments"),
        ("a.twice", 10, "declared again at post.rs:20"),
        ("b.enum", 30, object),
        ("c.list", 40, object),
        ("d.selected", 50, "`selection_token = \"...\"`"),
        ("e.known", 60, "declared again at post.rs:90"),
        ("f:g:h", 90, "dotted lower-case segments"),
    ]
    .into_iter()
    .zip(&told)
    .map(|((id, line, words), found)| {
        assert!(found.2.contains(words), "{id}: {}", found.2);
        ((id, line), (found.0, found.1))
    })
    .unzip();
    assert_eq!(found, expected);
    assert_eq!(told.len(), expected.len(), "{told:#?}");

    let message = faults.to_string();
    assert!(
        message.starts_with("7 faults in the linked actions:\n"),
        "{message}"
    );
    assert!(
        message.contains("\n  post.rs:30: `b.enum`: its payload is"),
        "{message}"
    );
}

#[test]
fn the_same_items_give_the_same_registry_in_any_order() {
    let registry = linked();
    let mut actions = actions(&registry);
    let declarations = [
        declared("x.one", hidden::DeclarationKind::Known),
        declared("x.two", hidden::DeclarationKind::KernelOrigin),
    ];
    let bytes = |actions: &[&'static Action], declarations: &[&'static Declaration]| {
        Registry::new(actions.to_vec(), declarations.to_vec())
            .unwrap()
            .catalog()
            .to_canonical_json()
            .unwrap()
    };
    let first = bytes(&actions, &declarations);
    let mut turned = declarations;
    turned.reverse();
    for _ in 0..actions.len() {
        actions.rotate_left(1);
        assert_eq!(bytes(&actions, &turned), first);
    }
    actions.reverse();
    assert_eq!(bytes(&actions, &declarations), first);

    let (mut actions, mut declarations) = faulty();
    let first = Registry::new(actions.clone(), declarations.clone()).unwrap_err();
    actions.reverse();
    declarations.reverse();
    assert_eq!(Registry::new(actions, declarations).unwrap_err(), first);
}

#[test]
fn one_item_seen_twice_is_one_item() {
    let registry = linked();
    let once = actions(&registry);
    let known = [declared("x.one", hidden::DeclarationKind::Known)];
    let twice = Registry::new(
        once.iter().chain(&once).copied(),
        known.iter().chain(&known).copied(),
    )
    .unwrap();
    assert_eq!(twice.actions().count(), once.len());
    assert_eq!(
        twice.catalog().digest().unwrap(),
        Registry::new(once, known)
            .unwrap()
            .catalog()
            .digest()
            .unwrap()
    );
}

#[test]
fn a_copy_of_an_action_at_another_place_is_a_second_one() {
    let ping = linked_action("post.ping");
    let copy = made(Action {
        at: place(1),
        ..*ping
    });
    let faults = Registry::new([ping, copy], []).unwrap_err();
    let (told, at) = (faults.to_string(), ping.place().to_string());
    assert!(told.contains("post.rs:1") && told.contains(&at), "{told}");
}

#[test]
fn resources_that_nobody_registered_are_told_by_action_and_type() {
    let registry = linked();
    let all = Resources::new()
        .with(Mailbox::default())
        .with(elsewhere::Printer);
    assert_eq!(registry.check_resources(&all), Ok(()));

    let faults = registry
        .check_resources(&Resources::new().with(elsewhere::Printer))
        .unwrap_err();
    let ids: Vec<_> = faults.all().iter().map(|fault| fault.id.as_str()).collect();
    // Once for each parameter, and never for what the call itself brings.
    assert_eq!(
        ids,
        [
            "post.count",
            "post.print",
            "post.send:owner",
            "post.told",
            "post.told"
        ]
    );
    for fault in faults.all() {
        assert!(fault.problem.contains("`&registry::Mailbox`"), "{fault:?}");
        assert_eq!(fault.at, linked_action(&fault.id).place());
    }

    let faults = registry
        .check_resources(&Resources::new().with(Mailbox::default()))
        .unwrap_err();
    let told = told_faults(&faults);
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].0, "post.print");
    assert!(
        told[0].2.contains("`&registry::elsewhere::Printer`"),
        "{}",
        told[0].2
    );
    assert!(told[0].2.contains(".resource(...)"), "{}", told[0].2);
}

// ---- the way to a handler ----

#[test]
fn host_parameters_are_found_by_their_type_under_whatever_name() {
    let resources = with_a_mailbox();
    let result = dispatch("post.told", &json!({}), &resources)
        .unwrap()
        .unwrap();
    assert_eq!(result, json!(["letter-9", "post.told", "known:ada"]));
    // `&Letters` and `&Mailbox` are one resource.
    for expected in [2, 4] {
        let result = dispatch("post.count", &json!({"step": 2}), &resources).unwrap();
        assert_eq!(result.unwrap(), json!(expected));
    }
    let mailbox: &Mailbox = resources.get().unwrap();
    assert_eq!(mailbox.runs.load(Ordering::SeqCst), 4);
}

#[test]
fn a_result_without_a_value_is_null() {
    let result = dispatch("post.ping", &json!({}), &with_a_mailbox()).unwrap();
    assert_eq!(result.unwrap(), Value::Null);
}

#[test]
fn nothing_runs_before_the_future_is_polled() {
    let registry = linked();
    let resources = with_a_mailbox();
    let permit = permit(&registry, "post.count", &json!({"step": 1}));
    let context = context(&registry, &permit, &resources);
    let admitted = registry.admit(permit).unwrap();
    assert!(admitted.is_read_only());
    let future = admitted.run(context);
    let mailbox: &Mailbox = resources.get().unwrap();
    assert_eq!(mailbox.runs.load(Ordering::SeqCst), 0);
    assert_eq!(*wait(future).unwrap().redacted(), json!(1));
}

#[test]
fn an_admitted_call_prints_no_argument() {
    let registry = linked();
    let permit = permit(&registry, "post.count", &json!({"step": 42}));
    let printed = format!("{:?}", registry.admit(permit).unwrap());
    assert!(
        printed.contains("post.count") && !printed.contains("42"),
        "{printed}"
    );
}

#[test]
fn arguments_that_do_not_fit_are_told_all_at_once_and_run_nothing() {
    let resources = with_a_mailbox();
    let arguments = json!({"step": "s3cret", "colour": "s3cret"});
    let faults = dispatch("post.count", &arguments, &resources).unwrap_err();
    let told: BTreeMap<_, _> = faults
        .iter()
        .map(|fault| (fault.at.as_str(), fault.problem.as_str()))
        .collect();
    assert_eq!(told.len(), 2, "{faults:?}");
    assert_eq!(told[""], "unknown argument `colour`");
    assert!(told["/step"].contains("found a string"), "{faults:?}");
    assert!(!format!("{faults:?}").contains("s3cret"));

    let missing = dispatch("post.count", &json!({}), &resources).unwrap_err();
    assert_eq!(missing[0].problem, "missing argument `step`");
    let unasked = dispatch("post.ping", &json!({"loud": true}), &resources).unwrap_err();
    assert_eq!(unasked[0].problem, "unknown argument `loud`");

    let mailbox: &Mailbox = resources.get().unwrap();
    assert_eq!(mailbox.runs.load(Ordering::SeqCst), 0);
}

#[test]
fn what_nothing_dispatches_takes_no_arguments() {
    let registry = linked();
    for id in ["post.burn", "post.notify", "post.unheard_of"] {
        let faults = registry.check_arguments(id, &json!({})).unwrap_err();
        assert_eq!(faults[0].problem, "nothing dispatches this action", "{id}");
    }
}

#[test]
fn a_permit_for_what_is_known_elsewhere_is_not_admitted() {
    let permit = permit(&linked(), "post.ping", &json!({}));
    let other = Registry::new([linked_action("post.count")], []).unwrap();
    assert!(other.admit(permit).is_err());
}

#[test]
fn a_handlers_own_error_is_a_failure_with_its_text() {
    let error = dispatch("post.lose", &json!({}), &with_a_mailbox())
        .unwrap()
        .unwrap_err();
    assert_eq!(error.kind(), ActionErrorKind::Failed);
    assert_eq!(error.message(), "invalid digit found in string");
}

#[test]
fn a_handler_without_its_selection_fails_and_does_not_run() {
    let registry = linked();
    let permit = permit(&registry, "post.told", &json!({}));
    let context = HandlerContext {
        selection: None,
        ..context(&registry, &permit, &with_a_mailbox())
    };
    let error = wait(registry.admit(permit).unwrap().run(context)).unwrap_err();
    assert!(error.message().contains("Selection"), "{error:?}");
}

// ---- packs, and registration by hand ----

/// A pack of this very crate; the names of crates are what `module_path!` begins with.
fn pack(name: &'static str, promises: &'static [&'static str]) -> &'static Declaration {
    declared(name, hidden::DeclarationKind::Pack { promises })
}

#[test]
fn a_pack_holds_when_its_actions_are_there() {
    let all = actions(&linked());
    let packs = [
        pack("registry", &[]),
        pack("any_name", &["post.ping", "post.count"]),
    ];
    let registry = Registry::new(all.clone(), packs).unwrap();
    let without = Registry::new(all, []).unwrap();
    let bytes = |registry: &Registry| registry.catalog().to_canonical_json().unwrap();
    assert_eq!(
        bytes(&registry),
        bytes(&without),
        "a pack changes no catalog"
    );
}

#[test]
fn a_pack_without_its_actions_stops_the_start_by_name() {
    let packs = [
        pack("dropped_actions", &[]),
        pack("registry", &["post.ping", "post.gone", "post.lost"]),
    ];
    let faults = Registry::new(actions(&linked()), packs).unwrap_err();
    let told: Vec<_> = faults
        .all()
        .iter()
        .map(|fault| (fault.id.as_str(), fault.problem.as_str()))
        .collect();
    assert_eq!(told.len(), 3, "{told:?}");
    assert_eq!(told[0].0, "dropped_actions");
    assert!(told[0].1.contains("no action in this binary"), "{told:?}");
    assert!(
        told[1].1.contains("`post.gone`") && told[2].1.contains("`post.lost`"),
        "{told:?}"
    );
    for fault in faults.all() {
        assert_eq!(fault.at, place(90));
    }
}

/// Handlers for registration by hand, which are linked as well.
mod by_hand {
    use super::{ActionError, action};

    pub mod deeper {
        use super::{ActionError, action};

        #[action(id = "hand.type", description = "A raw identifier.")]
        pub async fn r#type() -> Result<(), ActionError> {
            Ok(())
        }
    }

    #[action(id = "hand.plain", description = "Plain.")]
    pub(super) async fn plain() -> Result<u8, ActionError> {
        Ok(1)
    }
}

#[test]
fn registration_by_hand_gives_the_same_registry() {
    let by_hand = Registry::new(
        actum::actions![by_hand::deeper::r#type, by_hand::plain,],
        [],
    );
    let linked = linked();
    let wanted = linked
        .actions()
        .map(|(_, action)| action)
        .filter(|action| action.id().starts_with("hand."));
    let by_inventory = Registry::new(wanted, []).unwrap();
    let bytes = |registry: &Registry| registry.catalog().to_canonical_json().unwrap();
    let by_hand = by_hand.unwrap();
    assert_eq!(by_hand.actions().count(), 2);
    assert_eq!(bytes(&by_hand), bytes(&by_inventory));
    // What was named by hand and what was linked is one item.
    let both = actions(&linked)
        .into_iter()
        .chain(actum::actions![by_hand::plain]);
    assert_eq!(
        Registry::new(both, []).unwrap().actions().count(),
        linked.actions().count()
    );
}

actum::testing::check_actions!();
