use actum::action;

#[action(id = "mail.read", description = "Read the mail.")]
async fn handler(mail: &String) -> &String {
    mail
}

fn main() {}
