//! What each actor is shown.

use std::collections::BTreeSet;

use crate::facts::{MODES, all_claims, all_roles, is_for_roles, tools_of};
use crate::office::Office;

#[tokio::test]
async fn two_actors_see_exactly_what_the_recorded_facts_say_in_every_mode() {
    let office = Office::sample();
    let every = all_claims();
    let every: Vec<&str> = every.iter().map(String::as_str).collect();
    let few = ["discovery:tasks:read", "workspace:read", "company:admin"];
    let actors: [(&str, &[&str], &[&str]); 2] =
        [("ada", &["engineer"], &few), ("bert", &["board"], &every)];
    for (id, roles, claims) in actors {
        office.actor(id, roles, claims);
    }
    let served = office.serve().await;
    let mut views = BTreeSet::new();
    for mode in &MODES {
        for (id, roles, claims) in actors {
            let token = served.begin(id, mode.event).await;
            let seen = served.names(&token).await;
            assert_eq!(seen, tools_of(mode, roles, claims), "{id}: {}", mode.name);
            views.insert(seen);
        }
    }
    assert_eq!(views.len(), 8, "each view is one of its own");
}

#[tokio::test]
async fn one_claim_shows_its_tools_to_those_of_the_right_role_and_no_other_tool() {
    let office = Office::sample();
    let claims = all_claims();
    let roles = all_roles();
    let mut actors = Vec::new();
    for claim in &claims {
        // Of each role, where a tool with this claim is for some alone.
        let asked = roles.iter().filter(|_| is_for_roles(claim));
        for role in asked.map(String::as_str).chain(["gardener"]) {
            let handle = office.hire(actors.len(), &[role], &[claim]);
            actors.push((handle, role, claim));
        }
    }
    let served = office.serve().await;
    for (handle, role, claim) in &actors {
        for mode in &MODES {
            let token = served.begin(handle, mode.event).await;
            let expected = tools_of(mode, &[role], &[claim]);
            let seen = served.names(&token).await;
            assert_eq!(seen, expected, "{role} with {claim}: {}", mode.name);
        }
    }
}

#[tokio::test]
async fn roles_have_no_case_and_no_blanks_around_them_and_claims_have() {
    let office = Office::sample();
    office.actor("ada", &["engineer"], &["governance:approvals:decide"]);
    office.actor("bert", &[" APPROVER "], &["governance:approvals:decide"]);
    office.actor("cleo", &["SeCuRiTy"], &["governance:approvals:read"]);
    let served = office.serve().await;
    let may_decide = async |actor| {
        let token = served.begin(actor, "chat.message").await;
        served.names(&token).await.contains("decide_approval")
    };
    assert!(!may_decide("ada").await, "the claim without the role");
    assert!(may_decide("bert").await);
    assert!(!may_decide("cleo").await, "the role without the claim");

    // What would be compared as it is, and so be worth nothing, is told instead.
    let office = served.stop().await;
    office.actor("bert", &["approver"], &["Governance:Approvals:Decide"]);
    let told = office.refused().await;
    let names = "claim `Governance:Approvals:Decide` (did you mean `governance:approvals:decide`?)";
    assert!(told.contains(names) && told.contains("bert.yaml"), "{told}");
    office.actor("bert", &["  "], &[]);
    let told = office.refused().await;
    assert!(told.contains("bert.yaml:5:9: field `roles[0]`"), "{told}");
}
