//! Random catalogs and manifests, and what a worker is shown of them.

use std::collections::{BTreeMap, BTreeSet};

use actum::gate::Standing;
use actum::grant::Caveat;
use actum::requirement::EscapeHatch;
use actum::{
    ActionCatalog, ActionId, Class, Digest, EgressDeclaration, Hints, Requirements, TaskGrant,
    ToolDescriptor, ToolName, VerifiedGrant, project,
};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Value, json};

use crate::call::{TOKEN, TOKEN_TYPE};
use crate::support::id;
use crate::support::manifests::{Manifests, issued, listed, located, manifest};

/// Each is a prefix, a near miss or a neighbour of another.
pub const IDS: [&str; 6] = [
    "task",
    "task.read",
    "task.read:mine",
    "task.read_all",
    "web",
    "web.send",
];
/// Some are one another's near misses.
pub const CLAIMS: [&str; 4] = ["tasks:read", "Tasks:Read", "tasks:read ", "web:send"];
pub const ROLES: [&str; 2] = ["admin", "board"];
/// Roles as an actor may write them; the last is no role of any action.
pub const WRITTEN_ROLES: [&str; 4] = ["board", " Board", "ADMIN\t", "clerk"];
pub const MODES: [&str; 2] = ["planning", "standard"];
pub const KINDS: [&str; 2] = ["choose", "confirm"];
pub const METHODS: [&str; 2] = ["GET", "POST"];
pub const PATHS: [&str; 2] = ["/v1/tasks", "/v1/web"];
/// The argument for the kind of interaction, which a pointer has to escape.
pub const KIND: &str = "kind/of~it";

/// What a catalog has of one action.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    pub requirements: Requirements,
    pub dispatchable: bool,
    pub always_asks: bool,
    pub wants_token: bool,
    pub leaves_by: &'static str,
    pub description: String,
}

pub type World = BTreeMap<ActionId, Facts>;

pub fn catalog(world: &World) -> ActionCatalog {
    let ids = |is: fn(&Facts) -> bool| -> BTreeSet<ActionId> {
        let all = world.iter().filter(|(_, facts)| is(facts));
        all.map(|(id, _)| id.clone()).collect()
    };
    let tools = world
        .iter()
        .map(|(id, facts)| (id.clone(), tool(id, facts)));
    let egress = |facts: &Facts| EgressDeclaration {
        egress_class: Some(facts.leaves_by.to_owned()),
        output_channels: None,
    };
    let tokens = ids(|facts| facts.wants_token).into_iter();
    ActionCatalog::new(world.keys().cloned())
        .with_tool_descriptors(tools.collect())
        .with_egress_declarations(
            world
                .iter()
                .map(|(id, facts)| (id.clone(), egress(facts)))
                .collect(),
        )
        .with_selection_token_types(tokens.map(|id| (id, TOKEN_TYPE.to_owned())).collect())
        .with_undispatchable(ids(|facts| !facts.dispatchable))
        .with_requirements(
            world
                .iter()
                .map(|(id, facts)| (id.clone(), facts.requirements.clone()))
                .collect(),
        )
}

fn tool(id: &ActionId, facts: &Facts) -> ToolDescriptor {
    ToolDescriptor {
        name: ToolName::of(id).to_string(),
        description: facts.description.clone(),
        parameters_schema: json!({
            "type": "object",
            "properties": {
                "method": {"type": "string"},
                "path": {"type": "string"},
                KIND: {"type": "string", "enum": KINDS},
            },
            "additionalProperties": false,
        }),
        approval_required: facts.always_asks,
        selection_token_required: facts.wants_token,
        idempotency_key_required: false,
        title: None,
        output_schema: None,
        hints: Hints::NONE,
    }
}

