//! The manifests that a grant was composed from, and what they say of an action.

use std::collections::BTreeMap;

use super::{Effect, Line, Place};
use crate::authority::document::Position;
use crate::authority::set::GLOBAL_POLICY;
use crate::authority::{ListKind, Listing, ManifestKind, ManifestSet, WordKind};

/// The manifests of one composition, as far as the set at hand has them.
///
/// A grant names its sources as [composition](crate::authority::compose()) writes them, such as `agent:helper:v1`.
#[derive(Debug)]
pub(super) struct Sources<'a> {
    set: Option<&'a ManifestSet>,
    ids: Vec<(ManifestKind, &'a str)>,
    by_action: BTreeMap<&'a str, Vec<Listing<'a>>>,
    /// The first entry of the policy's list of all that may be allowed; `None` where the policy has none.
    narrowing: Option<Place>,
}

/// Where a claim stands.
#[derive(Debug, Default)]
pub(super) struct ClaimPlaces {
    pub(super) actor: Vec<Place>,
    pub(super) scenario: Vec<Place>,
    pub(super) denied: Vec<Place>,
}

impl<'a> Sources<'a> {
    pub(super) fn of(set: Option<&'a ManifestSet>, sources: &'a [String]) -> Self {
        let ids: Vec<_> = sources.iter().filter_map(|source| read(source)).collect();
        let mut by_action: BTreeMap<&str, Vec<Listing<'_>>> = BTreeMap::new();
        let mut narrowing = None;
        let listings = set.into_iter().flat_map(ManifestSet::listings);
        for listing in listings.filter(|it| ids.contains(&(it.manifest, it.manifest_id))) {
            if is_narrowing(&listing) {
                narrowing.get_or_insert_with(|| place_of(&listing));
            }
            by_action.entry(listing.action).or_default().push(listing);
        }
        Self {
            set,
            ids,
            by_action,
            narrowing,
        }
    }

    /// The lines about an action; `offered` says whether claims would allow it too, so that a policy's list may
    /// take it away.
    pub(super) fn lines(&self, action: &str, offered: bool) -> Vec<Line> {
        let listed = self.by_action.get(action).map_or(&[][..], Vec::as_slice);
        let line = |at: Place, effect: Effect| Line {
            at,
            effect,
            decided: false,
        };
        let mut lines: Vec<Line> = listed
            .iter()
            .map(|listing| line(place_of(listing), effect_of(listing)))
            .collect();
        let has = |effect: Effect| lines.iter().any(|line| line.effect == effect);
        let is_narrowed = (offered || has(Effect::Allows)) && !has(Effect::Spares);
        if let (true, Some(narrowing)) = (is_narrowed, &self.narrowing) {
            lines.push(line(narrowing.clone(), Effect::Narrows));
        }
        lines
    }

    /// Who grants and who denies a claim.
    pub(super) fn claim(&self, claim: &str) -> ClaimPlaces {
        let mut places = ClaimPlaces::default();
        for word in self.words(WordKind::Claim).filter(|word| word.0 == claim) {
            let (_, manifest, place) = word;
            match (place.field, manifest) {
                ("denied_claims", _) => places.denied.push(place),
                (_, ManifestKind::Actor) => places.actor.push(place),
                (_, _) => places.scenario.push(place),
            }
        }
        places
    }

    /// Where the task's mode stands.
    pub(super) fn mode(&self) -> Vec<Place> {
        self.words(WordKind::Mode)
            .map(|(_, _, place)| place)
            .collect()
    }

    /// Where the actor's roles stand; the file where it has none.
    pub(super) fn roles(&self) -> Vec<Place> {
        let Some(file) = self.whole(ManifestKind::Actor, "roles") else {
            return Vec::new();
        };
        let id = self.id(ManifestKind::Actor);
        let actors = self.set.into_iter().flat_map(ManifestSet::actors);
        let roles = actors
            .filter(|actor| Some(actor.id.as_str()) == id)
            .flat_map(|actor| &actor.roles)
            .map(|role| place(&file.file, role.position, "roles"));
        let roles: Vec<_> = roles.collect();
        if roles.is_empty() { vec![file] } else { roles }
    }

    /// A field of a manifest of the composition, without a line.
    pub(super) fn whole(&self, kind: ManifestKind, field: &'static str) -> Option<Place> {
        let file = self.set?.file_of(kind, self.id(kind)?)?;
        Some(place(file, None, field))
    }

    fn id(&self, kind: ManifestKind) -> Option<&'a str> {
        let found = self.ids.iter().find(|(of, _)| *of == kind);
        found.map(|(_, id)| *id)
    }

    fn words(&self, kind: WordKind) -> impl Iterator<Item = (&'a str, ManifestKind, Place)> {
        let words = self.set.into_iter().flat_map(ManifestSet::words);
        words
            .filter(move |word| {
                word.kind == kind && self.ids.contains(&(word.manifest, word.manifest_id))
            })
            .map(|word| {
                let place = place(word.file, word.position, word.field);
                (word.text, word.manifest, place)
            })
    }
}

/// A source as composition writes it: kind, id, version.
fn read(source: &str) -> Option<(ManifestKind, &str)> {
    if source.starts_with("global_policy:") {
        return Some((ManifestKind::Policy, GLOBAL_POLICY));
    }
    let (kind, rest) = source.split_once(':')?;
    let kind = match kind {
        "route" => ManifestKind::Route,
        "agent" => ManifestKind::Agent,
        "workflow" => ManifestKind::Workflow,
        "capability_pack" => ManifestKind::CapabilityPack,
        "scenario" => ManifestKind::Scenario,
        "actor" => ManifestKind::Actor,
        _ => return None,
    };
    let (id, _version) = rest.rsplit_once(":v")?;
    Some((kind, id))
}

/// Whether it is an entry of a policy's list of all that may be allowed.
fn is_narrowing(listing: &Listing<'_>) -> bool {
    (listing.kind, listing.manifest) == (ListKind::Allow, ManifestKind::Policy)
}

fn effect_of(listing: &Listing<'_>) -> Effect {
    match listing.kind {
        ListKind::Allow if is_narrowing(listing) => Effect::Spares,
        ListKind::Allow => Effect::Allows,
        ListKind::Approval => Effect::AsksForApproval,
        ListKind::Deny => Effect::Denies,
        ListKind::Bound => Effect::Binds,
    }
}

fn place_of(listing: &Listing<'_>) -> Place {
    place(listing.file, listing.position, listing.field)
}

fn place(file: &str, position: Option<Position>, field: &'static str) -> Place {
    Place {
        file: file.to_owned(),
        line: position.map(|position| position.line),
        column: position.map(|position| position.column),
        field,
    }
}
