import { OctagonX, TriangleAlert } from "lucide-react";
import { useTranslation } from "react-i18next";
import { parseSearch } from "../../address.ts";
import { Card } from "../../ui/page/card.tsx";
import { TextLink } from "../../ui/text/link.tsx";
import { Status } from "../../ui/text/status.tsx";
import { Time } from "../../ui/text/time.tsx";
import type { Overview } from "./overview.ts";

type State = Overview["status"];
type Cause = State["causes"][number];

const LEVELS = { ok: "good", idle: "unknown", warning: "warn", critical: "bad" } as const;

/** The verdict in a few words. */
export function StatusPill({ status: { state, causes } }: { status: State }) {
  const { t } = useTranslation("overview");
  return <Status level={LEVELS[state]}>{t(`status.${state}`, { count: causes.length })}</Status>;
}

/** Everything that is wrong now, each with the page that shows more and the time since when. */
export function StatusCard({ causes }: { causes: readonly Cause[] }) {
  const { t } = useTranslation("overview");
  if (causes.length === 0) return null;
  return (
    <Card title={t("causes")}>
      <ul className="flex flex-col gap-3">
        {causes.map((cause) => (
          <li
            key={`${cause.kind} ${cause.subject} ${cause.organizationId} ${cause.since}`}
            className="flex flex-wrap items-start gap-x-3"
          >
            <Severity severity={cause.severity} />
            <span className="min-w-0 flex-1 break-words max-sm:basis-[calc(100%-3rem)]">
              <CauseText cause={cause} />
            </span>
            {cause.since !== null && (
              <span className="shrink-0 text-muted max-sm:basis-full max-sm:pl-7 max-sm:text-xs">
                {t("since")} <Time at={cause.since} />
              </span>
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Severity({ severity }: { severity: Cause["severity"] }) {
  const { t } = useTranslation("overview");
  const [Icon, colour] = severity === "critical" ? [OctagonX, "text-bad"] : [TriangleAlert, "text-warn"];
  return (
    <Icon
      size={16}
      role="img"
      aria-label={t(`severity.${severity}`)}
      className={`mt-0.5 shrink-0 ${colour}`}
    />
  );
}

function textOf({ kind, subject, figures }: Cause & { kind: Exclude<Cause["kind"], "part"> }) {
  if (kind === "notices") return subject === "mail" ? "cause.notices.mail" : "cause.notices.webhook";
  if (kind === "slow" && figures["usual"] === undefined) return "cause.slow.unknown";
  return `cause.${kind}` as const;
}

/** Describes a cause in the reader's language, or by the server's own words where they say more than a text could. */
function CauseText({ cause }: { cause: Cause }) {
  const { t } = useTranslation("overview");
  const { kind, subject, figures, message, path, organizationId } = cause;
  const [to = "/", query = ""] = path.split("?");
  const link = (text: string) => (
    <TextLink to={to} search={parseSearch(query)}>
      {text}
    </TextLink>
  );
  if (kind === "part")
    return (
      <>
        {link(t([`part.${subject}`, "part"] as never))} <span className="text-muted">{message}</span>
      </>
    );
  const values = {
    ...figures,
    reason: t([`reason.${figures["reason"]}`, "reason"] as never, { reason: figures["reason"] }),
  };
  return (
    <>
      {link(t(textOf({ ...cause, kind }), values))}
      {kind === "notices" && <span className="text-muted"> {figures["result"]}</span>}
      {organizationId !== null && kind !== "requests" && kind !== "price" && (
        <span className="text-muted"> {t("cause.organization", { id: organizationId })}</span>
      )}
    </>
  );
}
