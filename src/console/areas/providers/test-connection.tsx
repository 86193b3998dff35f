import { PlugZap } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { Input, Output } from "../../api/call.ts";
import { useOperationMutation } from "../../api/queries.ts";
import { operatorText, type Said } from "../../texts/operator-text.ts";
import { Button } from "../../ui/forms/button.tsx";
import { formatDuration } from "../../ui/text/format.ts";
import { Status } from "../../ui/text/status.tsx";

type Result = Output<"channels.test">;

/**
 * Calls the vendor with the input that `read` returns, and shows the outcome. Stores no channel, but the audit log
 * records the test.
 */
export function TestConnection({ read }: { read(): Input<"channels.test"> }) {
  const { t } = useTranslation("providers");
  const test = useOperationMutation("channels.test", []);
  const [result, setResult] = useState<Said & Pick<Result, "ok"> & { ms: number | null }>();
  const run = async () => {
    setResult(undefined);
    try {
      setResult(await test.mutateAsync(read()));
    } catch (error) {
      setResult({ ok: false, ms: null, message: error instanceof Error ? error.message : String(error) });
    }
  };
  return (
    <div className="flex flex-wrap items-center gap-3">
      <Button icon={PlugZap} isPending={test.isPending} onPress={() => void run()}>
        {t(test.isPending ? "test.running" : "test")}
      </Button>
      <div aria-live="polite" className="flex min-w-0 grow basis-64 flex-wrap items-center gap-2">
        {result && (
          <>
            <Status level={result.ok ? "good" : "bad"}>{t(result.ok ? "test.ok" : "test.failed")}</Status>
            <span className="min-w-0 break-words">{operatorText(result)}</span>
            {result.ms !== null && <span className="text-muted">{formatDuration(result.ms)}</span>}
          </>
        )}
      </div>
    </div>
  );
}
