//! The shipped actions: annotated handlers, and nothing else.

pub mod artifact;
pub mod email;
pub mod overlay;
pub mod plan;
pub mod preview;
pub mod skill;
pub mod status;
pub mod telegram;
pub mod terminal;
pub mod worker;

actum::known!("route.activate");
actum::known!("workflow.activate");
actum::known!("capability_pack.change");
actum::known!("policy.change_proposal");
actum::known!("connector.enable");

#[cfg(test)]
actum::testing::check_actions!();
