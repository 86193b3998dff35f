import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components/Tabs";
import { useTranslation } from "react-i18next";
import { IconButton } from "../forms/button.tsx";
import { Code } from "./code.tsx";
import { useCopy } from "./copy.ts";
import type { CodeLanguage } from "./highlight.tsx";

export interface Snippet {
  /** Name of the language or tool, such as curl. */
  label: string;
  language: CodeLanguage;
  code: string;
}

/** Shows the code of one call, in the language that the user chooses. */
export function CodeSnippet({ snippets, label }: { snippets: readonly Snippet[]; label: string }) {
  const { t } = useTranslation();
  const [shown, setShown] = useState(snippets[0]?.label ?? "");
  const code = snippets.find((snippet) => snippet.label === shown)?.code ?? "";
  const { isCopied, copy } = useCopy(code);
  return (
    <Tabs
      selectedKey={shown}
      onSelectionChange={(key) => setShown(String(key))}
      className="min-w-0 overflow-hidden rounded-lg border border-line bg-sunken"
    >
      <div className="flex items-center gap-1 border-b border-line px-2 py-1">
        <TabList aria-label={label} className="flex flex-1 gap-1 overflow-x-auto">
          {snippets.map(({ label }) => (
            <Tab
              key={label}
              id={label}
              className="cursor-pointer rounded-md px-2 py-1 text-xs font-medium whitespace-nowrap text-muted -outline-offset-2! hover:text-text data-selected:bg-surface data-selected:text-text"
            >
              {label}
            </Tab>
          ))}
        </TabList>
        <IconButton
          icon={isCopied ? Check : Copy}
          label={isCopied ? t("copied") : t("copy")}
          onPress={() => void copy()}
        />
      </div>
      {snippets.map(({ label, language, code }) => (
        <TabPanel key={label} id={label}>
          <pre
            tabIndex={0}
            className="max-h-96 overflow-auto p-4 font-mono text-xs leading-5 -outline-offset-2!"
          >
            <Code code={code} language={language} />
          </pre>
        </TabPanel>
      ))}
    </Tabs>
  );
}
