use actum::action;

struct Ask;

#[action(
    id = "Mail",
    description = "",
    title = "one\ntwo",
    approval_required = true,
    read_olny,
    egress(chanels = ["owner"]),
    selection_token = "",
)]
async fn handler<T>(_mail: &mut String, _ask: Ask, _more: u8) {}

fn main() {}
