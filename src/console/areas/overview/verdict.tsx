import { CircleCheck, CircleDashed, OctagonX, TriangleAlert } from "lucide-react";
import { useId } from "react";
import { useTranslation } from "react-i18next";
import { parseSearch } from "../../address.ts";
import { operatorText } from "../../texts/operator-text.ts";
import { formatCount } from "../../ui/text/format.ts";
import { TextLink } from "../../ui/text/link.tsx";
import { Time } from "../../ui/text/time.tsx";
import type { Overview } from "./overview.ts";
import { Totals } from "./totals.tsx";

type Cause = Overview["status"]["causes"][number];

/** Icon and colours of each state. The icons differ in shape, so that users recognize a state without its colour. */
const STATES = {
  ok: [CircleCheck, "bg-good-soft text-good"],
  idle: [CircleDashed, "bg-sunken text-muted"],
  warning: [TriangleAlert, "bg-warn-soft text-warn"],
  critical: [OctagonX, "bg-bad-soft text-bad"],
} as const;

/** Shows the most important part of the page: the verdict, everything that is wrong, and the figures of the range. */
export function Verdict({ overview }: { overview: Overview }) {
  const { t } = useTranslation("overview");
  const id = useId();
  const { state, causes, checkedAt } = overview.status;
  const [Icon, look] = STATES[state];
  return (
    <section aria-labelledby={id} className="rounded-xl border border-line bg-surface">
      <div className="flex min-h-20 items-center gap-4 px-4 py-4 sm:px-5">
        <span className={`flex size-11 shrink-0 items-center justify-center rounded-full ${look}`}>
          <Icon size={24} aria-hidden />
        </span>
        <div className="min-w-0">
          <h2 id={id} className="text-lg leading-6 font-semibold tracking-tight">
            {t(`status.${state}`, { count: causes.length })}
          </h2>
          <p className="text-muted">
            {state !== "idle" && <LatestCalls channels={overview.channels} />}
            {t("status.checked")} <Time at={checkedAt} />
          </p>
        </div>
      </div>
      <Causes causes={causes} />
      <div className="border-t border-line">
        <Totals overview={overview} />
      </div>
    </section>
  );
}

/** Shows the calls on which the verdict about channels is based. */
function LatestCalls({ channels }: Pick<Overview, "channels">) {
  const { t } = useTranslation("overview");
  const calls = channels.reduce((sum, { requests }) => sum + requests, 0);
  const failed = channels.reduce((sum, { requests, errorRate }) => sum + requests * (errorRate ?? 0), 0);
  const text =
    calls === 0
      ? t("status.calls.none")
      : t("status.calls", {
          count: calls,
          shown: formatCount(calls),
          failed: formatCount(Math.round(failed)),
        });
  return `${text} · `;
}

/**
 * Lists everything that is wrong now, each with a link to a page with details and, if known, the time when it began.
 */
function Causes({ causes }: { causes: readonly Cause[] }) {
  const { t } = useTranslation("overview");
  if (causes.length === 0) return null;
  return (
    <ul aria-label={t("causes")} className="flex flex-col gap-3 border-t border-line px-4 py-4 sm:px-5">
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

/** True for a cause whose text names the organization that it concerns. */
function namesOrganization({ kind, path }: Cause): boolean {
  return kind === "requests" || kind === "price" || (kind === "budget" && !path.includes("&key="));
}

/** Describes a cause in the reader's language. */
function CauseText({ cause }: { cause: Cause }) {
  const { t } = useTranslation("overview");
  const { kind, subject, figures, path, organizationId } = cause;
  const [to = "/", query = ""] = path.split("?");
  // The message of an alert begins with the alert's name. The figures contain the finding without this name.
  const finding = String(figures["message"] ?? "");
  const link = (text: string) => (
    <TextLink to={to} search={parseSearch(query)}>
      {text}
    </TextLink>
  );
  if (kind === "part")
    return (
      <>
        {link(t([`part.${subject}`, "part"] as never))}{" "}
        <span className="text-muted">{operatorText(cause)}</span>
      </>
    );
  return (
    <>
      {link(
        kind === "alert"
          ? t("cause.alert", { name: subject, message: operatorText({ ...cause, message: finding }) })
          : operatorText(cause),
      )}
      {organizationId !== null && !namesOrganization(cause) && (
        <span className="text-muted"> {t("cause.organization", { id: organizationId })}</span>
      )}
    </>
  );
}
