/* The widget: traits of the kernel on one side, a view of the map on the other. */

import { decodeFrame } from "./frames.js";
import { watchTheme } from "./host.js";
import { Kernel } from "./kernel.js";
import { View } from "./view.js";

const EMPTY = "There is no map here: its kernel has ended. Run the cell again.";

/** Return the bytes of a trait, which hosts hand over as a view, as a buffer, or as a part of one. */
function bytesOf(value) {
  if (!value) return new ArrayBuffer(0);
  if (value instanceof ArrayBuffer) return value;
  return value.buffer.slice(value.byteOffset, value.byteOffset + value.byteLength);
}

function render({ model, el }) {
  const view = new View({
    label: (rows, label) => kernel.ask({ do: "label", rows, label }),
    undo: () => kernel.ask({ do: "undo" }),
    item: (row) => kernel.ask({ do: "row", row }).then(({ item }) => item),
    select: (rows) => { model.set("selection", rows); model.save_changes(); },
  });
  const kernel = new Kernel(model, (words) => view.wait(words));
  el.append(view.root);
  view.start(model.get("height"));
  const heard = [];
  const watch = (name, act) => {
    const tell = () => act(model.get(name));
    model.on(`change:${name}`, tell);
    heard.push([`change:${name}`, tell]);
    tell();
  };
  const endTheme = watchTheme((theme) => view.dress(theme));
  watch("_places", (value) => {
    const bytes = bytesOf(value);
    if (bytes.byteLength) view.place(decodeFrame(bytes));
    else view.warn(EMPTY);
  });
  watch("_facts", (facts) => { if (facts?.classes) view.tell(facts); });
  watch("_answers", (value) => {
    const bytes = bytesOf(value);
    if (!bytes.byteLength) return;
    const frame = decodeFrame(bytes);
    view.answer(frame);
    if (model.get("_drawn") === frame.version) return;
    model.set("_drawn", frame.version); // hosts that run cells by what a page says hear of it so
    model.save_changes();
  });
  watch("selection", (rows) => view.choose(rows ?? []));
  watch("height", (height) => { view.stage.style.height = `${height}px`; });
  return () => {
    for (const [name, tell] of heard) model.off(name, tell);
    endTheme();
    kernel.close();
    view.close();
  };
}

export default { render };
