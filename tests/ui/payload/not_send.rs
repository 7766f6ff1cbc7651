use actum::{ActionError, action};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Ask {
    name: std::cell::Cell<u8>,
    list: Shared,
}

struct Shared(std::rc::Rc<()>);

impl<'de> serde::Deserialize<'de> for Shared {
    fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Ok(Self(std::rc::Rc::new(())))
    }
}

impl schemars::JsonSchema for Shared {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Shared".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::Schema::default()
    }
}

#[action(id = "mail.read", description = "Read the mail.")]
async fn read(ask: Ask) -> Result<(), ActionError> {
    let _ = (ask.name, ask.list.0);
    Ok(())
}

fn main() {}
