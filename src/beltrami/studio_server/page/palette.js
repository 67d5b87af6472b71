/* Colours and marks of classes and sources, as the map draws them. */

import { TINTS, classStyles } from "./map.js";

const MARKS_OF_SOURCES = ["given", "disc", "ring", "cross"];

/** How the four sources are drawn: yours, ours, left to you, reached by no label. */
export const SOURCE_STYLES = MARKS_OF_SOURCES.map((mark, source) => ({ light: TINTS.light[source], dark: TINTS.dark[source], mark }));

/** What has no class, or no value. */
export const NONE_STYLE = { light: TINTS.light.grey, dark: TINTS.dark.grey, mark: "ring" };

const STYLES = classStyles(36); // after which they come round again

/** Return colours and mark of a class by its place. */
export const styleOf = (code) => STYLES[code % STYLES.length];

/** Return colours and marks of `count` classes or values. */
export const stylesOf = (count) => Array.from({ length: count }, (_, code) => styleOf(code));
