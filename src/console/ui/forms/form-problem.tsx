import { OctagonX } from "lucide-react";
import { useFormState } from "react-hook-form";
import { sentence } from "../text/format.ts";

/** Shows a refusal of the gateway that belongs to no field. */
export function FormProblem() {
  const { errors } = useFormState();
  const problem = errors.root?.["server"]?.message;
  return problem === undefined ? null : <Problem>{problem}</Problem>;
}

/** Shows an error as a sentence. */
export function Problem({ children }: { children: string }) {
  return (
    <p role="alert" className="flex items-start gap-2 rounded-md bg-bad-soft px-3 py-2 text-bad">
      <OctagonX size={16} aria-hidden className="mt-0.5 shrink-0" />
      <span className="min-w-0 break-words">{sentence(children)}</span>
    </p>
  );
}
