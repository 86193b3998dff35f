import { useId, type ReactNode } from "react";

interface CardProps {
  title?: string;
  about?: ReactNode;
  actions?: ReactNode;
  /** True for no padding, so that a table fills the card. */
  isFlush?: boolean;
  children: ReactNode;
}

/** A part of a page in a box, usually with a title. */
export function Card({ title, about, actions, isFlush = false, children }: CardProps) {
  const id = useId();
  return (
    <section
      aria-labelledby={title === undefined ? undefined : id}
      className="flex min-w-0 flex-col rounded-lg border border-line bg-surface"
    >
      {title !== undefined && (
        <header className="flex min-h-12 flex-wrap items-center gap-x-4 gap-y-2 px-4 pt-3 pb-2">
          <div className="min-w-0 flex-1 basis-40">
            <h2 id={id} className="font-semibold">
              {title}
            </h2>
            {about !== undefined && <p className="mt-0.5 max-w-prose text-muted">{about}</p>}
          </div>
          {actions}
        </header>
      )}
      <div className={isFlush ? "min-w-0" : `min-w-0 px-4 pb-4 ${title === undefined ? "pt-4" : "pt-1"}`}>
        {children}
      </div>
    </section>
  );
}
