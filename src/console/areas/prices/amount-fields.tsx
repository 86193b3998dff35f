import { useTranslation } from "react-i18next";
import { MoneyField } from "../../ui/forms/money-field.tsx";
import { NumberField } from "../../ui/forms/number-field.tsx";
import { CATEGORIES, imageCell, qualitiesOf, type Category, type ModelPrices } from "./cells.ts";

const NAMES = Object.values(CATEGORIES);

interface AmountFieldsProps {
  row: ModelPrices;
  currency: string;
  /** A sentence about the meaning of an empty field. */
  help: string;
}

/** Shows a field for each amount that a model's price can have. */
export function AmountFields(props: AmountFieldsProps) {
  return (
    <>
      <p className="text-muted">{props.help}</p>
      {props.row.type === "image" ? <ImageFields {...props} /> : <TokenFields {...props} />}
    </>
  );
}

function ImageFields({ row, currency }: AmountFieldsProps) {
  const { t } = useTranslation("prices");
  const qualities = qualitiesOf(row);
  const nameOf = (quality: string) =>
    quality === "*" ? t("quality.any") : quality === "auto" ? t("quality.auto") : quality;
  return row.tiers.map((tier) => (
    <fieldset key={tier} className="flex flex-col gap-3">
      <legend className="mb-2 font-medium">
        {tier} <span className="font-normal text-muted">{t("perImage")}</span>
      </legend>
      <div className="grid grid-cols-2 gap-4 sm:grid-cols-4">
        {qualities.map((quality) => (
          <MoneyField
            key={quality}
            name={`perImage.${tier}.${quality}`}
            label={nameOf(quality)}
            placeholder={imageCell(row, tier, quality)?.amount}
            currency={currency}
          />
        ))}
      </div>
    </fieldset>
  ));
}

function TokenFields({ row, currency }: AmountFieldsProps) {
  const { t } = useTranslation("prices");
  return (
    <>
      <fieldset>
        <legend className="mb-2 font-medium">{t("perMillion.title")}</legend>
        <CategoryFields name="perMillion" currency={currency} cells={row.cells} />
      </fieldset>
      <details className="group">
        <summary className="cursor-pointer font-medium text-accent">{t("add.long")}</summary>
        <div className="mt-3 flex flex-col gap-4">
          <NumberField name="longContext.above" label={t("add.long.above")} minimum={1} />
          <CategoryFields name="longContext.perMillion" currency={currency} />
        </div>
      </details>
      {row.features.length > 0 && (
        <fieldset>
          <legend className="mb-2 font-medium">{t("add.uses")}</legend>
          <div className="grid grid-cols-2 gap-4 sm:grid-cols-4">
            {row.features.map((feature) => (
              <MoneyField
                key={feature}
                name={`perUse.${feature}`}
                label={feature}
                placeholder={row.cells.find(({ cell }) => cell === `${feature} use`)?.amount}
                currency={currency}
              />
            ))}
          </div>
        </fieldset>
      )}
    </>
  );
}

function CategoryFields({
  name,
  currency,
  cells = [],
}: {
  name: string;
  currency: string;
  /** The prices in force. Empty fields show these prices as placeholders. */
  cells?: ModelPrices["cells"];
}) {
  const { t } = useTranslation("money");
  return (
    <div className="grid grid-cols-2 gap-4 sm:grid-cols-4">
      {NAMES.map((category) => (
        <MoneyField
          key={category}
          name={`${name}.${category}`}
          label={t(`token.${category}`)}
          placeholder={cells.find(({ cell }) => isOf(cell, category))?.amount}
          currency={currency}
        />
      ))}
    </div>
  );
}

function isOf(cell: string, category: Category): boolean {
  return cell in CATEGORIES && CATEGORIES[cell as keyof typeof CATEGORIES] === category;
}
