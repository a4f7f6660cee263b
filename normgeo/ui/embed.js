// Streamlit tells the server that a page is embedded where its address says `embed=true`, and keeps
// other words to itself. Addresses that say `embed=1` are as good.
function embedding() {
  const address = new URL(window.location.href);
  if (address.searchParams.get("embed") === "1") {
    address.searchParams.set("embed", "true");
    window.location.replace(address);
  }
}
