//! Route resolution: one event, one route, or none.

use super::event::{Event, Identity};
use super::manifest::{ActorMatch, Route, RouteMatch};
use super::terms::{Lifecycle, Relationship, RouteEffect};

/// What became of an event among the routes. Anything but [`Resolution::Route`] grants nothing.
#[derive(Debug, Clone, PartialEq)]
pub enum Resolution<'a> {
    /// The one route.
    Route(&'a Route),
    /// No route lets the event in.
    Denied {
        /// Why.
        reason: RouteDenial,
    },
    /// Several routes match and nothing decides between them.
    Ambiguous {
        /// Their ids, sorted, each once.
        candidates: Vec<String>,
    },
}

/// Why no route lets an event in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RouteDenial {
    /// Nothing matches.
    #[error("no active route matched the event")]
    NoMatch,
    /// A route turns the event away.
    #[error("route {route} explicitly denies this event")]
    Explicit {
        /// The first such route, in the order given.
        route: String,
    },
}

/// Chooses the route of an event: deny beats all, then priority, then the number of matched fields.
///
/// The order of `routes` matters only for which deny route is named.
pub fn resolve_route<'a>(
    event: &Event,
    identity: &Identity,
    relationship: Option<Relationship>,
    routes: impl IntoIterator<Item = &'a Route>,
) -> Resolution<'a> {
    let mut candidates: Vec<&Route> = routes
        .into_iter()
        .filter(|route| route.lifecycle_state == Lifecycle::Active)
        .filter(|route| matches(&route.when, event, identity, relationship))
        .collect();
    if let Some(route) = candidates
        .iter()
        .find(|route| route.effect == RouteEffect::Deny)
    {
        let route = route.id.to_string();
        return Resolution::Denied {
            reason: RouteDenial::Explicit { route },
        };
    }
    if let Some(highest) = candidates.iter().filter_map(|route| route.priority).max() {
        candidates.retain(|route| route.priority == Some(highest));
    }
    let most = candidates
        .iter()
        .map(|route| specificity(&route.when))
        .max();
    candidates.retain(|route| Some(specificity(&route.when)) == most);
    match candidates.as_slice() {
        [] => Resolution::Denied {
            reason: RouteDenial::NoMatch,
        },
        [route] => Resolution::Route(route),
        several => {
            let mut ids: Vec<String> = several.iter().map(|route| route.id.to_string()).collect();
            ids.sort();
            ids.dedup();
            Resolution::Ambiguous { candidates: ids }
        }
    }
}

fn matches(
    when: &RouteMatch,
    event: &Event,
    identity: &Identity,
    relationship: Option<Relationship>,
) -> bool {
    let RouteMatch {
        source,
        event_type,
        verified_source,
        lane,
        connector,
        account_role,
        channel_account,
        actor,
    } = when;
    equals(source, &event.source)
        && equals(event_type, &event.event_type)
        && equals(verified_source, &event.verified_source)
        && equals(lane, &event.lane)
        && (connector.is_none() || *connector == event.connector)
        && (account_role.is_none() || *account_role == event.account_role)
        && equals(channel_account, &event.channel_account)
        && actor
            .as_ref()
            .is_none_or(|actor| actor_matches(actor, identity, relationship))
}

fn actor_matches(
    actor: &ActorMatch,
    identity: &Identity,
    relationship: Option<Relationship>,
) -> bool {
    let ActorMatch {
        relationship: wanted,
        channel_trust,
        identity_confidence_min,
    } = actor;
    (wanted.is_none() || *wanted == relationship)
        && equals(channel_trust, &identity.channel_trust)
        // Not `confidence < min`: a confidence that is no number must fail.
        && identity_confidence_min.is_none_or(|min| identity.confidence >= *min)
}

fn equals<T: PartialEq>(wanted: &Option<T>, given: &T) -> bool {
    wanted.as_ref().is_none_or(|wanted| wanted == given)
}

