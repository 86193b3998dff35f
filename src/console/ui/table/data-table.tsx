import {
  columnVisibilityFeature,
  tableFeatures,
  useTable,
  type ColumnDef,
  type Row as TableRow,
  type RowData,
} from "@tanstack/react-table";
import { observeElementRect, useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef, type ReactNode, type RefObject } from "react";
import { useTranslation } from "react-i18next";
import type { List } from "../../api/queries.ts";
import { FailedState } from "../page/failed-state.tsx";
import { Skeleton } from "../page/skeleton.tsx";
import { ColumnChoice, useVisibleColumns } from "./column-choice.tsx";
import { useFit, useScreen, useWhileUncovered } from "./screen.ts";
import { useTableKeys } from "./table-keys.ts";
import { TwoLineHead, TwoLineRow } from "./two-line-row.tsx";

export interface TableColumn<Row> {
  id: string;
  header: string;
  /** Returns the content of a cell. Rows of two lines omit an empty cell, and a cell with the mark `data-nothing`. */
  cell(row: Row): ReactNode;
  /** True for numbers, which are aligned to the right. */
  isNumber?: boolean;
  /** True for a column that, until the user chooses it, is shown only on wide screens. */
  isOptional?: boolean;
  /** True for a button or menu at the row's end. The column is always shown; only screen readers read its header. */
  isAction?: boolean;
  /**
   * The line of this column in rows of two lines. Such rows are used on a phone, and when the columns do not fit.
   * `named` is the second line with the header before the value. If absent, a phone shows the column only when the user
   * chooses it. The first column and actions are always on the first line.
   */
  phone?: "first" | "second" | "named";
}

interface DataTableProps<Row> {
  /** Name under which the browser stores the chosen columns. */
  id: string;
  /** Name of the table for screen readers. */
  label: string;
  columns: readonly TableColumn<Row>[];
  list: List<Row>;
  rowId(row: Row): string;
  /** Called when the user presses a row, or Enter on it. The first column should link to the page that opens. */
  onOpen?(row: Row): void;
  /** An `EmptyState`, shown when there are no rows. */
  empty: ReactNode;
  /** Filters, shown above the table at the left. */
  filters?: ReactNode;
  /** Actions such as an export, shown above the table at the right. */
  actions?: ReactNode;
}

const features = tableFeatures({ columnVisibilityFeature });
type Features = typeof features;

const ROW_HEIGHT = 41;
const TWO_LINE_ROW_HEIGHT = 65;
const OVERSCAN = 12;
const SKELETON_ROWS = 8;

/**
 * A table that reads more rows when the user scrolls. Only the rows in or near the visible part are in the document.
 */
export function DataTable<Row extends RowData>(props: DataTableProps<Row>) {
  const { id, columns, list, filters, actions } = props;
  const screen = useScreen();
  const [visible, setVisible] = useVisibleColumns(id, columns, screen);
  const isFailed = list.error !== null && list.rows === undefined;
  return (
    <section
      aria-label={props.label}
      className="flex min-w-0 flex-col rounded-lg border border-line bg-surface"
    >
      <div className="flex flex-wrap items-center gap-2 border-b border-line px-3 py-2">
        <div className="flex min-w-0 flex-1 flex-wrap items-center gap-2 max-sm:basis-60">{filters}</div>
        <div className="ml-auto flex items-center gap-2">
          {actions}
          <ColumnChoice columns={columns} visible={visible} onChange={setVisible} />
        </div>
      </div>
      {isFailed && list.error && <FailedState error={list.error} at={list.failedAt} onRetry={list.retry} />}
      {!isFailed && list.rows?.length === 0 && props.empty}
      {!isFailed && list.rows?.length !== 0 && (
        <Rows {...props} visible={visible} isPhone={screen === "phone"} />
      )}
    </section>
  );
}

type RowsProps<Row> = DataTableProps<Row> & { visible: Record<string, boolean>; isPhone: boolean };

function Rows<Row extends RowData>(props: RowsProps<Row>) {
  const { label, list, onOpen } = props;
  const { t } = useTranslation();
  const scroller = useRef<HTMLDivElement>(null);
  const isFitting = useFit(scroller, JSON.stringify(props.visible), list.rows !== undefined);
  const isTwoLine = useWhileUncovered(props.isPhone || !isFitting);
  const { rows, columns: shown, virtualizer } = useRowsInSight(props, isTwoLine, scroller);
  const onKeyDown = useTableKeys(virtualizer, rows.length);
  const items = virtualizer.getVirtualItems();
  const first = virtualizer.range?.startIndex ?? 0;
  const before = items[0]?.start ?? 0;
  const after = virtualizer.getTotalSize() - (items.at(-1)?.end ?? 0);
  const width = isTwoLine ? 1 : shown.length;
  return (
    <div ref={scroller} className="max-h-[calc(100dvh-9rem)] overflow-auto rounded-b-lg">
      <table
        aria-label={label}
        aria-busy={list.rows === undefined}
        aria-rowcount={list.hasMore ? -1 : rows.length + 1}
        onKeyDown={onKeyDown}
        className="w-full border-separate border-spacing-0"
      >
        {isTwoLine ? <TwoLineHead label={label} /> : <Head columns={shown} />}
        <tbody>
          {list.rows === undefined && <SkeletonRows width={width} count={SKELETON_ROWS} />}
          {before > 0 && <Gap height={before} width={width} />}
          {items.map(({ index }) => {
            const row = rows[index];
            return (
              row && (
                <BodyRow
                  key={row.id}
                  row={row}
                  index={index}
                  isFirst={index === first}
                  measure={virtualizer.measureElement}
                  {...(onOpen && { onOpen })}
                >
                  {isTwoLine ? (
                    <TwoLineRow row={row.original} columns={shown} />
                  ) : (
                    <Cells row={row.original} columns={shown} />
                  )}
                </BodyRow>
              )
            );
          })}
          {after > 0 && <Gap height={after} width={width} />}
        </tbody>
      </table>
      {list.isReadingMore && <p className="px-4 py-3 text-center text-muted">{t("loading")}</p>}
    </div>
  );
}

