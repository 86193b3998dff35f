import { Columns2 } from "lucide-react";
import { ToggleButton } from "react-aria-components/ToggleButton";
import { useTranslation } from "react-i18next";
import { useFilters } from "../../address.ts";
import { buttonClass } from "../../ui/forms/button.tsx";
import { ChoiceSelect } from "../../ui/forms/choice-select.tsx";
import type { PlaygroundModel } from "./models.ts";

/**
 * Returns the models to call: one, or two to compare. The address names them; by default, it is the first model of the
 * list.
 */
export function useChosenModels(models: readonly PlaygroundModel[]): readonly PlaygroundModel[] {
  const { filters } = useFilters();
  const first = models.find(({ id }) => id === filters["model"]) ?? models[0];
  const second = models.find(({ id }) => id === filters["with"]);
  return [first, second].flatMap((model) => (model ? [model] : []));
}

export function ModelChoice({
  models,
  chosen,
}: {
  models: readonly PlaygroundModel[];
  chosen: readonly PlaygroundModel[];
}) {
  const { t } = useTranslation("playground");
  const { change } = useFilters();
  const options = models.map(({ id, displayName }) => ({ id, label: displayName, detail: id }));
  const [first, second] = chosen;
  const other = models.find(({ id }) => id !== first?.id);
  return (
    <div className="flex flex-wrap items-center gap-2">
      <ChoiceSelect
        label={t("model")}
        options={options}
        value={first?.id ?? ""}
        onChange={(model) => change({ model })}
      />
      {second && (
        <ChoiceSelect
          label={t("compare.with")}
          options={options}
          value={second.id}
          onChange={(model) => change({ with: model })}
        />
      )}
      {other && (
        <ToggleButton
          isSelected={second !== undefined}
          onChange={(isOn) => change({ with: isOn ? other.id : undefined })}
          className={`${buttonClass("plain")} data-selected:border-accent data-selected:bg-accent-soft data-selected:text-accent`}
        >
          <Columns2 size={16} aria-hidden />
          {t("compare")}
        </ToggleButton>
      )}
      {chosen.some(({ isOfSandbox }) => isOfSandbox) && (
        <p className="basis-full text-muted">{t("sandbox")}</p>
      )}
    </div>
  );
}