fn some(of: &[&'static str], most: usize) -> impl Strategy<Value = Vec<&'static str>> + use<> {
    subsequence(of.to_vec(), 0..=most)
}

fn requirements() -> impl Strategy<Value = Requirements> {
    let class = prop_oneof![
        4 => Just(None),
        3 => Just(Some(Class::Always)),
        6 => Just(Some(Class::Optional)),
        1 => Just(Some(Class::ControlPlane)),
    ];
    let set =
        |texts: Vec<&str>| -> BTreeSet<String> { texts.into_iter().map(str::to_owned).collect() };
    let seldom = || prop::bool::weighted(0.25);
    (
        class,
        some(&CLAIMS, 2),
        prop_oneof![2 => Just(Vec::new()), 1 => some(&ROLES, 2)],
        prop_oneof![2 => Just(Vec::new()), 1 => some(&MODES, 2)],
        (seldom(), seldom(), seldom()),
    )
        .prop_map(
            move |(class, claims, roles, modes, (secrets, hatch, asks))| Requirements {
                class,
                claims: set(claims),
                roles: set(roles),
                modes: set(modes),
                reads_secrets: secrets,
                escape_hatch: hatch.then(|| EscapeHatch {
                    method: "method".to_owned(),
                    path: "path".to_owned(),
                }),
                interaction: asks.then(|| KIND.to_owned()),
            },
        )
}

pub fn facts() -> impl Strategy<Value = Facts> {
    (
        requirements(),
        prop::bool::weighted(0.9),
        prop::bool::weighted(0.15),
        prop::bool::weighted(0.15),
        prop_oneof![9 => Just("granted"), 1 => Just("foreign")],
        "[a-z]{0,4}",
    )
        .prop_map(
            |(requirements, dispatchable, always_asks, wants_token, leaves_by, description)| {
                Facts {
                    requirements,
                    dispatchable,
                    always_asks,
                    wants_token,
                    leaves_by,
                    description,
                }
            },
        )
}

/// A world with every one of [`IDS`].
pub fn world() -> impl Strategy<Value = World> {
    prop::collection::vec(facts(), IDS.len())
        .prop_map(|facts| IDS.iter().map(|text| id(text)).zip(facts).collect())
}

/// What an actor and its scenario say.
fn holders() -> impl Strategy<Value = Manifests> {
    let claims = (
        some(&CLAIMS, 4),
        some(&CLAIMS, 2),
        prop_oneof![3 => Just(Vec::new()), 1 => some(&CLAIMS, 1)],
        prop_oneof![3 => Just(Vec::new()), 1 => some(&CLAIMS, 1)],
    );
    let switched = (
        any::<bool>(),
        some(&KINDS, 2),
        subsequence(targets(), 0..=4),
        prop_oneof![2 => Just(Vec::new()), 1 => some(&IDS, 1)],
    );
    (
        some(&WRITTEN_ROLES, 3),
        select(&MODES[..]),
        claims,
        switched,
    )
        .prop_map(
            |(
                roles,
                mode,
                (own, added, denied, banned),
                (secrets, kinds, targets, denied_actions),
            )| {
                let texts = |texts: Vec<&str>| -> Vec<_> {
                    texts
                        .iter()
                        .map(|text| located((*text).to_owned()))
                        .collect()
                };
                let mut all = Manifests::new();
                if let Some(actor) = &mut all.actor {
                    actor.roles = texts(roles);
                    actor.claims = texts(own);
                }
                all.scenario.mode = located(mode.to_owned());
                all.scenario.claims = texts(added);
                all.scenario.denied_claims = texts(denied);
                all.scenario.denied_actions = denied_actions.into_iter().map(listed).collect();
                all.scenario.secret_values = secrets;
                all.scenario.interaction_kinds = texts(kinds);
                all.scenario.api_targets = targets
                    .iter()
                    .map(|target| located(manifest(target)))
                    .collect();
                all.policy.denied_claims = texts(banned);
                all
            },
        )
}

fn targets() -> Vec<Value> {
    let of = |method| PATHS.map(|path| json!({"method": method, "path": path}));
    METHODS.into_iter().flat_map(of).collect()
}

/// The manifests of an actor. Their lists overlap, and most are short.
pub fn manifests() -> impl Strategy<Value = Manifests> {
    let allow = prop::collection::vec(some(&IDS, 3), 3);
    let narrow = prop_oneof![4 => Just(Vec::new()), 1 => some(&IDS, 6)];
    let approval = prop::collection::vec(prop_oneof![3 => Just(Vec::new()), 1 => some(&IDS, 2)], 5);
    let deny = prop::collection::vec(prop_oneof![6 => Just(Vec::new()), 1 => some(&IDS, 2)], 5);
    (
        holders(),
        allow,
        prop::collection::vec(narrow, 2),
        approval,
        deny,
    )
        .prop_map(|(mut all, allow, narrow, approval, deny)| {
            let lists = allow.into_iter().chain(narrow).zip(approval).zip(deny);
            let lists = lists.flat_map(|((allow, approval), deny)| [allow, approval, deny]);
            for (into, ids) in all.lists().into_iter().zip(lists) {
                *into = ids.into_iter().map(listed).collect();
            }
            all
        })
}

/// The grant that the manifests give over a catalog. It holds the one token that there is.
pub fn grant(manifests: &Manifests, catalog: &ActionCatalog) -> TaskGrant {
    TaskGrant {
        selection_tokens: [(TOKEN, TOKEN_TYPE.to_owned())].into(),
        ..issued(manifests.compose(catalog).unwrap())
    }
}

/// What later holders of a grant took away of it: actions, and kinds of interaction.
pub fn caveats() -> impl Strategy<Value = Vec<Caveat>> {
    let allowlist = prop::collection::btree_set(select(&IDS[..]), 2..6).prop_map(|ids| {
        Caveat::ActionAllowlist {
            actions: ids.into_iter().map(id).collect(),
        }
    });
    let kind = select(&KINDS[..]).prop_map(|kind| Caveat::BoundParameter {
        name: KIND.to_owned(),
        value: kind.to_owned(),
    });
    prop::collection::vec(prop_oneof![allowlist, kind], 0..2)
}

/// What a worker is shown, and how it stands.
pub fn standings(grant: &VerifiedGrant, catalog: &ActionCatalog) -> BTreeMap<ActionId, Standing> {
    let view = project(grant, catalog);
    let tools = view
        .tools()
        .map(|tool| (tool.id().clone(), tool.standing()));
    tools.collect()
}

/// What a worker is shown, as bytes.
pub fn seen(grant: &VerifiedGrant, catalog: &ActionCatalog) -> (String, Digest) {
    let view = project(grant, catalog);
    let mut out = String::new();
    view.write_tools(&mut out);
    (out, view.digest())
}
