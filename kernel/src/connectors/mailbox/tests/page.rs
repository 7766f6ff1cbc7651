//! HTML mails as readable text.

use super::text_of;

fn page(html: &str) -> String {
    text_of("Content-Type: text/html; charset=utf-8", html)
}

#[test]
fn scripts_styles_titles_and_comments_are_dropped() {
    assert_eq!(
        page(
            "<html><head><title>T</title><style>p{}</style></head><body>a\
             <script>if (1 < 2) { alert('x') }</script><!-- note --><template>t</template> b"
        ),
        "a b"
    );
}

#[test]
fn links_keep_their_text_and_address() {
    assert_eq!(
        page("See <a href=' https://example.org/a?b=1&amp;c=2 '>the <b>plan</b></a>."),
        "See the plan (https://example.org/a?b=1&c=2)."
    );
    assert_eq!(
        page("<a href=https://example.org/>https://example.org/</a>"),
        "https://example.org/"
    );
    assert_eq!(
        page("<a href=mailto:a@example.org>a@example.org</a>"),
        "a@example.org"
    );
    assert_eq!(page("<a href='https://example.org/'><img></a>x"), "x");
    assert_eq!(
        page("<a href=https://example.org/1>one <a href=https://example.org/2>two</a>"),
        "one (https://example.org/1) two (https://example.org/2)"
    );
}

#[test]
fn addresses_that_are_code_are_not_shown() {
    assert_eq!(
        page("<a href='javascript:alert(1)'>a</a> <a href='data:,x'>b</a>"),
        "a b"
    );
}

#[test]
fn blocks_lists_tables_and_quotations_keep_their_shape() {
    assert_eq!(
        page("<h1>Head</h1><p>one<br>two</p><div>three</div>four"),
        "Head\n\none\ntwo\n\nthree\nfour"
    );
    assert_eq!(
        page("<ul><li>a</li><li>b<ol><li>c<li>d</ol></ul>"),
        "- a\n- b\n\n  1. c\n  2. d"
    );
    assert_eq!(
        page("<table><tr><th>k</th><th>v</th></tr><tr><td>a</td><td>1</td></tr></table>"),
        "k | v\na | 1"
    );
    assert_eq!(
        page("a<blockquote>b<br>c</blockquote>d"),
        "a\n\n> b\n> c\n\nd"
    );
    assert_eq!(page("<pre>a  b\n  c</pre>"), "a  b\n  c");
}

#[test]
fn entities_white_space_and_picture_texts_are_resolved() {
    assert_eq!(page("a &amp; b\n  &lt;c&gt;&nbsp;&#8364;"), "a & b <c> €");
    assert_eq!(
        page("<img src=x alt=' a  cat '> <img src=pixel.gif alt=''>"),
        "[image: a cat]"
    );
}

#[test]
fn text_that_a_mail_program_hides_is_not_shown() {
    for hiding in [
        "hidden",
        "style='display:none'",
        "style='color:red; DISPLAY : none !important'",
        "style='visibility:hidden'",
        "style='opacity:0'",
        "style='max-height:0px;overflow:hidden'",
    ] {
        assert_eq!(
            page(&format!("a <div {hiding}>x<div>y</div><br>z</div>b")),
            "a b",
            "{hiding}"
        );
    }
    assert_eq!(page("<p style='opacity:0.9'>seen</p>"), "seen");
}

#[test]
fn an_unclosed_hidden_paragraph_ends_with_the_next() {
    assert_eq!(page("<p hidden>x<p>seen"), "seen");
}

#[test]
fn tag_soup_is_read_as_well_as_it_can_be() {
    assert_eq!(page("</td></div><b>a<i>b</b>c</i><p"), "abc");
    assert_eq!(page("no markup at all"), "no markup at all");
    assert_eq!(page("1 < 2 & 3 > 2"), "1 < 2 & 3 > 2");
}
