//! Manifests that stand in for files.

use super::*;

fn artifact(kind: ManifestKind, id: &str, text: &str) -> Artifact {
    Artifact {
        kind,
        id: id.to_owned(),
        version: 3,
        text: text.trim_start().to_owned(),
    }
}

/// An agent in the place of the one that the files have.
fn agent(more: &str) -> Artifact {
    let text = sample::AGENT.replace("purpose: Help.", "purpose: Help more.");
    artifact(ManifestKind::Agent, "helper", &(text + more))
}

fn faults_with(artifacts: &[Artifact]) -> Vec<String> {
    let faults = ManifestSet::read_with(&files(), artifacts).unwrap_err();
    faults.as_slice().iter().map(ToString::to_string).collect()
}

#[test]
fn an_artifact_takes_the_place_of_the_file_of_its_kind_and_id() {
    let plain = ManifestSet::read(&files()).unwrap();
    let set = ManifestSet::read_with(&files(), &[agent("")]).unwrap();
    assert_eq!(set.agents().count(), 1);
    assert_eq!(set.agent("helper").unwrap().purpose, "Help more.");
    let named = set.file_of(ManifestKind::Agent, "helper");
    assert_eq!(named, Some("artifact agents/helper v3"));
    assert_ne!(set.revision(), plain.revision());
    // One of another kind or id stands beside the files.
    let pack = sample::PACK.replace("id: basic", "id: helper");
    let beside = artifact(ManifestKind::CapabilityPack, "helper", &pack);
    let set = ManifestSet::read_with(&files(), &[beside]).unwrap();
    assert_eq!((set.agents().count(), set.packs().count()), (1, 2));
    assert_eq!(set.agent("helper").unwrap().purpose, "Help.");
}

#[test]
fn its_faults_name_it_as_those_of_a_file_name_the_file() {
    let told = faults_with(&[agent("personality: rude\n")]);
    let [told] = &told[..] else {
        panic!("{told:?}");
    };
    assert!(
        told.starts_with("artifact agents/helper v3:14:1: "),
        "{told}"
    );
    let route = sample::ROUTE.replace("agent: helper", "agent: nobody");
    let told = faults_with(&[artifact(ManifestKind::Route, "owner", &route)]);
    let place = "artifact routes/owner v3:4:8: field `agent`: ";
    assert!(told.iter().any(|one| one.starts_with(place)), "{told:?}");
}

#[test]
fn a_file_whose_place_is_taken_is_held_to_its_own_text() {
    let mut files = files();
    let file = files.get_mut("agents/helper.yaml").unwrap();
    file.push_str("personality: rude\n");
    let faults = ManifestSet::read_with(&files, &[agent("")]).unwrap_err();
    let told = faults.to_string();
    assert!(told.starts_with("agents/helper.yaml:14:1: "), "{told}");
}

#[test]
fn a_manifest_is_read_by_itself_for_its_id_and_state() {
    let head = ManifestKind::Agent.read_head(&agent("").text).unwrap();
    assert_eq!(
        (head.id.as_str(), head.lifecycle_state),
        ("helper", Lifecycle::Active)
    );
    let faults = ManifestKind::CapabilityPack.read_head(sample::AGENT);
    let told = faults.unwrap_err().to_string();
    assert!(told.starts_with("manifest:"), "{told}");
}
