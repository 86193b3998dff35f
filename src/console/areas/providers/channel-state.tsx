import { useTranslation } from "react-i18next";
import type { Output } from "../../api/call.ts";
import { Status, type StatusLevel } from "../../ui/text/status.tsx";
import { Time } from "../../ui/text/time.tsx";

type Health = NonNullable<Output<"channels.get">["health"]>;

const LEVELS: Record<Health["state"], StatusLevel> = {
  ok: "good",
  slow: "warn",
  failing: "warn",
  ejected: "bad",
  idle: "unknown",
  untried: "unknown",
};

/** Shows the state of a channel, the reason for the state and the time when the state began. */
export function ChannelState({
  health: { state, since, reason },
}: {
  health: Pick<Health, "state" | "since" | "reason">;
}) {
  // This component uses texts of the overview, because the texts of the overview are loaded first.
  const { t } = useTranslation("overview");
  return (
    <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <Status level={LEVELS[state]}>{t(`state.${state}`)}</Status>
      {since !== null && (
        <span className="text-xs text-muted">
          {reason !== null && `${t([`reason.${reason}`, "reason"] as never, { reason })} · `}
          <Time at={since} />
        </span>
      )}
    </span>
  );
}
