//! Tasks that are stored by hand, under whatever catalog and with whatever records a test wants.

#![allow(dead_code)] // each test file uses its own part of it

use std::collections::{BTreeMap, BTreeSet};

use actum::authority::{Limits, Mandate};
use actum::authorization::Exposures;
use actum::digest::canonical_json;
use actum::grant::{GrantMode, Principal, TaskGrant};
use actum::{
    ActionCatalog, ActionId, Class, Digest, EgressDeclaration, Hints, Requirements, SealedGrant,
    ToolDescriptor, ToolName,
};
use actum_kernel::auth::Keys;
use actum_kernel::ledger::{Entry, Kind};
use actum_kernel::store::{NewTask, SqliteStore, Store};
use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};
use ulid::Ulid;

use crate::process::Home;

/// What a version that is gone said of an action that is there still.
pub const THEN: &str = "Say it on the terminal, as one did then.";
/// An action that is there still, with another description.
pub const REPLY: &str = "terminal.reply:owner_device";
/// An action that is gone, and that required a claim.
pub const FILE: &str = "mail.file";
/// An action that is gone, and that required a claim that nobody held.
pub const BURN: &str = "mail.burn";

pub fn id(text: &str) -> ActionId {
    ActionId::parse(text).unwrap()
}

/// A catalog of another time.
pub fn catalog() -> ActionCatalog {
    let ids = [REPLY, FILE, BURN];
    let tool = |name: &str| ToolDescriptor {
        name: ToolName::of(&id(name)).as_str().to_owned(),
        description: THEN.to_owned(),
        parameters_schema: json!({"type": "object", "properties": {}, "additionalProperties": false}),
        approval_required: false,
        selection_token_required: false,
        idempotency_key_required: false,
        title: None,
        output_schema: None,
        hints: Hints::NONE,
    };
    let requiring = |claim: &str| Requirements {
        class: Some(Class::Optional),
        claims: [claim.to_owned()].into(),
        ..Requirements::default()
    };
    ActionCatalog::new(ids.map(id))
        .with_tool_descriptors(ids.map(|name| (id(name), tool(name))).into())
        .with_egress_declarations(
            ids.map(|name| (id(name), EgressDeclaration::default()))
                .into(),
        )
        .with_requirements(
            [
                (id(FILE), requiring("mail.file")),
                (id(BURN), requiring("mail.burn")),
            ]
            .into(),
        )
}

/// A task to be stored, and what the ledger is to say of it.
pub struct ToStore {
    pub grant: TaskGrant,
    pub catalog: String,
    /// What is stored of its exposures; `None` for those that are right.
    pub exposures: Option<String>,
    pub kind: Kind,
    /// What is put over the fields of a right record.
    pub body: Value,
}

/// A task of Ann's that began a minute ago.
pub fn task() -> ToStore {
    let catalog = catalog();
    let issued_at = Timestamp::now() - 1.minute();
    let task = Ulid::generate();
    let mandate = Mandate {
        actor: "ann".to_owned(),
        scenario: "triage".to_owned(),
        mode: "day".to_owned(),
        claims: ["mail.file".to_owned()].into(),
        ..Mandate::default()
    };
    let sources = [
        "global_policy:v1",
        "route:owner_chat:v1",
        "agent:house_assistant:v1",
        "workflow:help_the_owner:v1",
        "capability_pack:owner_pack:v1",
        "scenario:triage:v1",
        "actor:ann:v1",
    ];
    ToStore {
        grant: TaskGrant {
            id: task,
            task_id: task,
            event_id: Ulid::generate(),
            principal: Principal::Known("01J00000000000000000000ANN".to_owned()),
            purpose: "Sort the mail.".to_owned(),
            allowed_actions: [id(REPLY), id(FILE)].into(),
            approval_required_actions: BTreeSet::new(),
            denied_actions: BTreeSet::new(),
            allowed_egress_classes: BTreeSet::new(),
            output_channels: BTreeSet::new(),
            selection_tokens: BTreeMap::new(),
            bound_arguments: Vec::new(),
            mandate: Some(mandate),
            limits: Limits {
                max_model_calls: 1,
                max_artifacts: 1,
                max_runtime_seconds: 3_600,
            },
            mode: GrantMode::Live,
            reply_to: None,
            issued_at,
            expires_at: issued_at + 1.hour(),
            authority_sources: sources.map(str::to_owned).into(),
            policy_revision: Digest::of_bytes(b"of then"),
            catalog_digest: catalog.digest().unwrap(),
        },
        catalog: String::from_utf8(catalog.to_canonical_json().unwrap()).unwrap(),
        exposures: None,
        kind: Kind::GrantIssued,
        body: json!({}),
    }
}

/// Manifests by which Ann still holds what [`task`] was issued with.
pub fn write_mandate(home: &Home) {
    let active = "schema_version: 1\nlifecycle_state: active\n";
    let actor = "principal_id: 01J00000000000000000000ANN\nclaims:\n  - mail.file\n";
    home.write(
        "manifests/actors/ann.yaml",
        &format!("id: ann\n{active}{actor}"),
    );
    home.write(
        "manifests/scenarios/triage.yaml",
        &format!("id: triage\n{active}mode: day\n"),
    );
}

/// Stores a task as a kernel does that stops then, and gives its id.
pub async fn store(home: &Home, new: ToStore) -> String {
    let [id] = store_all(home, [new]).await;
    id
}

/// Stores several. A store is opened once in a test: a command that another test starts at the same moment holds
/// the lock for as long as it takes to become that command.
pub async fn store_all<const N: usize>(home: &Home, new: [ToStore; N]) -> [String; N] {
    let store = SqliteStore::open(&home.data()).await.unwrap();
    let ids = new.each_ref().map(|new| new.grant.task_id.to_string());
    for new in new {
        issue(home, &store, new).await;
    }
    let stopped = Entry {
        at: Timestamp::now(),
        kind: Kind::KernelStopped,
        body: json!({}),
    };
    store.record(stopped).await.unwrap();
    store.close().await;
    ids
}

async fn issue(home: &Home, store: &SqliteStore, new: ToStore) {
    let keys = Keys::open(
        &home.data().join("keys"),
        std::iter::empty(),
        std::iter::empty(),
    )
    .unwrap();
    let grant = new.grant;
    let sealed = SealedGrant::seal(grant.clone(), &keys.seal).unwrap();
    let verified = sealed.clone().verify(&keys.seal).unwrap();
    let exposures = new.exposures.unwrap_or_else(|| {
        // Worked out anew from the catalog, whatever form of it is stored.
        let exposures = canonical_json(&Exposures::of(&verified, &catalog())).unwrap();
        String::from_utf8(exposures).unwrap()
    });
    let mut body = json!({
        "task": grant.task_id,
        "grant": Digest::of_json(&grant).unwrap(),
        "catalog": grant.catalog_digest,
        "exposures": Digest::of_bytes(exposures.as_bytes()),
        "policy": grant.policy_revision,
    });
    for (field, value) in new.body.as_object().unwrap() {
        body[field] = value.clone();
    }
    let task = NewTask {
        id: grant.task_id,
        token_hash: [9; 32],
        grant: &sealed,
        message: Some("Sort my \u{202e}mail."),
        expires_at: grant.expires_at,
        limits: grant.limits,
        catalog: (grant.catalog_digest, &new.catalog),
        exposures: (Digest::of_bytes(exposures.as_bytes()), &exposures),
        selections: &[],
    };
    let entry = Entry {
        at: grant.issued_at,
        kind: new.kind,
        body,
    };
    store.issue(task, entry).await.unwrap();
}
