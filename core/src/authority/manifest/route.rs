//! Routes: which event leads to which agent, workflow and capability pack.

use crate::authority::document::{Located, record};
use crate::authority::terms::{ChannelTrust, Lane, Lifecycle, Relationship, RouteEffect};

record! {
    /// A route.
    pub struct Route {
        /// Its name.
        pub id: Located<String>,
        /// The version of this shape.
        pub schema_version: Located<u32>,
        /// The version of the route.
        pub version: u32 = 1,
        /// Only `active` routes take part.
        pub lifecycle_state: Lifecycle,
        /// Where several routes match, only those with the highest priority stay. A route without one
        /// gives way to any that has one, even to 0.
        pub priority: Option<u32> = None,
        /// Whether it lets events in or turns them away.
        pub effect: RouteEffect = RouteEffect::Allow,
        /// The events it is for.
        pub when: RouteMatch = RouteMatch::default(),
        /// The agent that takes the event.
        pub agent: Option<Located<String>> = None,
        /// The workflow that it takes part in.
        pub workflow: Option<Located<String>> = None,
        /// The capability pack of the task.
        pub capability_pack: Option<Located<String>> = None,
        /// The scenario of the task, in which an actor's claims count.
        pub scenario: Option<Located<String>> = None,
        /// The voice of the agent.
        pub persona: Option<String> = None,
    }
}

record! {
    /// Which events a route is for: each field that is given must equal the event's.
    #[derive(Default)]
    pub struct RouteMatch {
        /// The event's source.
        pub source: Option<String> = None,
        /// The event's type.
        pub event_type: Option<String> = None,
        /// Whether the event's source is verified.
        pub verified_source: Option<bool> = None,
        /// The event's lane.
        pub lane: Option<Lane> = None,
        /// The event's connector.
        pub connector: Option<String> = None,
        /// The role of the receiving account.
        pub account_role: Option<String> = None,
        /// The receiving account.
        pub channel_account: Option<String> = None,
        /// Who sent it.
        pub actor: Option<ActorMatch> = None,
    }
}

record! {
    /// Which senders a route is for.
    #[derive(Default)]
    pub struct ActorMatch {
        /// What the sender is to the owner.
        pub relationship: Option<Relationship> = None,
        /// The trust in the channel, as the identity (not the event) has it.
        pub channel_trust: Option<ChannelTrust> = None,
        /// The least confidence of the identity, from 0 to 1, itself included.
        pub identity_confidence_min: Option<Located<f64>> = None,
    }
}
