const BOX =
  "w-full min-w-0 rounded-md border border-line-strong bg-surface px-2.5 text-sm placeholder:text-muted data-disabled:opacity-60 aria-invalid:border-bad data-invalid:border-bad max-sm:text-base";

/** Style of a one-line input. */
export const INPUT = `h-8 max-sm:h-10 ${BOX}`;

/** Style of a multi-line input. The user can change its height. */
export const TEXT_AREA = `py-1.5 ${BOX}`;

/** Style of a field: label, input and help, one below another. */
export const FIELD = "flex min-w-0 flex-col gap-1.5";
