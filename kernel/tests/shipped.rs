//! What the kernel ships: fifteen actions, and five ids that are known and that nothing dispatches.

#![allow(clippy::unwrap_used)] // a test says where it fails

use std::collections::BTreeSet;

use actum::Registry;

// Nothing else names the crate here, and what no line names is not linked.
use actum_kernel as _;

const SHIPPED: [&str; 15] = [
    "artifact.nominate_upstream",
    "artifact.propose",
    "artifact.revoke",
    "email.read_thread:selected_no_attachments",
    "lyra.ui.preview",
    "openspine.overlay.export",
    "openspine.overlay.restore",
    "openspine.status.read",
    "plan.propose",
    "skill.context",
    "telegram.reply:owner_channel",
    "terminal.reply:owner_device",
    "worker.commission",
    "worker.failed",
    "worker.report_result",
];

const UNDISPATCHABLE: [&str; 5] = [
    "capability_pack.change",
    "connector.enable",
    "policy.change_proposal",
    "route.activate",
    "workflow.activate",
];

#[test]
fn the_shipped_actions_are_these_fifteen_and_no_other() {
    let registry = Registry::linked().unwrap();
    let linked: BTreeSet<_> = registry.actions().map(|(id, _)| id.to_string()).collect();
    assert_eq!(linked, SHIPPED.map(str::to_owned).into());
    assert_eq!(registry.actions().count(), 15);
}

#[test]
fn five_more_ids_are_known_and_nothing_dispatches_them() {
    let catalog = Registry::linked().unwrap().catalog();
    for id in UNDISPATCHABLE {
        assert!(catalog.is_known(id) && !catalog.is_dispatchable(id), "{id}");
        assert!(catalog.tool_descriptor_for(id).is_none(), "{id}");
    }
    assert_eq!(catalog.len(), SHIPPED.len() + UNDISPATCHABLE.len());
}
