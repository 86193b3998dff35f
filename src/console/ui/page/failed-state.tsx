import { RotateCw } from "lucide-react";
import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";
import { ApiError } from "../../api/call.ts";
import { Button } from "../forms/button.tsx";
import { sentence } from "../text/format.ts";
import { Id } from "../text/id.tsx";
import { Time } from "../text/time.tsx";

const RETRY_MS = 10_000;

/** Texts for failures outside of the gateway, by the status of the response. */
const AWAY: Readonly<Record<number, "away.database" | "away.gateway">> = {
  502: "away.gateway",
  503: "away.database",
  504: "away.gateway",
};

/** Returns the text that says what is unavailable; undefined for any other failure. */
export function awayReason(error: unknown): "away.database" | "away.gateway" | undefined {
  return error instanceof ApiError ? AWAY[error.status] : undefined;
}

/**
 * Shows the reason why data cannot be read, the time of the failure and a button that tries again. Tries again by
 * itself unless the gateway has refused the request.
 */
export function FailedState({ error, at, onRetry }: { error: unknown; at?: number; onRetry(): void }) {
  const { t } = useTranslation();
  const retry = useRef(onRetry);
  retry.current = onRetry;
  const reason = awayReason(error);
  const isForbidden = error instanceof ApiError && error.status === 403;
  const isRefused = error instanceof ApiError && error.status < 500;
  useEffect(() => {
    // An unavailable service becomes available again, so the read is repeated. Repeating a refused read does not help.
    if (isRefused) return;
    const again = setInterval(() => document.hidden || retry.current(), RETRY_MS);
    return () => clearInterval(again);
  }, [isRefused]);
  return (
    <div role="alert" className="flex flex-col items-center gap-3 px-6 py-10 text-center">
      <p className="font-medium">{t(isForbidden ? "notForRole" : "failed.title")}</p>
      <p className="max-w-prose text-muted">
        {reason ? t(reason) : sentence(error instanceof Error ? error.message : String(error))}
        {at !== undefined && at > 0 && (
          <>
            {" · "}
            <Time at={new Date(at).toISOString()} />
          </>
        )}
      </p>
      {error instanceof ApiError && error.requestId !== null && <Id value={error.requestId} />}
      {!isForbidden && (
        <Button icon={RotateCw} onPress={onRetry}>
          {t("retry")}
        </Button>
      )}
    </div>
  );
}
