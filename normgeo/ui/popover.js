// An open popover is at the end of the document: let Tab lead from its button into it. When it closes,
// its page runs again, and would come back after a link that closed it: the link waits for that.

const CLOSED = 300; // milliseconds until it has told

function popovers() {
  let open = null;
  const point = () => { open = document.querySelector("[data-testid=stPopoverBody]"); };
  const leave = (event) => {
    const link = open && event.isTrusted && event.target.closest?.("a[href]");
    if (link && !open.contains(link)) {
      event.preventDefault();
      event.stopImmediatePropagation();
      document.body.click(); // closes it
      setTimeout(() => link.click(), CLOSED);
    }
  };
  const enter = (event) => {
    const inside = event.key === "Tab" && !event.shiftKey
      && document.activeElement?.closest("[data-testid=stPopover]")
      && document.querySelector("[data-testid=stPopoverBody] :is(a, button, input):not(:disabled)");
    if (inside) {
      event.preventDefault();
      inside.focus();
    }
  };
  document.addEventListener("keydown", enter);
  window.addEventListener("pointerdown", point, true);
  window.addEventListener("click", leave, true);
  return () => {
    document.removeEventListener("keydown", enter);
    window.removeEventListener("pointerdown", point, true);
    window.removeEventListener("click", leave, true);
  };
}

