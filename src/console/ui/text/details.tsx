import { Fragment, type ReactNode } from "react";

/** Lists the names and values of one record. Entries without a value are left out. */
export function Details({ entries }: { entries: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="grid content-start grid-cols-[minmax(7rem,max-content)_1fr] gap-x-6 gap-y-2">
      {entries.map(([name, value]) =>
        value === null || value === undefined ? null : (
          <Fragment key={name}>
            <dt className="text-muted">{name}</dt>
            <dd className="min-w-0 break-words">{value}</dd>
          </Fragment>
        ),
      )}
    </dl>
  );
}
