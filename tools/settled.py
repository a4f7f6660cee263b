"""Wait for a state of a page in a browser, not for a time: for browser tests and benchmarks."""

from playwright.sync_api import Page

# Nothing on the page has changed five times in a row, as a click needs a moment to start a run.
# What a table tells screen readers is no change.
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

# What the page has said to its server waits for an answer: a busy server may begin
# to run a script long after a click, and until then nothing on the page changes.
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

# The script has run besides, its result has arrived, fonts are there.
IS_SETTLED = f"""() => {{
    const answered = ({IS_ANSWERED})();
    const app = document.querySelector('[data-testid=stApp]');
    const calm = answered && app !== null
        && app.dataset.testConnectionState === 'CONNECTED'
        && app.dataset.testScriptState === 'notRunning'
        && document.querySelector('h1') !== null
        && document.querySelector('[data-testid=stSkeleton]') === null
        && document.querySelector('[data-stale=true]') === null
        && [...document.querySelectorAll('.figure')].every((box) =>
            box.clientWidth === 0 || box.querySelector('.main-svg') !== null)
        && document.fonts.status === 'loaded';
    const still = ({IS_STILL})();
    window.stillFor = calm ? window.stillFor : 0;
    return calm && still;
}}"""


def still(page: Page) -> None:
    """Return when nothing on a page changes and its figures are drawn, also where it is a file."""
    page.evaluate("window.stillFor = 0")
    page.wait_for_function(IS_STILL, polling=50)


def settled(page: Page) -> None:
    """Return when the script has run and its result is on the page."""
    page.evaluate("window.stillFor = 0")
    page.wait_for_function(IS_SETTLED, polling=50)
