use super::*;
use crate::descriptor::Hints;

fn id(text: &str) -> ActionId {
    ActionId::parse(text).unwrap()
}

fn tool(name: &str) -> ToolDescriptor {
    ToolDescriptor {
        name: name.into(),
        description: "Does.".into(),
        parameters_schema: crate::schema::no_arguments(),
        approval_required: false,
        selection_token_required: false,
        idempotency_key_required: false,
        title: None,
        output_schema: None,
        hints: Hints::NONE,
    }
}

fn complete() -> ActionCatalog {
    ActionCatalog::new([id("a.b"), id("c"), id("d")])
        .with_tool_descriptors([(id("a.b"), tool("a-b")), (id("c"), tool("c"))].into())
        .with_egress_declarations(
            ["a.b", "c", "d"]
                .map(|i| (id(i), EgressDeclaration::default()))
                .into(),
        )
        .with_undispatchable([id("d")].into())
}

#[test]
fn a_complete_catalog_has_no_fault_and_each_removal_is_one() {
    assert_eq!(complete().faults(), []);
    assert_eq!(
        complete()
            .with_tool_descriptors([(id("c"), tool("c"))].into())
            .faults(),
        [CatalogFault::NoDescriptor(id("a.b"))]
    );
    assert_eq!(
        complete().with_undispatchable([].into()).faults(),
        [CatalogFault::NoDescriptor(id("d"))]
    );
    assert_eq!(
        complete()
            .with_egress_declarations([].into())
            .faults()
            .len(),
        3
    );
    assert_eq!(
        complete()
            .with_selection_token_types([(id("c"), "t".into())].into())
            .faults(),
        [CatalogFault::SelectionTokenMismatch(id("c"))]
    );
}

#[test]
fn two_actions_with_one_tool_name_are_a_fault_that_names_both() {
    let catalog =
        complete().with_tool_descriptors([(id("a.b"), tool("a-b")), (id("c"), tool("a-b"))].into());
    let faults = catalog.faults();
    assert!(faults.contains(&CatalogFault::SharedToolName {
        name: "a-b".into(),
        ids: [id("a.b"), id("c")]
    }));
    assert_eq!(
        faults.len(),
        2,
        "and the second does not lead back to its action"
    );
}

#[test]
fn a_tool_name_leads_back_to_its_action_or_is_a_fault() {
    for bad in ["a_b", "a.b", "A-b", "", "a b", "c"] {
        let catalog =
            complete().with_tool_descriptors([(id("a.b"), tool(bad)), (id("c"), tool("c"))].into());
        let told = CatalogFault::BadToolName {
            id: id("a.b"),
            name: bad.into(),
        };
        assert!(catalog.faults().contains(&told), "{bad}");
    }
}

#[test]
fn with_replaces_and_ignores_what_does_not_exist() {
    let catalog =
        complete().with_tool_descriptors([(id("c"), tool("c")), (id("z"), tool("z"))].into());
    assert!(
        catalog.tool_descriptor_for("a.b").is_none(),
        "the old descriptor is gone"
    );
    assert!(!catalog.is_known("z") && catalog.tool_descriptor_for("z").is_none());
    assert!(catalog.is_known("d") && !catalog.is_dispatchable("d"));
}

#[test]
fn requirements_are_replaced_whole_and_roles_are_folded() {
    let required = Requirements {
        claims: [" Exact ".to_owned()].into(),
        roles: [" Lead".to_owned(), "LEAD".to_owned()].into(),
        ..Requirements::of(Class::Optional)
    };
    let first = complete().with_requirements(
        [
            (id("c"), required),
            (id("z"), Requirements::of(Class::Always)),
        ]
        .into(),
    );
    let held = first.requirements_for("c").unwrap();
    assert_eq!(held.roles, ["lead".to_owned()].into());
    assert_eq!(held.claims, [" Exact ".to_owned()].into());
    assert!(!first.is_known("z") && first.class_of("z").is_none());

    let always = Requirements::of(Class::Always);
    let nothing = Requirements::default();
    let second = first.with_requirements([(id("a.b"), always.clone()), (id("d"), nothing)].into());
    assert_eq!(second.requirements_for("a.b"), Some(&always));
    assert_eq!(second.requirements_for("c"), None, "the old ones are gone");
    assert_eq!(second.requirements_for("d"), None, "nothing is required");
}

