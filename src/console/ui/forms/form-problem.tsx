import { OctagonX } from "lucide-react";
import { lazy, Suspense, type ReactNode } from "react";
import { useFormState } from "react-hook-form";
import { sentence } from "../text/format.ts";
import type { FormSubject } from "./conflict.tsx";
import { CONFLICT } from "./submit-handler.ts";

const Conflict = lazy(async () => ({ default: (await import("./conflict.tsx")).Conflict }));

/**
 * Shows an error that belongs to no field of the form. If somebody else has changed the record, shows who has changed
 * it and how.
 */
export function FormProblem({ subject }: { subject?: FormSubject | null }) {
  const { errors } = useFormState();
  const conflict = errors.root?.[CONFLICT]?.message;
  if (conflict !== undefined && subject)
    return (
      <Suspense>
        <Conflict subject={subject} />
      </Suspense>
    );
  const problem = conflict ?? errors.root?.["server"]?.message;
  return problem === undefined ? null : <Problem>{problem}</Problem>;
}

/** Shows an error message. */
export function Problem({ children }: { children: ReactNode }) {
  return (
    <p role="alert" className="flex items-start gap-2 rounded-md bg-bad-soft px-3 py-2 text-bad">
      <OctagonX size={16} aria-hidden className="mt-0.5 shrink-0" />
      <span className="min-w-0 break-words">
        {typeof children === "string" ? sentence(children) : children}
      </span>
    </p>
  );
}
