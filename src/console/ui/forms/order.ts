// Functions for lists that the user orders by dragging, by keys or by buttons.

/** Returns the list with one item moved by `by` positions, but not beyond the ends of the list. */
export function moved<Item>(items: readonly Item[], index: number, by: number): Item[] {
  const rest = items.filter((_, each) => each !== index);
  const item = items[index];
  if (item === undefined) return [...items];
  const to = Math.min(Math.max(index + by, 0), rest.length);
  return [...rest.slice(0, to), item, ...rest.slice(to)];
}

/** Returns the list with the items of these ids moved before or after another item. */
export function reordered<Item>(
  items: readonly Item[],
  ids: ReadonlySet<string>,
  { to, position }: { to: string; position: "before" | "after" | "on" },
  idOf: (item: Item) => string,
): Item[] {
  const taken = items.filter((item) => ids.has(idOf(item)));
  const rest = items.filter((item) => !ids.has(idOf(item)));
  const found = rest.findIndex((item) => idOf(item) === to);
  if (found < 0) return [...items];
  return rest.toSpliced(position === "after" ? found + 1 : found, 0, ...taken);
}
