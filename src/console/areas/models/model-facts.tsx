import { useTranslation } from "react-i18next";
import { Details } from "../../ui/text/details.tsx";
import { formatCount } from "../../ui/text/format.ts";
import { Money } from "../../ui/text/money.tsx";
import { Quoted } from "../../ui/text/quoted.tsx";
import { CATEGORIES } from "../prices/cells.ts";
import { ModelStatus, stateOf, useEnabledModels, type ModelRow } from "./model-state.tsx";

/** Shows facts about a model, first its state with the reason. */
export function ModelFacts({ model }: { model: ModelRow }) {
  const { t } = useTranslation(["models", "shell"]);
  const state = stateOf(model, useEnabledModels());
  const { type, ownedBy, origin, isOverride, endpoints, shutdownDate, problems } = model;
  return (
    <Details
      entries={[
        [
          t("column.state"),
          <>
            <ModelStatus state={state} />
            {state !== null && state !== "callable" && <p className="mt-1 text-muted">{t(`why.${state}`)}</p>}
            {problems.map((problem) => (
              <p key={problem} className="mt-1 text-bad">
                <Quoted label={t("shell:problem.configuration")}>{problem}</Quoted>
              </p>
            ))}
          </>,
        ],
        [t("column.type"), t(`type.${type}`)],
        [t("detail.owner"), ownedBy],
        [t("column.origin"), `${t(`origin.${origin}`)}${isOverride ? ` (${t("origin.override")})` : ""}`],
        [t("detail.shutdown"), shutdownDate],
        [
          t("detail.endpoints"),
          <ul className="font-mono text-xs">
            {endpoints.map((endpoint) => (
              <li key={endpoint} className="break-all">
                {endpoint}
              </li>
            ))}
          </ul>,
        ],
      ]}
    />
  );
}

export function Capabilities({ model: { image, text, embedding } }: { model: ModelRow }) {
  const { t } = useTranslation("models");
  const { t: shell } = useTranslation();
  const modality = (name: string) => (name === "text" || name === "image" ? t(`modality.${name}`) : name);
  const listed = (items: readonly string[]) => (items.length === 0 ? null : items.join(", "));
  if (image)
    return (
      <Details
        entries={[
          [t("cap.tiers"), listed(image.tiers)],
          [t("cap.ratios"), listed(image.ratios)],
          [t("cap.qualities"), listed(image.qualities)],
          [t("cap.formats"), listed(image.formats)],
          [t("cap.backgrounds"), listed(image.backgrounds)],
          [t("cap.maxReferences"), formatCount(image.maxReferences)],
          [t("cap.maxImages"), formatCount(image.maxImages)],
          [t("cap.masks"), shell(image.hasMasks ? "yes" : "no")],
          [t("cap.family"), image.family],
        ]}
      />
    );
  if (text)
    return (
      <Details
        entries={[
          [t("cap.input"), listed(text.modalities.input.map(modality))],
          [t("cap.output"), listed(text.modalities.output.map(modality))],
          [t("cap.maxOutputTokens"), t("cap.tokens", { shown: formatCount(text.maxOutputTokens) })],
          [t("cap.tools"), shell(text.hasTools ? "yes" : "no")],
          [t("cap.reasoning"), text.reasoning],
          [t("cap.features"), listed(text.allowedFeatures ?? [])],
        ]}
      />
    );
  return <Details entries={[[t("cap.dimensions"), embedding && formatCount(embedding.dimensions)]]} />;
}

const NAMES = Object.values(CATEGORIES);

/** Shows a model's price in force, amount by amount. */
export function Prices({ price }: { price: ModelRow["price"] }) {
  const { t } = useTranslation("models");
  const { t: money } = useTranslation("money");
  const titleOf = (part: string) => {
    const category = NAMES.find((name) => name === part);
    return category ? money(`token.${category}`) : part;
  };
  if (!price) return <p className="text-muted">{t("why.no_price")}</p>;
  const { currency, perMillion, perImage } = price;
  const cells = perMillion
    ? Object.entries(perMillion).map(([name, amount]) => [titleOf(name), amount] as const)
    : Object.entries(perImage ?? {}).flatMap(([tier, amounts]) =>
        Object.entries(amounts).map(
          ([quality, amount]) => [`${tier} ${quality === "*" ? "" : quality}`, amount] as const,
        ),
      );
  return (
    <>
      <dl className="grid grid-cols-[1fr_auto] gap-x-6 gap-y-1.5">
        {cells.map(([name, amount]) => (
          <div key={name} className="contents">
            <dt className="text-muted">{name}</dt>
            <dd className="text-right">
              <Money amount={amount} currency={currency} />
            </dd>
          </div>
        ))}
      </dl>
      <p className="mt-3 text-xs text-muted">{t(perMillion ? "price.unit.tokens" : "price.unit.image")}</p>
    </>
  );
}