/// How many fields a route asks for.
fn specificity(when: &RouteMatch) -> usize {
    let RouteMatch {
        source,
        event_type,
        verified_source,
        lane,
        connector,
        account_role,
        channel_account,
        actor,
    } = when;
    let of_event = [
        source.is_some(),
        event_type.is_some(),
        verified_source.is_some(),
        lane.is_some(),
        connector.is_some(),
        account_role.is_some(),
        channel_account.is_some(),
    ];
    let of_actor = actor.as_ref().map_or([false; 3], |actor| {
        [
            actor.relationship.is_some(),
            actor.channel_trust.is_some(),
            actor.identity_confidence_min.is_some(),
        ]
    });
    of_event
        .into_iter()
        .chain(of_actor)
        .filter(|given| *given)
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authority::sample;

    /// An active route with this id and these further lines.
    fn route(id: &str, lines: &str) -> Route {
        sample::manifest(&format!(
            "id: {id}\nschema_version: 1\nlifecycle_state: active\n{lines}\n"
        ))
    }

    fn resolve(routes: &[Route]) -> Resolution<'_> {
        resolve_route(
            &sample::event(),
            &sample::identity(),
            Some(Relationship::Owner),
            routes,
        )
    }

    fn chosen(routes: &[Route]) -> Option<&str> {
        match resolve(routes) {
            Resolution::Route(route) => Some(&route.id),
            _ => None,
        }
    }

    #[test]
    fn no_route_no_authority() {
        assert_eq!(
            resolve(&[]),
            Resolution::Denied {
                reason: RouteDenial::NoMatch
            }
        );
    }

    #[test]
    fn an_empty_condition_matches_every_event() {
        assert_eq!(chosen(&[route("any", "")]), Some("any"));
    }

    #[test]
    fn only_active_routes_take_part_not_even_a_deny_route_does_otherwise() {
        for state in [
            "proposed",
            "validated",
            "review_required",
            "approved",
            "quarantined",
            "retired",
        ] {
            let mut deny = route("deny", "effect: deny");
            deny.lifecycle_state = sample::manifest(state);
            assert_eq!(chosen(&[route("any", ""), deny]), Some("any"), "{state}");
        }
    }

    #[test]
    fn a_deny_route_beats_every_priority_and_the_first_one_is_named() {
        let routes = [
            route("high", "priority: 100\nwhen: {source: telegram}"),
            route("no_2", "effect: deny"),
            route("no_1", "effect: deny\npriority: 9"),
        ];
        let reason = RouteDenial::Explicit {
            route: "no_2".to_owned(),
        };
        assert_eq!(
            reason.to_string(),
            "route no_2 explicitly denies this event"
        );
        assert_eq!(resolve(&routes), Resolution::Denied { reason });
    }

    #[test]
    fn a_confidence_equal_to_the_least_passes_and_a_hair_less_does_not() {
        let routes = [route(
            "sure",
            "when: {actor: {identity_confidence_min: 0.95}}",
        )];
        let with = |confidence| {
            let identity = Identity {
                confidence,
                ..sample::identity()
            };
            resolve_route(&sample::event(), &identity, None, &routes)
        };
        assert_eq!(with(0.95), Resolution::Route(&routes[0]));
        assert_eq!(
            with(0.95f64.next_down()),
            Resolution::Denied {
                reason: RouteDenial::NoMatch
            }
        );
        assert_eq!(
            with(f64::NAN),
            Resolution::Denied {
                reason: RouteDenial::NoMatch
            }
        );
    }

    #[test]
    fn a_route_without_priority_gives_way_even_to_zero() {
        let routes = [
            route("none", "when: {source: telegram}"),
            route("zero", "priority: 0"),
        ];
        assert_eq!(chosen(&routes), Some("zero"));
    }

    #[test]
    fn without_any_priority_the_most_specific_route_wins() {
        let routes = [
            route("one", "when: {source: telegram}"),
            route(
                "two",
                "when: {source: telegram, actor: {relationship: owner}}",
            ),
        ];
        assert_eq!(chosen(&routes), Some("two"));
    }

    #[test]
    fn fields_of_the_actor_count_like_fields_of_the_event() {
        let routes = [
            route("event", "when: {source: telegram, lane: owner_control}"),
            route(
                "actor",
                "when: {actor: {relationship: owner, channel_trust: verified_owner_channel}}",
            ),
        ];
        let candidates = vec!["actor".to_owned(), "event".to_owned()];
        assert_eq!(resolve(&routes), Resolution::Ambiguous { candidates });
    }

    #[test]
    fn a_tie_names_each_id_once_and_two_routes_of_one_id_are_still_a_tie() {
        let routes = [route("b", ""), route("a", ""), route("b", "")];
        let candidates = vec!["a".to_owned(), "b".to_owned()];
        assert_eq!(resolve(&routes), Resolution::Ambiguous { candidates });
        let routes = [route("b", ""), route("b", "")];
        assert_eq!(
            resolve(&routes),
            Resolution::Ambiguous {
                candidates: vec!["b".to_owned()]
            }
        );
    }

    #[test]
    fn verified_source_false_matches_unverified_events_only() {
        let routes = [route("stranger", "when: {verified_source: false}")];
        assert_eq!(chosen(&routes), None);
        let event = Event {
            verified_source: false,
            ..sample::event()
        };
        // The identity's own flag is composition's business, not the route's.
        let found = resolve_route(&event, &sample::identity(), None, &routes);
        assert_eq!(found, Resolution::Route(&routes[0]));
    }

    #[test]
    fn an_unknown_relationship_is_no_wildcard() {
        let routes = [route("owner", "when: {actor: {relationship: owner}}")];
        for given in [
            None,
            Some(Relationship::Unknown),
            Some(Relationship::Family),
        ] {
            let found = resolve_route(&sample::event(), &sample::identity(), given, &routes);
            assert_eq!(
                found,
                Resolution::Denied {
                    reason: RouteDenial::NoMatch
                },
                "{given:?}"
            );
        }
        assert_eq!(chosen(&routes), Some("owner"));
    }

    #[test]
    fn the_trust_of_the_identity_counts_and_not_the_event_s() {
        let routes = [route(
            "device",
            "when: {actor: {channel_trust: owner_device}}",
        )];
        let mut event = sample::event();
        event.trust_context.channel_trust = crate::authority::terms::ChannelTrust::OwnerDevice;
        let found = resolve_route(&event, &sample::identity(), None, &routes);
        assert_eq!(
            found,
            Resolution::Denied {
                reason: RouteDenial::NoMatch
            }
        );
    }

    #[test]
    fn each_field_of_the_event_must_be_equal() {
        for (field, same, other) in [
            ("source", "telegram", "Telegram"),
            ("event_type", "telegram.owner.message", "telegram.owner"),
            ("verified_source", "true", "false"),
            ("lane", "owner_control", "internal"),
            ("connector", "telegram_owner_bot", "other"),
            ("account_role", "", "owner_mailbox"),
            ("channel_account", "bot", "bot "),
        ] {
            let with = |value: &str| {
                [route(
                    "it",
                    &format!("when: {{{field}: \"{value}\"}}")
                        .replace("\"true\"", "true")
                        .replace("\"false\"", "false"),
                )]
            };
            if !same.is_empty() {
                assert_eq!(chosen(&with(same)), Some("it"), "{field}");
            }
            assert_eq!(chosen(&with(other)), None, "{field}");
        }
    }
}
