use serde_json::{Value, json};

use super::*;
use crate::bound::{Bound, BoundArgument};
use crate::catalog::EgressDeclaration;
use crate::descriptor::{Hints, ToolDescriptor};
use crate::grant::TaskGrant;
use crate::grant::tests::{empty, id, verified};

fn catalog(parameters: &Value) -> ActionCatalog {
    let ids = ["a", "b"];
    let tool = |name: &str| ToolDescriptor {
        name: name.to_owned(),
        description: "Does.".to_owned(),
        parameters_schema: parameters.clone(),
        approval_required: false,
        selection_token_required: false,
        idempotency_key_required: false,
        title: None,
        output_schema: None,
        hints: Hints::NONE,
    };
    ActionCatalog::new(ids.map(id))
        .with_tool_descriptors(ids.map(|name| (id(name), tool(name))).into())
        .with_egress_declarations(
            ids.map(|name| (id(name), EgressDeclaration::default()))
                .into(),
        )
}

fn text(most: u64) -> Value {
    json!({
        "type": "object", "properties": {"to": {"type": "string", "maxLength": most}},
        "required": ["to"], "additionalProperties": false,
    })
}

fn allowing(actions: &[&str]) -> TaskGrant {
    TaskGrant {
        allowed_actions: actions.iter().map(|name| id(name)).collect(),
        ..empty()
    }
}

/// The differences of two grants over one catalog, one line each.
fn told(from: TaskGrant, to: TaskGrant) -> Vec<String> {
    let catalog = catalog(&text(9));
    told_over(&catalog, &catalog, from, to)
}

fn told_over(
    was: &ActionCatalog,
    is: &ActionCatalog,
    from: TaskGrant,
    to: TaskGrant,
) -> Vec<String> {
    let (from, to) = (verified(from, vec![]), verified(to, vec![]));
    let side = |grant, catalog| Side { grant, catalog };
    let found = difference(side(&from, was), side(&to, is));
    found.iter().map(ToString::to_string).collect()
}

/// That a change is told so, and its way back so.
#[track_caller]
fn assert_both(was: TaskGrant, is: TaskGrant, there: &[&str], back: &[&str]) {
    assert_eq!(told(was.clone(), is.clone()), there);
    assert_eq!(told(is, was), back);
}

#[test]
fn equal_grants_have_no_difference_whoever_holds_them() {
    let other = TaskGrant {
        purpose: "Another.".to_owned(),
        denied_actions: [id("b")].into(),
        ..allowing(&["a"])
    };
    assert_both(allowing(&["a"]), other, &[], &[]);
}

#[test]
fn tools_are_gained_and_lost_and_begin_and_cease_to_wait_for_the_owner() {
    assert_both(
        allowing(&["a"]),
        allowing(&["a", "b"]),
        &["`b`: is shown, and was not: widens"],
        &["`b`: is not shown any more: narrows"],
    );
    let asking = TaskGrant {
        approval_required_actions: [id("b")].into(),
        ..allowing(&["a"])
    };
    assert_both(
        allowing(&["a", "b"]),
        asking.clone(),
        &["`b`: each call waits for the owner now: narrows"],
        &["`b`: calls need not wait for the owner any more: widens"],
    );
    assert_eq!(
        told(allowing(&["a"]), asking),
        ["`b`: is shown, and was not, and requires owner approval: widens"]
    );
}

fn bound(at: &str, to: Bound, may_be_absent: bool) -> BoundArgument {
    BoundArgument {
        action: id("a"),
        at: at.to_owned(),
        to,
        may_be_absent,
    }
}

fn one_of(values: &[&str]) -> BoundArgument {
    let values = values.iter().map(|value| json!(value)).collect();
    bound("/to", Bound::OneOf(values), false)
}

fn within(start: &str) -> BoundArgument {
    bound("/to", Bound::Within(start.to_owned()), false)
}

fn bounded(bounds: &[BoundArgument]) -> TaskGrant {
    TaskGrant {
        bound_arguments: bounds.to_vec(),
        ..allowing(&["a"])
    }
}

#[test]
fn a_bound_that_is_dropped_or_wider_widens_and_one_that_is_added_or_closer_narrows() {
    let absent = bound("/to", one_of(&["x"]).to, true);
    for (wide, close) in [
        (vec![], vec![one_of(&["x"])]),
        (vec![], vec![within("x")]),
        (vec![one_of(&["x", "y"])], vec![one_of(&["x"])]),
        (vec![within("x")], vec![within("x/y")]),
        (vec![within("x")], vec![one_of(&["x/y", "x"])]),
        (
            vec![one_of(&["x", "y"])],
            vec![one_of(&["x", "y"]), one_of(&["y"])],
        ),
        (vec![absent], vec![one_of(&["x"])]),
    ] {
        let there = told(bounded(&wide), bounded(&close));
        let back = told(bounded(&close), bounded(&wide));
        let [there, back] = [&there, &back].map(|told| match told.as_slice() {
            [one] => one.clone(),
            other => panic!("{wide:?} {close:?}: {other:?}"),
        });
        assert!(
            there.starts_with("`a`: `/to`: ") && there.ends_with(": narrows"),
            "{there}"
        );
        assert!(back.ends_with(": widens"), "{back}");
    }
    // Neither of these is within the other.
    for (one, other) in [
        (one_of(&["x"]), one_of(&["y"])),
        (within("x"), within("xy")),
        (within("x"), one_of(&["xy"])),
    ] {
        for (was, is) in [(&one, &other), (&other, &one)] {
            let told = told(
                bounded(std::slice::from_ref(was)),
                bounded(std::slice::from_ref(is)),
            );
            assert!(told.len() == 1 && told[0].ends_with(": widens"), "{told:?}");
        }
    }
    assert_eq!(
        told(
            bounded(&[one_of(&["x", "y"])]),
            bounded(&[one_of(&["y", "x"])])
        ),
        [""; 0]
    );
    assert_eq!(
        told(bounded(&[one_of(&["x"])]), bounded(&[])),
        ["`a`: `/to`: one of \"x\" -> not bound: widens"]
    );
}

