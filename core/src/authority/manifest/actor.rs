//! Actors: who may come to actions by claims, and with which roles and claims of its own.

use crate::authority::document::{Located, record};
use crate::authority::terms::Lifecycle;

record! {
    /// An actor. Its claims count in tasks whose route names a [scenario](super::Scenario).
    pub struct Actor {
        /// Its name.
        pub id: Located<String>,
        /// The version of this shape.
        pub schema_version: Located<u32>,
        /// The version of the actor.
        pub version: u32 = 1,
        /// Only `active` actors hold anything; the tasks of one that no longer is are over.
        pub lifecycle_state: Lifecycle,
        /// The principal that it is, as the identity book has it. Only a verified source gives one.
        pub principal_id: Located<String>,
        /// Its roles, compared trimmed and without case.
        pub roles: Vec<Located<String>> = Vec::new(),
        /// The claims that it holds, compared exactly.
        pub claims: Vec<Located<String>> = Vec::new(),
    }
}
