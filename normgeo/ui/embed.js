// Streamlit reports to the server that a page is embedded only if its address says `embed=true`.
// Accept `embed=1` too.
function embedding() {
  const address = new URL(window.location.href);
  if (address.searchParams.get("embed") === "1") {
    address.searchParams.set("embed", "true");
    window.location.replace(address);
  }
}