#[test]
fn what_is_required_is_checked_against_the_schema_it_is_about() {
    let asks = |name: &str| {
        let required = Requirements {
            interaction: Some(name.to_owned()),
            ..Requirements::of(Class::Always)
        };
        complete().with_requirements([(id("c"), required)].into())
    };
    let faults = asks("kind").faults();
    assert!(
        matches!(&faults[..], [CatalogFault::Requirement { id, problem }] if id.as_str() == "c" && problem.contains("`kind`")),
        "{faults:?}"
    );
    let mut takes_it = tool("c");
    takes_it.parameters_schema = json!({
        "type": "object", "properties": {"kind": {"type": "string"}}, "required": ["kind"],
    });
    let tools = [(id("a.b"), tool("a-b")), (id("c"), takes_it)].into();
    assert_eq!(asks("kind").with_tool_descriptors(tools).faults(), []);
}

#[test]
fn an_operation_of_the_control_plane_is_a_fault_where_agents_are_told_of_it() {
    let owned = |name: &str| [(id(name), Requirements::of(Class::ControlPlane))].into();
    assert_eq!(
        complete().with_requirements(owned("c")).faults(),
        [CatalogFault::ControlPlaneDescribed(id("c"))]
    );
    assert_eq!(complete().with_requirements(owned("d")).faults(), []);
    // With a handler it needs no descriptor either.
    let handled = complete().with_undispatchable([].into());
    assert_eq!(handled.with_requirements(owned("d")).faults(), []);
}

#[test]
fn the_words_that_are_asked_about_are_those_of_all_actions() {
    let required = |claim: &str, mode: &str| Requirements {
        claims: [claim.to_owned()].into(),
        modes: [mode.to_owned()].into(),
        ..Requirements::of(Class::Optional)
    };
    let asked = complete().with_requirements(
        [
            (id("a.b"), required("read", "test")),
            (id("c"), required("write", "test")),
        ]
        .into(),
    );
    assert_eq!(
        asked.words_asked(WordKind::Claim),
        Some(["read", "write"].into())
    );
    assert_eq!(asked.words_asked(WordKind::Mode), Some(["test"].into()));
    // Where no action is for certain modes, a mode is a word for people; a claim never is.
    assert_eq!(complete().words_asked(WordKind::Mode), None);
    assert_eq!(complete().words_asked(WordKind::Claim), Some([].into()));
}

#[test]
fn ids_can_be_added_as_known_and_change_nothing_that_is_there() {
    let catalog = complete().and_known([id("c"), id("z")]);
    assert!(catalog.is_dispatchable("c") && catalog.tool_descriptor_for("c").is_some());
    assert!(catalog.is_known("z") && !catalog.is_dispatchable("z"));
    assert_eq!(catalog.faults(), []);
}

#[test]
fn the_digest_follows_the_content_alone() {
    let reversed = ActionCatalog::new([id("d"), id("c"), id("a.b")])
        .with_undispatchable([id("d")].into())
        .with_egress_declarations(
            ["d", "c", "a.b"]
                .map(|i| (id(i), EgressDeclaration::default()))
                .into(),
        )
        .with_tool_descriptors([(id("c"), tool("c")), (id("a.b"), tool("a-b"))].into());
    assert_eq!(complete().digest().unwrap(), reversed.digest().unwrap());
    let other = complete().with_kernel_origin([id("c")].into());
    assert_ne!(complete().digest().unwrap(), other.digest().unwrap());
}
