import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Switch } from "react-aria-components/Switch";
import { useTranslation } from "react-i18next";
import type { Input, Output } from "../../api/call.ts";
import { useKeyOptions } from "../../api/options.ts";
import { operationQuery } from "../../api/queries.ts";
import { operatorText } from "../../texts/operator-text.ts";
import { Card } from "../../ui/page/card.tsx";
import { QueryState } from "../../ui/page/query-state.tsx";
import { useCellText } from "../prices/cells.ts";
import { formatDuration, formatShare } from "../../ui/text/format.ts";
import { Money } from "../../ui/text/money.tsx";
import { Quoted } from "../../ui/text/quoted.tsx";
import { Status } from "../../ui/text/status.tsx";
import { PlainSelect } from "./plain-select.tsx";
import { simulateRoute, type SimulatedTarget } from "./route-draft.ts";

type Explanation = Output<"routes.explain">;
type Target = Explanation["targets"][number];

/** A route that is not saved yet. */
export type DryRunDraft = NonNullable<Input<"routes.explain">["draft"]>;

const REASONS = {
  overload: "reason.overload",
  account: "reason.account",
  limited: "reason.limited",
} as const;

/**
 * Shows which targets a request for a model would call now, by the gateway's own rules. Uses the draft of the route if
 * the draft has targets, otherwise the saved route. No vendor is called.
 */
export function DryRun({
  model,
  organizationId,
  draft,
}: {
  model: string;
  organizationId: string;
  draft: DryRunDraft | null;
}) {
  const { t } = useTranslation("models");
  const [keyId, setKeyId] = useState<string | null>(null);
  const keys = useKeyOptions(organizationId);
  const key = keys.some(({ id }) => id === keyId) ? keyId : null;
  const isTried = draft !== null && draft.targets.length > 0;
  const query = useQuery({
    ...operationQuery("routes.explain", {
      organizationId,
      model,
      ...(key && { keyId: key }),
      ...(isTried && { draft }),
    }),
    placeholderData: keepPreviousData,
  });
  return (
    <Card title={t("dry.title")} about={t("dry.about")}>
      <div className="flex flex-col gap-4">
        <PlainSelect
          label={t("dry.key")}
          value={key}
          options={keys}
          none={t("dry.key.any")}
          onChange={setKeyId}
        />
        {draft !== null && <p className="text-warn">{t(isTried ? "dry.draft" : "route.targets.empty")}</p>}
        <QueryState query={query}>{(explanation) => <Explained explanation={explanation} />}</QueryState>
      </div>
    </Card>
  );
}

function Explained({ explanation }: { explanation: Explanation }) {
  const { t } = useTranslation(["models", "shell"]);
  const { refusal, price, strategy, missingChannel } = explanation;
  const [down, setDown] = useState<ReadonlySet<string>>(new Set());
  const targets = simulateRoute(
    explanation.targets.map((target) => ({ ...target, isEjected: target.ejection !== null })),
    strategy,
    down,
  );
  const toggle = (name: string, isDown: boolean) => {
    const names = new Set(down);
    if (isDown) names.add(name);
    else names.delete(name);
    setDown(names);
  };
  return (
    <>
      {missingChannel !== null && (
        <Status level="warn">{t("dry.missing", { channel: missingChannel })}</Status>
      )}
      {refusal ? (
        <div className="flex flex-wrap items-center gap-2">
          <Status level="bad">{t("dry.refused")}</Status>
          <code className="font-mono text-xs">{refusal.code}</code>
          {refusal.reason && <span className="min-w-0 break-words">{operatorText(refusal.reason)}</span>}
          <span className="min-w-0 basis-full text-muted">
            <Quoted label={t("shell:told")}>{refusal.message}</Quoted>
          </span>
        </div>
      ) : (
        <p aria-live="polite" className="font-medium">
          <Verdict targets={targets} strategy={strategy} />
        </p>
      )}
      <ol
        aria-label={t("dry.order")}
        className="flex flex-col divide-y divide-line rounded-lg border border-line"
      >
        {targets.map((target) => (
          <TargetLine
            key={target.name}
            target={target}
            isAssumed={down.has(target.name)}
            onToggle={(isDown) => toggle(target.name, isDown)}
          />
        ))}
      </ol>
      {price && <PriceUsed price={price} />}
    </>
  );
}

/** Says in one sentence which target would be called. */
function Verdict({
  targets,
  strategy,
}: {
  targets: readonly SimulatedTarget<Target & { isEjected: boolean }>[];
  strategy: Explanation["strategy"];
}) {
  const { t } = useTranslation("models");
  const working = targets.filter(({ isDown }) => !isDown);
  const [first, next] = working;
  if (!first) return t("dry.answer.none");
  if (!next) return t("dry.answer", { target: first.name });
  return strategy === "weighted"
    ? t("dry.answer.shared", {
        targets: working.map(({ name, share }) => `${name} (${formatShare(share)})`).join(", "),
      })
    : t("dry.answer.next", { target: first.name, next: next.name });
}

function TargetLine({
  target,
  isAssumed,
  onToggle,
}: {
  target: SimulatedTarget<Target & { isEjected: boolean }>;
  isAssumed: boolean;
  onToggle(isDown: boolean): void;
}) {
  const { t } = useTranslation("models");
  const { name, ejection, share, isDown } = target;
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-2 px-3 py-2">
      <span className={`min-w-40 flex-1 font-medium break-all ${isDown ? "text-muted line-through" : ""}`}>
        {name}
      </span>
      {!isDown && (
        <span className="text-muted">
          {share === 1
            ? t("dry.first")
            : share > 0
              ? t("dry.chance", { share: formatShare(share) })
              : t("dry.then")}
        </span>
      )}
      {ejection ? (
        <Status level="bad">
          {t("dry.ejected", {
            duration: formatDuration(ejection.durationMs),
            reason: t(REASONS[ejection.reason]),
          })}
        </Status>
      ) : (
        <Status level={isAssumed ? "warn" : "good"}>{t(isAssumed ? "dry.assumed" : "dry.healthy")}</Status>
      )}
      {!ejection && (
        <Switch
          aria-label={t("dry.down", { target: name })}
          isSelected={isAssumed}
          onChange={onToggle}
          className="group flex cursor-pointer items-center gap-2 text-xs text-muted"
        >
          <span className="flex h-4 w-7 items-center rounded-full bg-line-strong p-0.5 group-data-focus-visible:outline-2 group-data-focus-visible:outline-offset-2 group-data-focus-visible:outline-accent group-data-selected:bg-bad-solid">
            <span className="size-3 rounded-full bg-white transition-transform group-data-selected:translate-x-3" />
          </span>
          {t("dry.assume")}
        </Switch>
      )}
    </li>
  );
}

function PriceUsed({ price }: { price: NonNullable<Explanation["price"]> }) {
  const { t } = useTranslation("models");
  const cellText = useCellText();
  return (
    <p className="text-muted">
      {t("dry.price")} ({t(price.source === "organization" ? "dry.price.own" : "dry.price.default")}):{" "}
      {price.amounts.map(({ cell, amount }, index) => (
        <span key={cell}>
          {index > 0 && ", "}
          {cellText(cell)} <Money amount={amount} currency={price.currency} />
        </span>
      ))}
      {price.unit === "token" && ` ${t("price.million")}`}
    </p>
  );
}
