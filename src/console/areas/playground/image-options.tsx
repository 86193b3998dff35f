import { useFormContext } from "react-hook-form";
import { useTranslation } from "react-i18next";
import type { Option } from "../../api/options.ts";
import { NumberField } from "../../ui/forms/number-field.tsx";
import { SelectField } from "../../ui/forms/select-field.tsx";
import { SwitchField } from "../../ui/forms/switch-field.tsx";
import { TextField } from "../../ui/forms/text-field.tsx";
import { EXACT, hasCompression, type ImageForm } from "./image-call.ts";
import type { ImageOptions } from "./models.ts";

interface ImageOptionFieldsProps {
  options: ImageOptions;
  hasReferences: boolean;
}

/** Shows the options that at least one of the chosen models has. An option is sent only to the models that have it. */
export function ImageOptionFields({ options, hasReferences }: ImageOptionFieldsProps) {
  const { t } = useTranslation("playground");
  const { watch } = useFormContext<ImageForm>();
  const [size, format] = watch(["size", "format"]);
  const isExact = options.pixels !== null && size === EXACT;
  return (
    <div className="grid grid-cols-2 gap-x-3 gap-y-4">
      <Choice
        name="size"
        values={options.tiers}
        more={options.pixels ? [exactOption(t("size.exact"))] : []}
      />
      {isExact ? (
        <TextField
          name="exactSize"
          label={t("exactSize")}
          placeholder="1536x1024"
          help={t("exactSize.help", { edge: options.pixels?.maxEdge, multiple: options.pixels?.multipleOf })}
        />
      ) : (
        <Choice name="ratio" values={options.ratios} />
      )}
      <Choice name="quality" values={options.qualities} />
      <Choice name="background" values={options.backgrounds} />
      <Choice name="format" values={options.formats} />
      {hasCompression(options, format) && (
        <NumberField
          name="compression"
          label={t("compression")}
          minimum={0}
          maximum={100}
          placeholder={t("default")}
        />
      )}
      {options.maxCount > 1 && (
        <Choice
          name="count"
          values={Array.from({ length: options.maxCount }, (_, index) => String(index + 1))}
          isRequired
        />
      )}
      <Choice name="delivery" values={["url", "b64_json"]} />
      <div className="col-span-2 flex flex-col gap-3">
        <SwitchField name="isJob" label={t("isJob")} help={t("isJob.help")} />
        {hasReferences && (
          <SwitchField
            name="compressesReferences"
            label={t("compressesReferences")}
            help={t("compressesReferences.help")}
          />
        )}
      </div>
    </div>
  );
}

function exactOption(label: string): Option {
  return { id: EXACT, label };
}

type ChoiceName = "size" | "ratio" | "quality" | "background" | "format" | "count" | "delivery";

/** A choice of one of the offered values. Unless the choice is required, its first option is the default. */
function Choice({
  name,
  values,
  more = [],
  isRequired = false,
}: {
  name: ChoiceName;
  values: readonly string[];
  more?: readonly Option[];
  isRequired?: boolean;
}) {
  const { t } = useTranslation("playground");
  if (values.length === 0) return null;
  const options = [
    ...(isRequired ? [] : [{ id: "", label: t("default") }]),
    ...values.map((value) => ({ id: value, label: value })),
    ...more,
  ];
  return <SelectField name={name} label={t(name)} options={options} />;
}
