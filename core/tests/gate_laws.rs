//! Laws of the view and the gate, for any grant and any catalog.
//!
//! The worlds are drawn from a few ids, arguments, classes, channels and token types, so that
//! grants, caveats and catalogs meet often. In each world, [`tries`] are all the calls of an action
//! that differ in anything that the gate could ask about.

#![allow(clippy::unwrap_used, clippy::panic)] // a test says where it fails

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use actum::gate::{
    Approval, Decision, DenialReason, Evidence, Origin, Request, SelectionToken, Standing, exposure,
};
use actum::grant::{Attenuation, Caveat, GrantMode};
use actum::schema::CompiledSchema;
use actum::{
    ActionCatalog, ActionId, CatalogView, Digest, EgressDeclaration, Hints, TaskGrant,
    ToolDescriptor, ToolName, VerifiedGrant, project,
};
use jiff::Timestamp;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};
use ulid::Ulid;

use support::{Outcome, at, decide, id, nothing_until, verified};

/// Each is a prefix, a near miss or a neighbour of another.
const IDS: [&str; 7] = [
    "mail",
    "mail.read",
    "mail.read:one",
    "mail.read_all",
    "mail.send",
    "web",
    "web.search",
];
const CLASSES: [&str; 2] = ["post", "search"];
const CHANNELS: [&str; 2] = ["owner", "visitor"];
const TOKEN_TYPES: [&str; 2] = ["file", "thread"];
const ARGUMENTS: [&str; 2] = ["thread", "to"];
const TEXTS: [&str; 2] = ["alice", "bob"];
/// The last can be in no grant.
const TOKENS: [Ulid; 3] = [Ulid(11), Ulid(12), Ulid(13)];

fn now() -> Timestamp {
    at(1000)
}

/// What a catalog has of one action.
#[derive(Debug, Clone)]
struct Facts {
    descriptor: Option<ToolDescriptor>,
    dispatchable: bool,
    egress: Option<EgressDeclaration>,
    token_type: Option<String>,
    kernel_origin: bool,
}

type World = BTreeMap<ActionId, Facts>;

fn catalog(world: &World) -> ActionCatalog {
    build(world.iter())
}

fn build<'a>(world: impl Iterator<Item = (&'a ActionId, &'a Facts)> + Clone) -> ActionCatalog {
    fn each<'a, T>(
        world: impl Iterator<Item = (&'a ActionId, &'a Facts)>,
        part: impl Fn(&Facts) -> Option<T>,
    ) -> BTreeMap<ActionId, T> {
        world
            .filter_map(|(id, facts)| Some((id.clone(), part(facts)?)))
            .collect()
    }
    let flagged = |flag: fn(&Facts) -> bool| {
        each(world.clone(), |facts| flag(facts).then_some(()))
            .into_keys()
            .collect()
    };
    ActionCatalog::new(world.clone().map(|(id, _)| id.clone()))
        .with_tool_descriptors(each(world.clone(), |facts| facts.descriptor.clone()))
        .with_egress_declarations(each(world.clone(), |facts| facts.egress.clone()))
        .with_selection_token_types(each(world.clone(), |facts| facts.token_type.clone()))
        .with_undispatchable(flagged(|facts| !facts.dispatchable))
        .with_kernel_origin(flagged(|facts| facts.kernel_origin))
}

