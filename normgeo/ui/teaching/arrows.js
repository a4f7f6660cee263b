// Elements that use the arrow keys: fields, sliders, lists, tabs, cells of a table, rotating figures.
const TAKES_ARROWS = `input, textarea, select, table, [contenteditable], [role=slider], [role=tab],
  [role=listbox], [role=option], [role=menu], [role=menuitem], [role=radio], [role=radiogroup],
  [role=dialog], .js-plotly-plot [tabindex]`;
