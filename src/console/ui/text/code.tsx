import { useEffect, useMemo, useState } from "react";
import type { CodeLanguage } from "./highlight.tsx";

type Highlight = typeof import("./highlight.tsx").highlight;

/** Longer texts stay plain, so that they are shown at once. */
const MAX_COLOURED = 100_000;

/** Code in colour, once what colours it is loaded; the text itself is there at once and stays the same. */
export function Code({ code, language }: { code: string; language: CodeLanguage }) {
  const [highlight, setHighlight] = useState<Highlight | null>(null);
  useEffect(() => {
    // Code without colours is no failure.
    import("./highlight.tsx").then(
      ({ highlight }) => setHighlight(() => highlight),
      () => {},
    );
  }, []);
  const shown = useMemo(
    () => (highlight && code.length <= MAX_COLOURED ? highlight(code, language) : code),
    [highlight, code, language],
  );
  return <code>{shown}</code>;
}
