// Sliders write their frame into the address of the browser. Streamlit's page keeps a copy of its
// own, and tells the server of that, and of nothing where a page is left for another: here it
// tells of the address itself, which no message of ours could do without a run of the page.
function tellTheAddress() {
  const root = document.querySelector("[data-testid=stApp]");
  let part = root[Object.keys(root).find((key) => key.startsWith("__reactFiber$"))];
  while (part && !part.stateNode?.getQueryString) {
    part = part.return;
  }
  const app = part?.stateNode;
  if (!app || app.tellsTheAddress) {
    return;
  }
  app.tellsTheAddress = true;
  app.getQueryString = () => window.location.search.slice(1);
  const { sendBackMsg } = app;
  app.sendBackMsg = (message) => {
    const run = message.rerunScript;
    if (run && !run.queryString && run.pageScriptHash !== app.state.currentPageScriptHash) {
      run.queryString = `${new URLSearchParams({ left: window.location.search.slice(1) })}`;
    }
    sendBackMsg(message);
  };
}
