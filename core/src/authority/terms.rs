//! The closed sets of names that events, identities and manifests share.
//!
//! Sources, connectors, account roles, event types and egress classes are open: an operator has own
//! ones, and they are compared as text.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::document::{Choice, choice};

choice! {
    /// How the source of an event was verified.
    pub enum VerificationMethod {
        /// An OAuth session of the account.
        OauthSession = "oauth_session",
        /// A signature over the webhook's body.
        WebhookSignature = "webhook_signature",
        /// A person at this machine.
        LocalCliAuth = "local_cli_auth",
        /// A session bound to a device.
        DeviceSession = "device_session",
        /// The kernel fetched it itself.
        ConnectorPoll = "connector_poll",
        /// The sender's Telegram id is the owner's.
        TelegramOwnerIdMatch = "telegram_owner_id_match",
        /// The owner chose it in the kernel's own interface.
        KernelUiSelection = "kernel_ui_selection",
        /// Not at all.
        None = "none",
    }
}

choice! {
    /// How private the data of an event is, from least to most; `unknown` counts as the most private.
    #[derive(PartialOrd, Ord)]
    pub enum DataClassification {
        /// Anyone may see it.
        Public = "public",
        /// For those who belong.
        Internal = "internal",
        /// For the owner.
        Private = "private",
        /// Not classified.
        Unknown = "unknown",
    }
}

choice! {
    /// The kind of business that an event belongs to.
    pub enum Lane {
        /// The owner steers the system.
        OwnerControl = "owner_control",
        /// Mail and messages with others.
        ExternalCommunication = "external_communication",
        /// Documents.
        ContentDocument = "content_document",
        /// Running systems.
        SystemOperations = "system_operations",
        /// Timers.
        ScheduledInternal = "scheduled_internal",
        /// Software.
        Development = "development",
        /// Business processes.
        BusinessWorkflow = "business_workflow",
        /// The kernel itself.
        Internal = "internal",
    }
}

choice! {
    /// What is known of the channel an event came by. Compared for equality only: no trust includes
    /// another.
    pub enum ChannelTrust {
        /// A device of the owner.
        OwnerDevice = "owner_device",
        /// A channel proven to be the owner's.
        VerifiedOwnerChannel = "verified_owner_channel",
        /// A contact whose channel is proven.
        VerifiedContact = "verified_contact",
        /// A contact whose channel is not proven.
        KnownContact = "known_contact",
        /// A member of the workspace.
        WorkspaceMember = "workspace_member",
        /// Nothing is known.
        Unknown = "unknown",
        /// Known not to be trusted.
        Untrusted = "untrusted",
    }
}

choice! {
    /// How an event came about.
    pub enum InteractionMode {
        /// The owner wrote.
        OwnerMessage = "owner_message",
        /// The owner selected something.
        UserSelected = "user_selected",
        /// Somebody wrote.
        InboundMessage = "inbound_message",
        /// A timer fired.
        Scheduled = "scheduled",
        /// A system called.
        SystemHook = "system_hook",
    }
}

choice! {
    /// What an event is about.
    pub enum TargetRefKind {
        /// A thread of mails.
        EmailThread = "email_thread",
        /// A conversation.
        Conversation = "conversation",
        /// A project.
        Project = "project",
        /// A deployment.
        Deployment = "deployment",
        /// A place for a secret.
        SecretSlot = "secret_slot",
        /// Nothing.
        None = "none",
    }
}

choice! {
    /// What a person is to the owner.
    pub enum Relationship {
        /// Husband or wife.
        Spouse = "spouse",
        /// Works with the owner.
        Colleague = "colleague",
        /// Buys from the owner.
        Client = "client",
        /// Sells to the owner.
        Vendor = "vendor",
        /// The owner.
        Owner = "owner",
        /// Of the owner's family.
        Family = "family",
        /// Known, but not what.
        Unknown = "unknown",
    }
}

choice! {
    /// What a person was recognised by.
    pub enum IdentifierType {
        /// The numeric Telegram user id (the actor hint's `channel_user_id`).
        TelegramUserId = "telegram_user_id",
        /// A mail address.
        Email = "email",
        /// A telephone number.
        Phone = "phone",
        /// A handle.
        Handle = "handle",
        /// A device id.
        Device = "device",
        /// Nothing.
        None = "none",
    }
}

choice! {
    /// Where a manifest stands between proposal and retirement. Only `active` takes part.
    pub enum Lifecycle {
        /// Somebody wants it.
        Proposed = "proposed",
        /// It is well formed.
        Validated = "validated",
        /// A person must look at it.
        ReviewRequired = "review_required",
        /// A person accepted it.
        Approved = "approved",
        /// It takes part.
        Active = "active",
        /// It was stopped.
        Quarantined = "quarantined",
        /// It is over.
        Retired = "retired",
    }
}

choice! {
    /// What a route does with an event.
    pub enum RouteEffect {
        /// Lets it in.
        Allow = "allow",
        /// Turns it away, whatever other routes say.
        Deny = "deny",
    }
}

choice! {
    /// How long an agent lives.
    pub enum Persistence {
        /// Across tasks.
        Persistent = "persistent",
        /// For one task.
        Ephemeral = "ephemeral",
    }
}

choice! {
    /// Where a model runs.
    pub enum Provider {
        /// On the operator's own machines.
        Local = "local",
        /// OpenAI.
        Openai = "openai",
        /// Anthropic.
        Anthropic = "anthropic",
    }
}

choice! {
    /// How much a step is to be thought about.
    pub enum ReasoningTier {
        /// Little.
        Low = "low",
        /// As usual.
        Standard = "standard",
        /// Much.
        High = "high",
    }
}

choice! {
    /// Who does a step.
    pub enum StepKind {
        /// A model.
        Agentic = "agentic",
        /// Code.
        Deterministic = "deterministic",
    }
}

choice! {
    /// Whether a state waits for a person.
    pub enum StateApproval {
        /// No.
        None = "none",
        /// Yes.
        Required = "required",
    }
}

/// The terms that also stand in events and identities, which are JSON.
macro_rules! serde_by_name {
    ($($term:ty),+ $(,)?) => {$(
        impl Serialize for $term {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl JsonSchema for $term {
            fn schema_name() -> Cow<'static, str> {
                stringify!($term).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let names: Vec<_> = Self::ALL.iter().map(|(name, _)| *name).collect();
                json_schema!({"type": "string", "enum": names})
            }
        }

        impl<'de> Deserialize<'de> for $term {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let name = Cow::<'de, str>::deserialize(deserializer)?;
                Self::from_name(&name).ok_or_else(|| {
                    serde::de::Error::custom(format_args!(
                        "unknown name `{name}`, expected one of {}",
                        Self::names().join(", "),
                    ))
                })
            }
        }
    )+};
}

serde_by_name!(
    VerificationMethod,
    DataClassification,
    Lane,
    ChannelTrust,
    InteractionMode,
    TargetRefKind,
    Relationship,
    IdentifierType,
    Lifecycle,
);
