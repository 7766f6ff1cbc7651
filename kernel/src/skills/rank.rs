//! Which skills fit a task, by words alone: the same words, the same answer.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::Skill;

/// The shortest word that counts.
const SHORTEST: usize = 3;

/// The skills that have any word of the task, best first.
pub(super) fn ranked<'a>(skills: impl Iterator<Item = &'a Skill>, task: &str) -> Vec<&'a Skill> {
    let wanted = words([task]);
    let mut found: Vec<_> = skills
        .map(|skill| {
            let head = [&skill.name, &skill.description]
                .into_iter()
                .chain(&skill.tags);
            let head = words(head.map(String::as_str));
            let body = words([skill.body.as_str()]);
            let common = |words: BTreeSet<String>| wanted.intersection(&words).count();
            (common(head), common(body), skill)
        })
        .filter(|(head, body, _)| head + body > 0)
        .collect();
    found.sort_by_key(|(head, body, skill)| (Reverse(*head), Reverse(*body), &skill.name));
    found.into_iter().map(|(_, _, skill)| skill).collect()
}

fn words<'a>(texts: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
    let each = texts
        .into_iter()
        .flat_map(|text| text.split(|c: char| !c.is_alphanumeric()));
    each.filter(|word| word.chars().count() >= SHORTEST)
        .map(str::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(name: &str, description: &str, body: &str) -> Skill {
        Skill {
            name: name.to_owned(),
            description: description.to_owned(),
            scopes: BTreeSet::new(),
            tags: vec!["house".to_owned()],
            body: body.to_owned(),
        }
    }

    #[test]
    fn the_head_counts_before_the_body_and_the_name_decides_between_equals() {
        let skills = [
            skill("zebra", "Letters to plumbers.", "nothing"),
            skill(
                "apple",
                "Letters.",
                "plumbers plumbers, answer, reply, letters",
            ),
            skill("mango", "Letters!", "Answer plumbers; reply. LETTERS"),
            skill("other", "Unrelated.", "Unrelated."),
        ];
        let found = ranked(skills.iter(), "Answer the PLUMBERS' letters, a reply");
        let names: Vec<_> = found.iter().map(|skill| skill.name.as_str()).collect();
        assert_eq!(names, ["zebra", "apple", "mango"]);
        let by_tag = ranked(skills.iter(), "house");
        assert_eq!(by_tag.len(), 4);
        assert!(ranked(skills.iter(), "to at is").is_empty());
    }
}
