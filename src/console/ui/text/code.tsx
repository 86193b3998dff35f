import { useEffect, useMemo, useState } from "react";
import type { CodeLanguage } from "./highlight.tsx";

type Highlight = typeof import("./highlight.tsx").highlight;

/** Maximum length of a text that is coloured, in characters. Colouring a longer text would take too long. */
const MAX_COLOURED = 100_000;

/** Shows code. The text is shown at once; its colours appear when the library for them is loaded. */
export function Code({ code, language }: { code: string; language: CodeLanguage }) {
  const [highlight, setHighlight] = useState<Highlight | null>(null);
  useEffect(() => {
    // If the library cannot be loaded, the code stays without colours.
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
