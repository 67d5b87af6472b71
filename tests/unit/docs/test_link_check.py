from book.link_check import check_links


def faults(folder, body):
    (folder / "other.html").write_text('<h1 id="there">x</h1>')
    (folder / "page.html").write_text(body)
    return check_links(folder).faults


def test_links_that_lead_somewhere_are_fine(tmp_path):
    body = '<p id="here"><a href="#here">a</a><a href="other.html#there">b</a></p>'
    assert faults(tmp_path, body) == ()


def test_missing_files_anchors_and_words_are_faults(tmp_path):
    body = '<a href="none.html">a</a><a href="other.html#none">b</a><img src="other.html">'
    found = "\n".join(faults(tmp_path, body))
    assert "none.html: no such file" in found
    assert "other.html#none: no such anchor" in found
    assert "a picture without alt" in found


def test_addresses_are_listed_and_checked_for_form(tmp_path):
    body = '<a href="https://example.org/x">a</a><a href="http://nowhere">b</a>'
    assert len(faults(tmp_path, body)) == 1
    assert check_links(tmp_path).addresses == ("http://nowhere", "https://example.org/x")
