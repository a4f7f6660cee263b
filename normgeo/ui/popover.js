// An open popover is at the end of the document: let Tab lead from its button into it.
function popovers() {
  const enter = (event) => {
    const inside = event.key === "Tab" && !event.shiftKey
      && document.activeElement?.closest("[data-testid=stPopover]")
      && document.querySelector("[data-testid=stPopoverBody] button:not(:disabled)");
    if (inside) {
      event.preventDefault();
      inside.focus();
    }
  };
  document.addEventListener("keydown", enter);
  return () => document.removeEventListener("keydown", enter);
}

