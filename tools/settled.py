"""Wait for a state of a page in a browser, not for a time: for browser tests and benchmarks."""

from playwright.sync_api import Page, TimeoutError

# Whether the page was unchanged in five consecutive checks, since a click needs a moment to start a
# run. A table's text for screen readers does not count.
IS_STILL = """() => {
    if (window.changes === undefined) {
        const element = (node) => node.nodeType === 1 ? node : node.parentElement;
        const all = { subtree: true, childList: true, attributes: true, characterData: true };
        new MutationObserver((records) => {
            window.changes += records.some(({ target }) =>
                !element(target)?.closest('canvas'));
        }).observe(document, all);
        window.changes = 0;
    }
    const same = window.changes === window.changesSeen;
    window.changesSeen = window.changes;
    window.stillFor = same ? window.stillFor + 1 : 0;
    return window.stillFor >= 5;
}"""

# Whether the server has answered every message of the page: a busy server may start a script long
# after a click, and until then nothing on the page changes.
IS_ANSWERED = """() => {
    if (window.talk === undefined) {
        const talk = window.talk = { asked: 0, answered: 0 };
        const { send } = WebSocket.prototype;
        WebSocket.prototype.send = function (data) {
            const asked = ++talk.asked;
            this.addEventListener('message', () => { talk.answered = asked; }, { once: true });
            return send.call(this, data);
        };
    }
    return window.talk.answered === window.talk.asked;
}"""

# Also that the script has run, its result has arrived, nothing is computed and fonts are loaded.
IS_SETTLED = f"""() => {{
    const answered = ({IS_ANSWERED})();
    const app = document.querySelector('[data-testid=stApp]');
    const calm = answered && app !== null
        && app.dataset.testConnectionState === 'CONNECTED'
        && app.dataset.testScriptState === 'notRunning'
        && document.querySelector('h1') !== null
        && document.querySelector('[data-testid=stSkeleton], [data-testid=stProgress]') === null
        && document.querySelector('[data-stale=true]') === null
        && [...document.querySelectorAll('.figure')].every((box) =>
            box.clientWidth === 0 || box.querySelector('.main-svg') !== null)
        && document.fonts.status === 'loaded';
    const still = ({IS_STILL})();
    window.stillFor = calm ? window.stillFor : 0;
    return calm && still;
}}"""


def still(page: Page) -> None:
    """Return when nothing on a page changes and its figures are drawn; also for exported files."""
    page.evaluate("new Promise(requestAnimationFrame)")  # which a busy machine draws late
    page.evaluate("window.stillFor = 0")
    page.wait_for_function(IS_STILL, polling=50)


def settled(page: Page) -> None:
    """Return when the script has run and its result is on the page.

    While a computation tells that it goes on, the limit of the page begins anew.

    Raises:
        TimeoutError: nothing went on within the limit.

    """
    page.evaluate("window.stillFor = 0")
    told: list[str] = []
    while True:
        try:
            page.wait_for_function(IS_SETTLED, polling=50)
        except TimeoutError:
            before, told = told, page.get_by_test_id("stProgress").all_inner_texts()
            if told == before:
                raise
        else:
            return
