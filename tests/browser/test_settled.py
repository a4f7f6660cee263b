"""What waits for a page waits until it is drawn, and as long as it tells that it goes on."""

import pytest
from playwright.sync_api import Page, TimeoutError

from tools.settled import settled, still

COMPUTES = """<h1>A page</h1>
<div data-testid="stApp" data-test-connection-state="CONNECTED" data-test-script-state="notRunning">
  <div data-testid="stProgress"></div>
</div>
<script>
  const bar = document.querySelector('[data-testid=stProgress]');
  let checked = 0;
  setInterval(() => {
    checked += 1;
    if (checked <= %d) bar.textContent = checked;
    if (checked === 12) bar.dataset.testid = 'ended';
  }, 500);
</script>"""
LIMIT = 2_000  # a third of what the page takes, whose script may rest while a worker computes

# As a busy machine has them.
LATE_FRAMES = "window.requestAnimationFrame = (draw) => setTimeout(draw, 350)"


@pytest.mark.exhaustive
@pytest.mark.parametrize("tells", [12, 1])
def test_limit_begins_anew_while_a_computation_goes_on(own_page: Page, tells: int) -> None:
    page = own_page
    page.set_default_timeout(LIMIT)
    page.set_content(COMPUTES % tells)
    if tells == 12:
        settled(page)
        assert page.get_by_test_id("ended").inner_text() == "12"
    else:
        with pytest.raises(TimeoutError):
            settled(page)


def test_what_the_next_frame_draws_is_waited_for(own_page: Page) -> None:
    own_page.evaluate(LATE_FRAMES)
    own_page.evaluate("requestAnimationFrame(() => { document.title = 'drawn'; })")
    still(own_page)
    assert own_page.title() == "drawn"
