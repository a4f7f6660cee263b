// Streamlit gives the upload field the role presentation although it has a name: make it a group.
export default function named() {
  const group = () => {
    for (const place of document.querySelectorAll("[data-testid=stFileUploaderDropzone]")) {
      place.setAttribute("role", "group");
    }
  };
  group();
  const seen = new MutationObserver(group);
  const panel = document.querySelector("[data-testid=stFileUploader]")?.closest("[role=tabpanel]");
  seen.observe(panel ?? document.body, { childList: true, subtree: true });
  return () => seen.disconnect();
}
