"""Home in a browser."""

from playwright.sync_api import expect


def test_picture_and_table_fit_a_projector(server, page, wait_settled):
    page.goto(server)
    wait_settled(page)
    for key in ("figure_averages", "table"):
        box = page.locator(f".st-key-{key}").bounding_box()
        assert box["y"] + box["height"] <= 720
        assert box["x"] + box["width"] <= 1280


def test_cell_of_the_table_leads_to_its_picture(server, page, wait_settled):
    page.goto(f"{server}/?dataset=iris")
    wait_settled(page)
    page.locator('[data-cell="weight.dataset_rescaling"]').click()
    page.wait_for_url("**/invariance?*")
    wait_settled(page)
    expect(page.get_by_role("heading", level=1)).to_have_text(
        "What may change while z stays the same?"
    )
    pressed = page.locator('[aria-pressed="true"]')
    expect(pressed).to_have_attribute("data-cell", "weight.dataset_rescaling")
    assert "dataset=iris" in page.url


def test_step_of_the_tour_leads_to_its_state(server, page, wait_settled):
    page.goto(server)
    wait_settled(page)
    page.get_by_role("link", name="A “no” on the blackboard").click()
    page.wait_for_url("**/invariance?*tab=blackboard*")
    wait_settled(page)
    expect(page.get_by_role("tab", name="Blackboard")).to_have_attribute("aria-selected", "true")
    expect(page.locator(".katex-display").first).to_be_visible()
