use super::*;

pub(crate) fn id(text: &str) -> ActionId {
    ActionId::parse(text).unwrap()
}

pub(crate) const KEY: SealKey = SealKey::new([7; 32]);

/// A grant with nothing in it, valid for an hour from the epoch.
pub(crate) fn empty() -> TaskGrant {
    TaskGrant {
        id: Ulid(1),
        task_id: Ulid(2),
        event_id: Ulid(3),
        principal: Principal::Anonymous("visitor".into()),
        purpose: "Test.".into(),
        allowed_actions: BTreeSet::new(),
        approval_required_actions: BTreeSet::new(),
        denied_actions: BTreeSet::new(),
        allowed_egress_classes: BTreeSet::new(),
        output_channels: BTreeSet::new(),
        selection_tokens: BTreeMap::new(),
        bound_arguments: Vec::new(),
        mandate: None,
        limits: Limits {
            max_model_calls: 1,
            max_artifacts: 1,
            max_runtime_seconds: 3600,
        },
        mode: GrantMode::Live,
        reply_to: None,
        issued_at: Timestamp::UNIX_EPOCH,
        expires_at: Timestamp::from_second(3600).unwrap(),
        authority_sources: vec![],
        policy_revision: Digest::of_bytes(b""),
        catalog_digest: Digest::of_bytes(b""),
    }
}

pub(crate) fn verified(grant: TaskGrant, steps: Vec<Attenuation>) -> VerifiedGrant {
    steps
        .into_iter()
        .fold(SealedGrant::seal(grant, &KEY).unwrap(), |sealed, step| {
            sealed.attenuate(step).unwrap()
        })
        .verify(&KEY)
        .unwrap()
}

#[test]
fn a_changed_grant_is_refused_wherever_it_was_changed() {
    let sealed = SealedGrant::seal(
        TaskGrant {
            allowed_actions: [id("a")].into(),
            ..empty()
        },
        &KEY,
    )
    .unwrap()
    .attenuate(vec![Caveat::ActionAllowlist {
        actions: [id("a")].into(),
    }])
    .unwrap();
    assert!(sealed.clone().verify(&KEY).is_ok());

    let mut widened = sealed.clone();
    widened.grant.allowed_actions.insert(id("b"));
    assert_eq!(widened.verify(&KEY).unwrap_err(), BrokenSeal);

    let mut stripped = sealed.clone();
    stripped.attenuations.clear();
    assert_eq!(stripped.verify(&KEY).unwrap_err(), BrokenSeal);

    let mut loosened = sealed.clone();
    loosened.attenuations[0] = vec![];
    assert_eq!(loosened.verify(&KEY).unwrap_err(), BrokenSeal);

    let mut longer = sealed.clone();
    longer.grant.expires_at = Timestamp::MAX;
    assert_eq!(longer.verify(&KEY).unwrap_err(), BrokenSeal);

    assert_eq!(
        sealed.verify(&SealKey::new([8; 32])).unwrap_err(),
        BrokenSeal
    );
}

#[test]
fn a_sealed_grant_survives_its_stored_form_and_unknown_caveats_do_not_parse() {
    let sealed = SealedGrant::seal(empty(), &KEY)
        .unwrap()
        .attenuate(vec![Caveat::ExpiresBefore {
            at: Timestamp::from_second(5).unwrap(),
        }])
        .unwrap();
    let stored = serde_json::to_string(&sealed).unwrap();
    let back: SealedGrant = serde_json::from_str(&stored).unwrap();
    assert_eq!(back, sealed);
    assert_eq!(
        back.verify(&KEY).unwrap().expires_at(),
        Timestamp::from_second(5).unwrap()
    );
    let unknown = stored.replace("expires_before", "expires_sometime");
    assert!(serde_json::from_str::<SealedGrant>(&unknown).is_err());
}

#[test]
fn a_caveat_can_take_selection_tokens_away_and_give_none() {
    let grant = TaskGrant {
        selection_tokens: [(Ulid(7), "t".to_owned()), (Ulid(8), "t".to_owned())].into(),
        ..empty()
    };
    let only = |ids: &[u128]| Caveat::SelectionTokenAllowlist {
        tokens: ids.iter().map(|id| Ulid(*id)).collect(),
    };
    let live = verified(grant.clone(), vec![vec![only(&[8, 9])]]);
    assert_eq!(
        live.selection_tokens().keys().collect::<Vec<_>>(),
        [&Ulid(8)]
    );
    assert!(
        verified(grant, vec![vec![only(&[])]])
            .selection_tokens()
            .is_empty()
    );
}

#[test]
fn caveats_only_take_away() {
    let grant = TaskGrant {
        allowed_actions: [id("a"), id("b")].into(),
        output_channels: ["x".to_owned(), "y".to_owned()].into(),
        ..empty()
    };
    let only = |ids: &[&str]| Caveat::ActionAllowlist {
        actions: ids.iter().map(|i| id(i)).collect(),
    };
    let live = verified(
        grant,
        vec![
            vec![
                only(&["a", "b", "c"]),
                Caveat::OutputChannelAllowlist {
                    channels: ["y".to_owned(), "z".to_owned()].into(),
                },
            ],
            vec![
                only(&["b", "c"]),
                Caveat::ExpiresBefore { at: Timestamp::MAX },
            ],
        ],
    );
    let left: Vec<_> = live.listed_actions().collect();
    assert_eq!(left, [(&id("b"), Listed::Allowed)]);
    assert!(!live.has_channel("x") && live.has_channel("y") && !live.has_channel("z"));
    assert_eq!(live.expires_at(), Timestamp::from_second(3600).unwrap());
}