/** Returns all rows, the visible columns, and the virtualizer, which decides which rows are in the document. */
function useRowsInSight<Row extends RowData>(
  { columns, list, rowId, visible }: RowsProps<Row>,
  isTwoLine: boolean,
  scroller: RefObject<HTMLDivElement | null>,
) {
  const definitions = useMemo(
    () => columns.map(({ id, header }): ColumnDef<Features, Row> => ({ id, header })),
    [columns],
  );
  const table = useTable({
    features,
    columns: definitions,
    data: list.rows ?? NONE,
    getRowId: rowId,
    state: { columnVisibility: visible },
  });
  const { rows } = table.getRowModel();
  const virtualizer = useVirtualizer<HTMLDivElement, HTMLTableRowElement>({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => (isTwoLine ? TWO_LINE_ROW_HEIGHT : ROW_HEIGHT),
    getItemKey: (index) => rows[index]?.id ?? index,
    overscan: OVERSCAN,
    // As many rows as a screen can show are rendered at once, so that later rows do not change column widths.
    observeElementRect: (virtualizer, report) =>
      observeElementRect(virtualizer, ({ width, height }) =>
        report({ width, height: Math.max(height, innerHeight) }),
      ),
    onChange: ({ range }) => {
      if (range && list.hasMore && !list.isReadingMore && range.endIndex >= rows.length - OVERSCAN)
        list.readMore();
    },
  });
  const shown = table
    .getVisibleLeafColumns()
    .flatMap(({ id }) => columns.find((column) => column.id === id) ?? []);
  return { rows, columns: shown, virtualizer };
}

const NONE: readonly never[] = [];

function Head<Row>({ columns }: { columns: readonly TableColumn<Row>[] }) {
  return (
    <thead>
      <tr>
        {columns.map(({ id, header, isNumber, isAction }) => (
          <th
            key={id}
            scope="col"
            className={`sticky top-0 z-10 border-b border-line bg-surface px-2.5 py-2 text-xs font-medium whitespace-nowrap text-muted first:pl-4 last:pr-4 ${isNumber || isAction ? "text-right" : "text-left"}`}
          >
            {isAction ? <span className="sr-only">{header}</span> : header}
          </th>
        ))}
      </tr>
    </thead>
  );
}

function BodyRow<Row extends RowData>({
  row,
  index,
  isFirst,
  measure,
  onOpen,
  children,
}: {
  row: TableRow<Features, Row>;
  index: number;
  /** True for the first visible row, to which Tab moves the focus. */
  isFirst: boolean;
  measure(row: HTMLTableRowElement | null): void;
  onOpen?: (row: Row) => void;
  children: ReactNode;
}) {
  return (
    <tr
      ref={measure}
      data-index={index}
      aria-rowindex={index + 2}
      tabIndex={isFirst ? 0 : -1}
      className={`group -outline-offset-2! hover:bg-hover ${onOpen ? "cursor-pointer" : ""}`}
      onClick={(event) => {
        if (onOpen && !isInteractive(event.target, event.currentTarget)) onOpen(row.original);
      }}
      onKeyDown={(event) => {
        if (event.key === "Enter" && event.target === event.currentTarget) onOpen?.(row.original);
      }}
    >
      {children}
    </tr>
  );
}

function Cells<Row>({ row, columns }: { row: Row; columns: readonly TableColumn<Row>[] }) {
  return columns.map(({ id, cell, isNumber, isAction }) => (
    <td
      key={id}
      className={`h-10 max-w-96 border-b border-line px-2.5 py-1.5 break-keep group-last:border-b-0 first:pl-4 last:pr-4 ${isNumber || isAction ? "text-right" : "text-left"}`}
    >
      {cell(row)}
    </td>
  ));
}

function isInteractive(target: EventTarget, row: Element): boolean {
  const found = target instanceof Element ? target.closest("a, button, input, [role=button]") : null;
  return (found !== null && row.contains(found)) || !getSelection()?.isCollapsed;
}

function Gap({ height, width }: { height: number; width: number }) {
  return (
    <tr aria-hidden>
      <td colSpan={width} style={{ height }} />
    </tr>
  );
}

function SkeletonRows({ width, count }: { width: number; count: number }) {
  return Array.from({ length: count }, (_, row) => (
    <tr key={row} aria-hidden>
      {Array.from({ length: width }, (_, cell) => (
        <td key={cell} className="h-10 border-b border-line px-2.5 first:pl-4 max-sm:h-16">
          <Skeleton className="h-3 w-24 max-w-full" />
        </td>
      ))}
    </tr>
  ));
}
