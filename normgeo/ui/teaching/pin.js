// Keep the keyboard's focus: pinning, unpinning or swapping redraws much of the page and the button.

const AFTER = 10000; // milliseconds in which the page is drawn
const PINS = /st-key-(\w+_pin|unpin|pin_swap|pin_show)(?!\w)/;

function keepFocus() {
  let end = () => {};
  const press = (event) => {
    const place = event.target.closest?.("[class*=st-key-]");
    const [key] = place?.className.match(PINS) ?? [];
    end();
    if (!key || event.detail > 0) {
      return; // a pointer needs no focus
    }
    const look = () => {
      if (document.activeElement === document.body) {
        const [button] = [`.${key}`, "[class*='_pin ']"].flatMap((one) => [...document.querySelectorAll(`${one} button`)]);
        button?.focus({ preventScroll: true });
      }
    };
    const observer = new MutationObserver(look);
    observer.observe(document.body, { childList: true, subtree: true });
    const timer = setTimeout(() => end(), AFTER);
    end = () => {
      observer.disconnect();
      clearTimeout(timer);
    };
  };
  const leave = () => end();
  document.addEventListener("click", press, true);
  document.addEventListener("keydown", leave, true);
  document.addEventListener("pointerdown", leave, true);
  return () => {
    leave();
    document.removeEventListener("click", press, true);
    document.removeEventListener("keydown", leave, true);
    document.removeEventListener("pointerdown", leave, true);
  };
}
