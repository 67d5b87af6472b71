/* The question whether -1 is a class or marks rows without a label: asked above every view until it is answered. */

import { button, byId, element, refill } from "./elements.js";
import { tell } from "./wire.js";
import { rowCount } from "./words.js";

/** Ask as long as the project does not know; `renew()` is called when the table is read anew. */
export function startMarkerQuestion(store, notices, renew) {
  const answer = async (unlabeled) => {
    try {
      await tell("/api/roles", { unlabeled });
      renew();
    } catch (error) {
      notices.warn(`The table stays as it was read: ${error.message}`);
    }
  };
  store.watch(["project"], ({ project }) => {
    const { marker, read_only: isClosed } = project ?? {};
    refill(byId("marker"), marker ? askAbout(marker, isClosed, answer) : null);
  });
}

function askAbout({ value, column, n_rows: number }, isClosed, answer) {
  const words = `${rowCount(number)} ${number === 1 ? "holds" : "hold"} ${value} in the column “${column}”, and no cell of it is empty. Is ${value} a class? Until you say so, these rows count as rows without a label.`;
  return element("div", { class: "notice", role: "group", aria: { label: `Is ${value} a class?` } },
    element("span", { text: words }),
    element("span", { class: "endings" },
      button("They have no label", () => answer(value), { disabled: isClosed, data: { name: "marker:none" } }),
      button(`${value} is a class`, () => answer(""), { disabled: isClosed, data: { name: "marker:class" } })));
}
