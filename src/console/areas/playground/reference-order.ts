/** The list with the item at an index moved by some places; it stays within the list. */
export function moved<Item>(items: readonly Item[], index: number, by: number): Item[] {
  const rest = items.filter((_, each) => each !== index);
  const item = items[index];
  if (item === undefined) return [...items];
  const to = Math.min(Math.max(index + by, 0), rest.length);
  return [...rest.slice(0, to), item, ...rest.slice(to)];
}

/** The list with some items put before or after another one. */
export function reordered<Item extends { id: string }>(
  items: readonly Item[],
  ids: readonly string[],
  target: string,
  position: "before" | "after" | "on",
): Item[] {
  const taken = items.filter(({ id }) => ids.includes(id));
  const rest = items.filter(({ id }) => !ids.includes(id));
  const at = rest.findIndex(({ id }) => id === target);
  if (at < 0) return [...items];
  const to = position === "after" ? at + 1 : at;
  return [...rest.slice(0, to), ...taken, ...rest.slice(to)];
}
