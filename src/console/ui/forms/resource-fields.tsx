import { useModelOptions, useOrganizationOptions } from "../../api/options.ts";
import type { FieldProps } from "./field-frame.tsx";
import { MultiSelectField, SelectField } from "./select-field.tsx";

/** The id of one organization. */
export function OrganizationField(props: FieldProps) {
  return <SelectField {...props} options={useOrganizationOptions()} />;
}

/** Ids of models. */
export function ModelsField(props: FieldProps) {
  return <MultiSelectField {...props} options={useModelOptions()} />;
}
