import { useTranslation } from "react-i18next";
import { Details } from "../../ui/text/details.tsx";
import { useEnabledModels } from "./enabled-models.ts";
import { stateOf, ModelStatus, type ModelRow } from "./model-state.tsx";

/** Whether a model can be called and why not, where it comes from, and on which endpoints. */
export function ModelFacts({ model }: { model: ModelRow }) {
  const { t } = useTranslation("models");
  const state = stateOf(model, useEnabledModels());
  const { type, ownedBy, origin, isOverride, endpoints, shutdownDate, problems } = model;
  return (
    <Details
      entries={[
        [
          t("column.state"),
          <>
            <ModelStatus state={state} />
            {state !== "callable" && <p className="mt-1 text-muted">{t(`why.${state}`)}</p>}
            {problems.map((problem) => (
              <p key={problem} className="mt-1 text-bad">
                {problem}
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
