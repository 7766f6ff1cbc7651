//! Identification: who sent an event.
//!
//! Identity is never authority. A match needs an event whose source was verified *and* an identifier
//! that this very source vouches for; everything else that an event says about its sender is a claim,
//! is worth nothing, and leaves a warning behind.

use std::collections::BTreeSet;

use ulid::Ulid;

use super::document::{Located, record};
use super::event::{ActorHint, Event, Identity};
use super::terms::{ChannelTrust, IdentifierType, Relationship, VerificationMethod};

record! {
    /// A person the owner knows.
    pub struct IdentityEntry {
        /// The id of the entry.
        pub identity_id: Ulid,
        /// The principal that grants for this person are issued to.
        pub principal_id: Ulid,
        /// What the person is to the owner.
        pub relationship: Relationship,
        /// What the person is recognised by.
        pub identifiers: Vec<KnownIdentifier>,
    }
}

record! {
    /// Something that a person is recognised by.
    pub struct KnownIdentifier {
        /// Which kind; `none` never matches.
        pub kind: Located<IdentifierType>,
        /// The identifier, compared exactly: no trimming, no change of case.
        pub value: String,
        /// The sources whose verified events vouch for it, such as `telegram`. A verified Telegram
        /// event vouches for its Telegram user id, and not for a mail address in the sender's profile.
        pub verified_by: Vec<String>,
    }
}

/// The people the owner knows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct IdentityBook {
    entries: Vec<IdentityEntry>,
}

impl IdentityBook {
    /// A book of these entries.
    #[must_use]
    pub fn new(entries: Vec<IdentityEntry>) -> Self {
        Self { entries }
    }

    /// The entries.
    #[must_use]
    pub fn entries(&self) -> &[IdentityEntry] {
        &self.entries
    }

    /// The entries that have this identifier, whoever vouches for it.
    fn claimed(&self, kind: IdentifierType, value: &str) -> impl Iterator<Item = &IdentityEntry> {
        self.entries.iter().filter(move |entry| {
            entry
                .identifiers
                .iter()
                .any(|known| known.kind.value == kind && known.value == value)
        })
    }

    /// The entries that have this identifier with `source` vouching for it.
    fn vouched(
        &self,
        kind: IdentifierType,
        value: &str,
        source: &str,
    ) -> impl Iterator<Item = &IdentityEntry> {
        self.entries.iter().filter(move |entry| {
            entry.identifiers.iter().any(|known| {
                known.kind.value == kind
                    && known.value == value
                    && known.verified_by.iter().any(|by| by == source)
            })
        })
    }
}

/// Makes out who sent an event, and what that person is to the owner.
///
/// Without a match the confidence is 0 and the relationship `None`. Without a verified source the
/// channel's trust falls to [`ChannelTrust::Unknown`], whatever the event says of it.
#[must_use]
pub fn identify(event: &Event, book: &IdentityBook) -> (Identity, Option<Relationship>) {
    let verified = event.verified_source && event.verification_method != VerificationMethod::None;
    let (found, warning) = if verified {
        look_up(event, book)
    } else {
        (None, unverified_claim(event, book))
    };
    let identity = Identity {
        event_id: event.id,
        matched_identity_id: found.map(|(entry, _)| entry.identity_id),
        principal_id: found.map(|(entry, _)| entry.principal_id),
        confidence: if found.is_some() { 1.0 } else { 0.0 },
        matched_identifier_type: found.map_or(IdentifierType::None, |(_, kind)| kind),
        channel_trust: match event.trust_context.channel_trust {
            trust if verified => trust,
            ChannelTrust::Untrusted => ChannelTrust::Untrusted,
            _ => ChannelTrust::Unknown,
        },
        source_verified: verified,
        authority_warning: warning,
        schema_version: 1,
    };
    (identity, found.map(|(entry, _)| entry.relationship))
}

type Found<'b> = (&'b IdentityEntry, IdentifierType);

/// The one entry that the vouched identifiers of a verified event lead to.
fn look_up<'b>(event: &Event, book: &'b IdentityBook) -> (Option<Found<'b>>, Option<String>) {
    let found: Vec<Found<'b>> = claims(&event.actor_hint)
        .flat_map(|(kind, value)| {
            book.vouched(kind, value, &event.source)
                .map(move |entry| (entry, kind))
        })
        .collect();
    let identities: BTreeSet<Ulid> = found.iter().map(|(entry, _)| entry.identity_id).collect();
    match (found.first(), identities.len()) {
        (Some(first), 1) => (Some(*first), None),
        (Some(_), several) => (
            None,
            Some(format!(
                "the event's identifiers lead to {several} identities; none was taken"
            )),
        ),
        (None, _) => {
            let known = claims(&event.actor_hint)
                .find(|(kind, value)| book.claimed(*kind, value).next().is_some());
            let warning = known.map(|(kind, _)| {
                format!(
                    "source {} does not vouch for the claimed {kind}",
                    event.source
                )
            });
            (None, warning)
        }
    }
}

/// The warning for what an unverified event claims, if it claims anything.
fn unverified_claim(event: &Event, book: &IdentityBook) -> Option<String> {
    let is_known =
        |(kind, value): &(IdentifierType, &str)| book.claimed(*kind, value).next().is_some();
    let known = claims(&event.actor_hint).find(is_known);
    let (kind, _) = known.or_else(|| claims(&event.actor_hint).next())?;
    let whose = if known.is_some() {
        "a known"
    } else {
        "an unknown"
    };
    Some(format!(
        "{whose} {kind} is claimed, but the source is not verified"
    ))
}

