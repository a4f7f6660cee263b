"""What waits for a page waits as long as the page tells that it goes on."""

import pytest
from playwright.sync_api import Page, TimeoutError

from tools.settled import settled

COMPUTES = """<h1>A page</h1>
<div data-testid="stApp" data-test-connection-state="CONNECTED" data-test-script-state="running">
  <div data-testid="stProgress"></div>
</div>
<script>
  let checked = 0;
  setInterval(() => {
    checked += 1;
    if (checked <= %d) document.querySelector('[data-testid=stProgress]').textContent = checked;
    if (checked === 12) document.querySelector('[data-testid=stApp]').dataset.testScriptState =
      'notRunning';
  }, 500);
</script>"""
LIMIT = 2_000  # a third of what the page takes


@pytest.mark.exhaustive
@pytest.mark.parametrize("tells", [12, 1])
def test_limit_begins_anew_while_a_computation_goes_on(page: Page, tells: int) -> None:
    page.set_default_timeout(LIMIT)
    page.set_content(COMPUTES % tells)
    if tells == 12:
        settled(page)
        assert page.get_by_test_id("stProgress").inner_text() == "12"
    else:
        with pytest.raises(TimeoutError):
            settled(page)
