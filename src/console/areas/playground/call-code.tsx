import { Code } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "../../ui/forms/button.tsx";
import { CodeSnippet } from "../../ui/text/code-snippet.tsx";
import type { GatewayCall } from "./gateway.ts";
import { snippetsOf } from "./snippets.ts";

/** The request that would be sent now, as a program would send it; shown on demand. */
export function CallCode({ call }: { call: GatewayCall }) {
  const { t } = useTranslation("playground");
  const [isShown, setShown] = useState(false);
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <div>
        <Button kind="quiet" icon={Code} onPress={() => setShown(!isShown)} aria-expanded={isShown}>
          {t(isShown ? "code.hide" : "code.show")}
        </Button>
      </div>
      {isShown && <CodeSnippet label={t("code.show")} snippets={snippetsOf(call, location.origin)} />}
    </div>
  );
}