/// The identifiers that an event claims, in a fixed order.
fn claims(hint: &ActorHint) -> impl Iterator<Item = (IdentifierType, &str)> {
    [
        (IdentifierType::TelegramUserId, &hint.channel_user_id),
        (IdentifierType::Email, &hint.email),
        (IdentifierType::Phone, &hint.phone),
        (IdentifierType::Handle, &hint.handle),
        (IdentifierType::Device, &hint.device_id),
    ]
    .into_iter()
    .filter_map(|(kind, value)| value.as_deref().map(|value| (kind, value)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authority::sample;

    fn book() -> IdentityBook {
        let entries: Vec<IdentityEntry> = sample::manifest(
            "
- identity_id: 01JAAAAAAAAAAAAAAAAAAAAAAA
  principal_id: 01JBBBBBBBBBBBBBBBBBBBBBBB
  relationship: owner
  identifiers:
    - {kind: telegram_user_id, value: '42', verified_by: [telegram]}
    - {kind: email, value: me@example.org, verified_by: [gmail]}
- identity_id: 01JCCCCCCCCCCCCCCCCCCCCCCC
  principal_id: 01JDDDDDDDDDDDDDDDDDDDDDDD
  relationship: client
  identifiers:
    - {kind: telegram_user_id, value: '7', verified_by: [telegram]}
    - {kind: handle, value: '@client', verified_by: [telegram]}
",
        );
        IdentityBook::new(entries)
    }

    /// The sample event with another claim about its sender.
    fn claiming(hint: ActorHint) -> Event {
        Event {
            actor_hint: hint,
            ..sample::event()
        }
    }

    fn assert_nobody(event: &Event) -> Identity {
        let (identity, relationship) = identify(event, &book());
        assert_eq!(relationship, None);
        assert_eq!(
            (identity.matched_identity_id, identity.principal_id),
            (None, None)
        );
        assert!(identity.confidence < f64::EPSILON);
        assert_eq!(identity.matched_identifier_type, IdentifierType::None);
        identity
    }

    #[test]
    fn a_verified_identifier_leads_to_its_person() {
        let (identity, relationship) = identify(&sample::event(), &book());
        assert_eq!(relationship, Some(Relationship::Owner));
        assert_eq!(
            identity.principal_id.unwrap().to_string(),
            "01JBBBBBBBBBBBBBBBBBBBBBBB"
        );
        assert_eq!(
            identity.matched_identifier_type,
            IdentifierType::TelegramUserId
        );
        assert_eq!(identity.channel_trust, ChannelTrust::VerifiedOwnerChannel);
        assert!(identity.confidence >= 1.0 && identity.source_verified);
        assert_eq!(identity.authority_warning, None);
    }

    #[test]
    fn a_claimed_owner_id_without_a_verified_source_gets_nothing_from_it() {
        let unverified = Event {
            verified_source: false,
            ..sample::event()
        };
        let by_nothing = Event {
            verification_method: VerificationMethod::None,
            ..sample::event()
        };
        for event in [unverified, by_nothing] {
            let identity = assert_nobody(&event);
            assert!(!identity.source_verified);
            assert_eq!(identity.channel_trust, ChannelTrust::Unknown);
            let warning = identity.authority_warning.unwrap();
            assert_eq!(
                warning,
                "a known telegram_user_id is claimed, but the source is not verified"
            );
        }
    }

    #[test]
    fn a_source_vouches_for_its_own_identifiers_only() {
        let email = Some("me@example.org".to_owned());
        let identity = assert_nobody(&claiming(ActorHint {
            email: email.clone(),
            ..ActorHint::default()
        }));
        assert_eq!(
            identity.authority_warning.unwrap(),
            "source telegram does not vouch for the claimed email"
        );
        let stranger = ActorHint {
            channel_user_id: Some("666".to_owned()),
            email,
            ..ActorHint::default()
        };
        assert_nobody(&claiming(stranger));
    }

    #[test]
    fn two_identifiers_of_two_people_are_nobody() {
        let identity = assert_nobody(&claiming(ActorHint {
            channel_user_id: Some("42".to_owned()),
            handle: Some("@client".to_owned()),
            ..ActorHint::default()
        }));
        assert!(
            identity
                .authority_warning
                .unwrap()
                .contains("lead to 2 identities")
        );
    }

    #[test]
    fn two_identifiers_of_one_person_are_that_person() {
        let (_, relationship) = identify(
            &claiming(ActorHint {
                channel_user_id: Some("7".to_owned()),
                handle: Some("@client".to_owned()),
                ..ActorHint::default()
            }),
            &book(),
        );
        assert_eq!(relationship, Some(Relationship::Client));
    }

    #[test]
    fn identifiers_match_exactly() {
        for other in ["42 ", " 42", "042", "４２", ""] {
            assert_nobody(&claiming(ActorHint {
                channel_user_id: Some(other.to_owned()),
                ..ActorHint::default()
            }));
        }
        for handle in ["@Client", "client"] {
            assert_nobody(&claiming(ActorHint {
                handle: Some(handle.to_owned()),
                ..ActorHint::default()
            }));
        }
        // The right value in the wrong place is no match either.
        assert_nobody(&claiming(ActorHint {
            phone: Some("42".to_owned()),
            ..ActorHint::default()
        }));
    }

    #[test]
    fn an_event_that_claims_nothing_is_nobody_s_and_no_reason_to_warn() {
        let identity = assert_nobody(&claiming(ActorHint::default()));
        assert_eq!(identity.authority_warning, None);
    }
}