#[test]
fn a_descriptor_that_changed_is_judged_as_the_surface_lock_judges_it() {
    let (old, new) = (catalog(&text(5)), catalog(&text(9)));
    let change = |was, is| told_over(was, is, allowing(&["a"]), allowing(&["a"]));
    assert_eq!(
        change(&old, &new),
        ["`a`: parameters: `/properties/to`: maxLength 5 -> 9: widens"]
    );
    assert_eq!(
        change(&new, &old),
        ["`a`: parameters: `/properties/to`: maxLength 9 -> 5: narrows"]
    );
}

#[test]
fn a_catalog_that_was_stored_is_no_other_than_it_was() {
    let mut parameters = text(9);
    parameters["properties"]["to"]["multipleOf"] = json!(1.0);
    let linked = catalog(&parameters);
    let stored = ActionCatalog::from_canonical_json(&linked.to_canonical_json().unwrap()).unwrap();
    assert_ne!(
        stored.tool_descriptor_for("a"),
        linked.tool_descriptor_for("a"),
        "`1.0` is read back as `1`"
    );
    let told = told_over(&stored, &linked, allowing(&["a"]), allowing(&["a"]));
    assert_eq!(told, [""; 0]);
}

#[test]
fn classes_channels_lifetime_limits_and_mode_are_told() {
    let mut more = TaskGrant {
        allowed_egress_classes: ["web".to_owned()].into(),
        output_channels: ["street".to_owned()].into(),
        mode: GrantMode::Live,
        expires_at: Timestamp::from_second(7_200).unwrap(),
        ..allowing(&["a"])
    };
    more.limits.max_artifacts += 1;
    more.limits.max_model_calls += 1;
    let less = TaskGrant {
        mode: GrantMode::Shadow,
        ..allowing(&["a"])
    };
    assert_both(
        less,
        more,
        &[
            "egress class `web`: is granted, and was not: widens",
            "output channel `street`: is granted, and was not: widens",
            "task `lifetime in seconds`: 3600 -> 7200: widens",
            "task `max_artifacts`: 1 -> 2: widens",
            "task `max_model_calls`: 1 -> 2: widens",
            "task `mode`: effects are real now: widens",
        ],
        &[
            "egress class `web`: is not granted any more: narrows",
            "output channel `street`: is not granted any more: narrows",
            "task `lifetime in seconds`: 7200 -> 3600: narrows",
            "task `max_artifacts`: 2 -> 1: narrows",
            "task `max_model_calls`: 2 -> 1: narrows",
            "task `mode`: effects are not real any more: narrows",
        ],
    );
}

#[test]
fn a_mandate_is_told_by_what_counts_of_it() {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let with = |mandate| TaskGrant {
        mandate: Some(mandate),
        ..allowing(&["a"])
    };
    let mandate = Mandate {
        actor: "ann".to_owned(),
        claims: words(&["x", "y"]),
        denied_claims: words(&["y"]),
        roles: words(&["clerk"]),
        secret_values: true,
        ..Mandate::default()
    };
    // A claim that policy denies counts for nothing.
    let without = Mandate {
        claims: words(&["x"]),
        ..mandate.clone()
    };
    assert_both(with(mandate.clone()), with(without), &[], &[]);
    assert_both(
        allowing(&["a"]),
        with(mandate),
        &[
            "claim `x`: is granted, and was not: widens",
            "role `clerk`: is granted, and was not: widens",
            "mandate `actor`: none -> `ann`: keeps",
            "mandate `secret_values`: values of secrets may be read now: widens",
        ],
        &[
            "claim `x`: is not granted any more: narrows",
            "role `clerk`: is not granted any more: narrows",
            "mandate `actor`: `ann` -> none: keeps",
            "mandate `secret_values`: values of secrets may not be read any more: narrows",
        ],
    );
}

#[test]
fn what_no_call_could_reach_is_absent_on_both_sides() {
    let undeclared = catalog(&text(9)).with_egress_declarations([].into());
    let told = told_over(&undeclared, &undeclared, allowing(&[]), allowing(&["a"]));
    assert_eq!(told, [""; 0]);
}
