import type { ChangeWords } from "./change-words.ts";

/** Shows the change of one field. A name of the interface is shown as code, so that it is not taken for a text. */
export function ChangeText({ change: { field, isName, value } }: { change: ChangeWords }) {
  return (
    <>
      {isName ? <code className="font-mono text-xs">{field}</code> : field}
      {value !== "" && ` ${value}`}
    </>
  );
}