fn names(from: &[&'static str]) -> impl Strategy<Value = BTreeSet<String>> + use<> {
    subsequence(from.to_vec(), 0..=from.len())
        .prop_map(|names| names.into_iter().map(str::to_owned).collect())
}

fn ids(fewest: usize, most: usize) -> impl Strategy<Value = BTreeSet<ActionId>> {
    subsequence(IDS.to_vec(), fewest..=most).prop_map(|ids| ids.into_iter().map(id).collect())
}

fn egress() -> impl Strategy<Value = Option<EgressDeclaration>> {
    let declared = (
        prop::option::weighted(0.3, select(&CLASSES[..])),
        prop::option::weighted(0.3, names(&CHANNELS)),
    );
    prop::option::weighted(
        0.95,
        declared.prop_map(|(class, output_channels)| EgressDeclaration {
            egress_class: class.map(str::to_owned),
            output_channels,
        }),
    )
}

fn descriptor() -> impl Strategy<Value = ToolDescriptor> {
    let extras = (
        prop::option::of("[A-Z][a-z]{2}"),
        any::<bool>(),
        any::<bool>(),
    );
    (
        names(&ARGUMENTS),
        prop::bool::weighted(0.2),
        ".{0,12}",
        extras,
    )
        .prop_map(
            |(arguments, approval_required, description, (title, told, read_only))| {
                ToolDescriptor {
                    name: String::new(),
                    description,
                    parameters_schema: json!({
                        "type": "object",
                        "properties": arguments
                            .iter()
                            .map(|name| (name.clone(), json!({"type": "string"})))
                            .collect::<Map<_, _>>(),
                        "additionalProperties": false,
                    }),
                    approval_required,
                    selection_token_required: false,
                    idempotency_key_required: false,
                    title,
                    output_schema: told.then(|| json!({"type": "object", "maxProperties": 1500})),
                    hints: Hints {
                        read_only,
                        ..Hints::NONE
                    },
                }
            },
        )
}

/// A complete world: whatever is dispatchable has a descriptor. Not every id is in it.
fn world() -> impl Strategy<Value = World> {
    let facts = (
        descriptor(),
        prop::bool::weighted(0.9),
        any::<bool>(),
        egress(),
        prop::option::weighted(0.25, select(&TOKEN_TYPES[..])),
        prop::bool::weighted(0.2),
    );
    let all = prop::collection::vec(prop::option::weighted(0.9, facts), IDS.len());
    all.prop_map(|all| {
        let named = IDS.iter().map(|text| id(text)).zip(all);
        named
            .filter_map(|(id, facts)| {
                let (mut tool, dispatchable, described, egress, token_type, kernel_origin) = facts?;
                tool.name = ToolName::of(&id).to_string();
                tool.selection_token_required = token_type.is_some();
                let facts = Facts {
                    descriptor: (dispatchable || described).then_some(tool),
                    dispatchable,
                    egress,
                    token_type: token_type.map(str::to_owned),
                    kernel_origin,
                };
                Some((id, facts))
            })
            .collect()
    })
}

/// A grant that holds now. Its lists may overlap, and name what no catalog has.
fn grant() -> impl Strategy<Value = TaskGrant> {
    let lists = (ids(2, 7), ids(0, 4), ids(0, 2));
    let held = prop::collection::vec(prop::option::of(select(&TOKEN_TYPES[..])), TOKENS.len() - 1);
    (
        lists,
        names(&CLASSES),
        names(&CHANNELS),
        held,
        prop::bool::weighted(0.1),
    )
        .prop_map(
            |((allowed, approval, denied), classes, channels, held, shadow)| TaskGrant {
                allowed_actions: allowed,
                approval_required_actions: approval,
                denied_actions: denied,
                allowed_egress_classes: classes,
                output_channels: channels,
                bound_arguments: Vec::new(),
                mandate: None,
                selection_tokens: TOKENS
                    .into_iter()
                    .zip(held)
                    .filter_map(|(token, held_as)| Some((token, held_as?.to_owned())))
                    .collect(),
                mode: if shadow {
                    GrantMode::Shadow
                } else {
                    GrantMode::Live
                },
                ..nothing_until(at(3600))
            },
        )
}

fn caveat() -> impl Strategy<Value = Caveat> {
    let bound = (select(&ARGUMENTS[..]), select(&TEXTS[..]));
    prop_oneof![
        8 => ids(3, 7).prop_map(|actions| Caveat::ActionAllowlist { actions }),
        6 => bound.prop_map(|(name, value)| Caveat::BoundParameter {
            name: name.to_owned(),
            value: value.to_owned(),
        }),
        3 => names(&CHANNELS).prop_map(|channels| Caveat::OutputChannelAllowlist { channels }),
        3 => names(&CLASSES).prop_map(|classes| Caveat::EgressClassAllowlist { classes }),
        4 => (1001i64..5000).prop_map(|second| Caveat::ExpiresBefore { at: at(second) }),
        1 => (0i64..=1000).prop_map(|second| Caveat::ExpiresBefore { at: at(second) }),
        1 => Just(Caveat::ModelTier { max_tier: "low".to_owned() }),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Attenuation>> {
    prop::collection::vec(prop::collection::vec(caveat(), 0..3), 0..3)
}

/// A call, and what the store holds for it.
#[derive(Debug, Clone)]
struct Try {
    request: Arc<Request>,
    approval: Option<Approval>,
    stored: Option<SelectionToken>,
}

impl Try {
    fn outcome(&self, grant: &VerifiedGrant, catalog: &ActionCatalog) -> Outcome {
        let evidence = Evidence {
            approval: self.approval.as_ref(),
            selection_token: self.stored.as_ref(),
        };
        decide(grant, &self.request, catalog, evidence, now())
    }
}

/// Every call of an action: each argument absent, of either text, or no text at all; each token
/// presented or none, with each thing that could be stored of it; approved, or not decided.
fn tries(action: &str, origin: Origin) -> Vec<Try> {
    let values = [
        None,
        Some(json!("alice")),
        Some(json!("bob")),
        Some(json!(7)),
    ];
    let mut argument_sets = vec![Map::new()];
    for name in ARGUMENTS {
        let with = |value: &Option<Value>| {
            let value = value.clone();
            let add = move |set: &Map<String, Value>| {
                let mut set = set.clone();
                set.extend(value.clone().map(|value| (name.to_owned(), value)));
                set
            };
            argument_sets.iter().map(add).collect::<Vec<_>>()
        };
        argument_sets = values.iter().flat_map(with).collect();
    }

    let mut tokens = vec![(None, None)];
    for presented in TOKENS {
        tokens.push((Some(presented), None));
        for token_type in TOKEN_TYPES {
            for second in [1000, 1001] {
                let stored = SelectionToken {
                    id: presented,
                    token_type: token_type.to_owned(),
                    expires_at: at(second),
                };
                tokens.push((Some(presented), Some(stored)));
            }
        }
    }

    let mut all = Vec::new();
    for arguments in argument_sets {
        let payload_digest = Digest::of_json(&arguments).unwrap();
        for (presented, stored) in &tokens {
            let request = Arc::new(Request {
                action: action.to_owned(),
                arguments: arguments.clone(),
                payload_digest: Some(payload_digest),
                target_digest: Some(payload_digest),
                selection_token: *presented,
                origin,
            });
            let approved = Approval {
                decision: Decision::Approved,
                expires_at: at(1001),
                payload_digest,
                target_digest: payload_digest,
            };
            for approval in [None, Some(approved)] {
                all.push(Try {
                    request: Arc::clone(&request),
                    approval,
                    stored: stored.clone(),
                });
            }
        }
    }
    all
}

fn is_denied(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Deny(_))
}

fn json_of(view: &CatalogView<'_>) -> String {
    let mut out = String::new();
    view.write_tools(&mut out);
    out
}

/// What a worker can see, as bytes.
fn seen(grant: &VerifiedGrant, catalog: &ActionCatalog) -> (String, Digest) {
    let view = project(grant, catalog);
    (json_of(&view), view.digest())
}

fn standings(grant: &VerifiedGrant, catalog: &ActionCatalog) -> BTreeMap<ActionId, Standing> {
    project(grant, catalog)
        .tools()
        .map(|tool| (tool.id().clone(), tool.standing()))
        .collect()
}

/// The worlds drawn are no deserts: the laws below meet enough of everything.
#[test]
fn the_worlds_drawn_have_something_to_show() {
    let mut runner = TestRunner::deterministic();
    let (mut shown, mut granted_and_absent) = (0, 0);
    let (mut allowed, mut asked, mut suppressed) = (0, 0, 0);
    for _ in 0..100 {
        let drawn = (world(), grant(), steps()).new_tree(&mut runner).unwrap();
        let (world, root, steps) = drawn.current();
        let catalog = catalog(&world);
        let grant = verified(root.clone(), steps);
        let view = project(&grant, &catalog);
        shown += view.len();
        granted_and_absent += root.allowed_actions.len().saturating_sub(view.len());
        for one in IDS.iter().flat_map(|text| tries(text, Origin::Worker)) {
            match one.outcome(&grant, &catalog) {
                Outcome::Allow => allowed += 1,
                Outcome::Ask => asked += 1,
                Outcome::Suppressed => suppressed += 1,
                Outcome::Deny(_) => {}
            }
        }
    }
    println!(
        "in 100 worlds: {shown} shown, {granted_and_absent} granted and absent, \
         {allowed} allowed, {asked} asked, {suppressed} suppressed"
    );
    assert!(shown > 50 && granted_and_absent > 50);
    assert!(allowed > 1000 && asked > 1000 && suppressed > 1000);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 128,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// What is shown can be called, with arguments that its schema takes; and what is not shown is
    /// denied however it is called.
    #[test]
    fn the_list_is_what_can_be_called(world in world(), grant in grant(), steps in steps()) {
        let catalog = catalog(&world);
        let grant = verified(grant, steps);
        prop_assume!(grant.expires_at() > now());
        let view = project(&grant, &catalog);
        for text in IDS {
            let shown = view.tools().find(|tool| tool.id().as_str() == text);
            let tries = tries(text, Origin::Worker);
            if let Some(tool) = shown {
                let schema = CompiledSchema::new(&tool.descriptor().parameters_schema).unwrap();
                let works = |one: &Try| {
                    !is_denied(one.outcome(&grant, &catalog))
                        && schema.check(&Value::Object(one.request.arguments.clone())).is_ok()
                };
                prop_assert!(tries.iter().any(works), "{text} is shown, and every call is denied");
            } else if catalog.is_dispatchable(text) || !catalog.is_known(text) {
                for one in tries {
                    let outcome = one.outcome(&grant, &catalog);
                    prop_assert!(is_denied(outcome), "not shown, and {outcome:?} for {one:?}");
                }
            }
        }
        // A tool is called by the name that it was shown under as well, and by no other's name.
        for tool in view.tools() {
            let named = ToolName::to_id(&tool.descriptor().name);
            prop_assert_eq!(named.as_ref(), Some(tool.id()));
        }
    }

    #[test]
    fn what_nothing_dispatches_is_never_shown(world in world(), grant in grant(), steps in steps()) {
        let catalog = catalog(&world);
        let grant = verified(grant, steps);
        for tool in project(&grant, &catalog).tools() {
            prop_assert!(catalog.is_dispatchable(tool.id().as_str()), "{:?}", tool.id());
        }
    }

    /// One more caveat shows no more, loosens no mark, and lets nothing pass that did not.
    #[test]
    fn a_caveat_never_widens(
        world in world(),
        grant in grant(),
        steps in steps(),
        more in prop::collection::vec(caveat(), 1..3),
    ) {
        let catalog = catalog(&world);
        let before = verified(grant.clone(), steps.clone());
        let after = verified(grant, steps.into_iter().chain([more]));
        prop_assert!(after.expires_at() <= before.expires_at());
        let shown_before = standings(&before, &catalog);
        for (id, standing) in standings(&after, &catalog) {
            prop_assert_eq!(shown_before.get(&id), Some(&standing), "{:?}", id);
        }
        for text in IDS {
            for origin in [Origin::Worker, Origin::Kernel] {
                for one in tries(text, origin) {
                    let outcome = one.outcome(&after, &catalog);
                    if !is_denied(outcome) {
                        prop_assert_eq!(one.outcome(&before, &catalog), outcome, "{:?}", one);
                    }
                }
            }
        }
    }

    /// A denied action is absent and refused, whatever else names it, and nothing else changes.
    #[test]
    fn deny_always_wins(
        world in world(),
        grant in grant(),
        steps in steps(),
        denied in select(&IDS[..]),
    ) {
        let catalog = catalog(&world);
        let mut stricter = grant.clone();
        stricter.allowed_actions.insert(id(denied));
        stricter.approval_required_actions.insert(id(denied));
        stricter.denied_actions.insert(id(denied));
        let before = verified(grant, steps.clone());
        let after = verified(stricter, steps);

        let mut shown = standings(&before, &catalog);
        shown.remove(denied);
        prop_assert_eq!(standings(&after, &catalog), shown);
        for one in tries(denied, Origin::Worker) {
            let outcome = one.outcome(&after, &catalog);
            prop_assert!(is_denied(outcome), "{outcome:?} for {one:?}");
        }
    }

    /// Caveats are a set: in whatever order, however often, in however many steps.
    #[test]
    fn order_and_repetition_of_caveats_do_not_matter(
        world in world(),
        grant in grant(),
        (caveats, again) in prop::collection::vec(caveat(), 0..5).prop_flat_map(|caveats| {
            let twice: Vec<_> = caveats.iter().chain(&caveats).cloned().collect();
            (Just(caveats), Just(twice).prop_shuffle())
        }),
        size in 1usize..4,
    ) {
        let catalog = catalog(&world);
        let one = verified(grant.clone(), [caveats]);
        let other = verified(grant, again.chunks(size).map(<[Caveat]>::to_vec));
        prop_assert_eq!(one.expires_at(), other.expires_at());
        prop_assert_eq!(seen(&one, &catalog), seen(&other, &catalog));
        for text in IDS {
            for call in tries(text, Origin::Worker) {
                prop_assert_eq!(
                    call.outcome(&one, &catalog),
                    call.outcome(&other, &catalog),
                    "{:?}", call
                );
            }
        }
    }

    /// Lists are sets: a grant whose stored lists are turned round and doubled is the same grant.
    #[test]
    fn order_and_repetition_in_lists_do_not_matter(grant in grant(), caveat in caveat()) {
        fn doubled(value: &mut Value) {
            if let Value::Array(list) = value {
                list.extend(list.clone());
                list.reverse();
            }
        }
        let mut stored = serde_json::to_value(&grant).unwrap();
        for list in [
            "allowed_actions",
            "approval_required_actions",
            "denied_actions",
            "allowed_egress_classes",
            "output_channels",
        ] {
            doubled(stored.get_mut(list).unwrap());
        }
        prop_assert_eq!(serde_json::from_value::<TaskGrant>(stored).unwrap(), grant);

        let mut stored = serde_json::to_value(&caveat).unwrap();
        stored.as_object_mut().unwrap().values_mut().for_each(doubled);
        prop_assert_eq!(serde_json::from_value::<Caveat>(stored).unwrap(), caveat);
    }

    /// Two catalogs that agree on what a grant's lists leave give it the same bytes, whatever else
    /// either has.
    #[test]
    fn the_view_depends_on_the_grant_alone(
        mine in world(),
        others in world(),
        extra in prop::collection::btree_map("[a-z]{1,6}(\\.[a-z]{1,6}){0,2}", select(&IDS[..]), 0..8),
        grant in grant(),
        steps in steps(),
    ) {
        let lists_leave = |id: &ActionId| {
            let listed = |caveat: &Caveat| match caveat {
                Caveat::ActionAllowlist { actions } => actions.contains(id),
                _ => true,
            };
            (grant.allowed_actions.contains(id) || grant.approval_required_actions.contains(id))
                && !grant.denied_actions.contains(id)
                && steps.iter().flatten().all(listed)
        };
        let mut changed = others.clone();
        for (name, like) in extra {
            if let Some(facts) = others.get(like) {
                changed.insert(id(&name), facts.clone());
            }
        }
        changed.retain(|id, _| !lists_leave(id));
        let granted = mine.iter().filter(|(id, _)| lists_leave(id));
        changed.extend(granted.map(|(id, facts)| (id.clone(), facts.clone())));

        let grant = verified(grant.clone(), steps.clone());
        let (mine, changed) = (catalog(&mine), catalog(&changed));
        prop_assert_eq!(seen(&grant, &mine), seen(&grant, &changed));
    }

    /// The same grant and catalog, put together in another order, give the same bytes; and tools
    /// stand in the order of their ids.
    #[test]
    fn the_same_inputs_give_the_same_bytes_in_order(
        world in world(),
        grant in grant(),
        steps in steps(),
    ) {
        let one = seen(&verified(grant.clone(), steps.clone()), &catalog(&world));
        let grant = verified(grant, steps);
        let other = build(world.iter().rev());
        prop_assert_eq!(&one, &seen(&grant, &other));
        let view = project(&grant, &other);
        let ids: Vec<_> = view.tools().map(|tool| tool.id()).collect();
        prop_assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
        prop_assert_eq!(view.len(), ids.len());
        prop_assert_eq!(view.is_empty(), ids.is_empty());
    }

    /// Whatever is posted, the gate answers; and what is no known id is denied as unknown, or for
    /// what is wrong with the grant.
    #[test]
    fn any_text_gets_an_answer(
        world in world(),
        grant in grant(),
        steps in steps(),
        text in prop_oneof![
            any::<String>(),
            "[a-z.:_ -]{0,70}",
            // Near misses.
            (select(&IDS[..]), "[ \\x00-\\x7f*/.:-]").prop_map(|(id, tail)| format!("{id}{tail}")),
            (select(&IDS[..]), "[ \\x00-\\x7f*/.:-]").prop_map(|(id, head)| format!("{head}{id}")),
            select(&IDS[..]).prop_map(str::to_uppercase),
            select(&IDS[..]).prop_map(|text| ToolName::of(&id(text)).to_string()),
            select(&IDS[..]).prop_map(str::to_owned),
        ],
        name in any::<String>(),
        value in any::<String>(),
        presented in prop::option::of(any::<u128>()),
        by_kernel in any::<bool>(),
    ) {
        let catalog = catalog(&world);
        let grant = verified(grant, steps);
        let origin = if by_kernel { Origin::Kernel } else { Origin::Worker };
        let call = Try {
            request: Arc::new(Request {
                action: text.clone(),
                arguments: [(name, json!([value]))].into_iter().collect(),
                payload_digest: None,
                target_digest: None,
                selection_token: presented.map(Ulid),
                origin,
            }),
            approval: None,
            stored: None,
        };
        let outcome = call.outcome(&grant, &catalog);
        if !catalog.is_known(&text) {
            use DenialReason::{CaveatWidening, GrantExpired, UnknownAction};
            let reasons = [UnknownAction, GrantExpired, CaveatWidening].map(Outcome::Deny);
            prop_assert!(reasons.contains(&outcome), "{outcome:?} for {text:?}");
            prop_assert!(exposure(&grant, &catalog, &text).is_err());
        }
    }

    /// A worker can work out the view's digest from what it got.
    #[test]
    fn the_digest_follows_from_what_is_served(
        world in world(),
        grant in grant(),
        steps in steps(),
    ) {
        let catalog = catalog(&world);
        let (served, digest) = seen(&verified(grant, steps), &catalog);
        let tools: Vec<Value> = serde_json::from_str(&served).unwrap();
        let digests: Vec<_> = tools.iter().map(|tool| Digest::of_json(tool).unwrap()).collect();
        prop_assert_eq!(Digest::of_json(&digests).unwrap(), digest);
        let canonical = actum::digest::canonical_json(&tools).unwrap();
        prop_assert_eq!(served.as_bytes(), canonical);
    }

    /// A tool is marked when the grant or its own descriptor says so, in the view as in what is
    /// served; and the gate asks for exactly those that are marked.
    #[test]
    fn a_mark_is_where_the_gate_asks(world in world(), grant in grant(), steps in steps()) {
        let catalog = catalog(&world);
        let live = TaskGrant { mode: GrantMode::Live, ..grant };
        let grant = verified(live.clone(), steps);
        prop_assume!(grant.expires_at() > now());
        let view = project(&grant, &catalog);
        let served: Vec<Value> = serde_json::from_str(&json_of(&view)).unwrap();
        prop_assert_eq!(served.len(), view.len());
        for (tool, served) in view.tools().zip(served) {
            let descriptor = tool.descriptor();
            let marked =
                live.approval_required_actions.contains(tool.id()) || descriptor.approval_required;
            prop_assert_eq!(tool.standing() == Standing::ApprovalRequired, marked);
            let mut expected = json!({
                "name": ToolName::of(tool.id()).as_str(),
                "description": descriptor.description,
                "parameters": descriptor.parameters_schema,
                "approval_required": marked,
                "selection_token_required": descriptor.selection_token_required,
            });
            let extras = expected.as_object_mut().unwrap();
            extras.extend(descriptor.title.iter().map(|title| ("title".into(), json!(title))));
            let schema = descriptor.output_schema.iter().cloned();
            extras.extend(schema.map(|schema| ("output_schema".into(), schema)));
            if descriptor.hints.read_only {
                extras.insert("hints".into(), json!({"read_only": true}));
            }
            prop_assert_eq!(served, expected);

            for one in tries(tool.id().as_str(), Origin::Worker) {
                let expected = match (marked, &one.approval) {
                    (true, None) => Outcome::Ask,
                    _ => Outcome::Allow,
                };
                let outcome = one.outcome(&grant, &catalog);
                prop_assert!(is_denied(outcome) || outcome == expected, "{outcome:?} for {one:?}");
            }
        }
    }
}
