/** The look of an input. */
export const INPUT =
  "h-8 w-full min-w-0 rounded-md border border-line-strong bg-surface px-2.5 text-sm placeholder:text-muted data-disabled:opacity-60 aria-invalid:border-bad data-invalid:border-bad max-sm:h-10 max-sm:text-base";

/** Label, input and help, one below another. */
export const FIELD = "flex min-w-0 flex-col gap-1.5";
