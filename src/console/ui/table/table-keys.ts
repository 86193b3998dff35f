import type { Virtualizer } from "@tanstack/react-virtual";
import type { KeyboardEvent } from "react";

const PAGE_ROWS = 10;
const MAX_FRAMES = 10;

/**
 * Returns a handler that moves the focus between the rows of a table with the arrow keys, Home, End and the page keys.
 */
export function useTableKeys(
  virtualizer: Virtualizer<HTMLDivElement, HTMLTableRowElement>,
  count: number,
): (event: KeyboardEvent<HTMLElement>) => void {
  return (event) => {
    const row = event.target instanceof HTMLElement ? event.target.closest("tr") : null;
    const index = Number(row?.dataset["index"] ?? Number.NaN);
    const next = nextRow(event.key, index, count);
    if (Number.isNaN(index) || next === undefined) return;
    event.preventDefault();
    virtualizer.scrollToIndex(next);
    focusRow(event.currentTarget, next, MAX_FRAMES);
  };
}

/**
 * Focuses a row. A row that is not visible is rendered only after the table has scrolled to it, so this function waits
 * for up to `frames` frames.
 */
function focusRow(table: HTMLElement, index: number, frames: number): void {
  const row = table.querySelector<HTMLElement>(`tr[data-index="${index}"]`);
  if (row) row.focus({ preventScroll: true });
  else if (frames > 0) requestAnimationFrame(() => focusRow(table, index, frames - 1));
}

function nextRow(key: string, index: number, count: number): number | undefined {
  const rows: Readonly<Record<string, number>> = {
    ArrowDown: index + 1,
    ArrowUp: index - 1,
    PageDown: index + PAGE_ROWS,
    PageUp: index - PAGE_ROWS,
    Home: 0,
    End: count - 1,
  };
  const next = rows[key];
  return next === undefined ? undefined : Math.max(0, Math.min(count - 1, next));
}
