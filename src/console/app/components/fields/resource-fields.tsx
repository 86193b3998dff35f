import { useKeyOptions, useModelOptions, useOrganizationOptions } from "../../lib/options.ts";
import type { FieldProps } from "./field-frame.tsx";
import { MultiSelectField, SelectField } from "./select-field.tsx";

/** The id of one organization. */
export function OrganizationField(props: FieldProps) {
  return <SelectField {...props} options={useOrganizationOptions()} />;
}

/** The id of one model. */
export function ModelField(props: FieldProps) {
  return <SelectField {...props} options={useModelOptions()} />;
}

/** Ids of models. */
export function ModelsField(props: FieldProps) {
  return <MultiSelectField {...props} options={useModelOptions()} />;
}

/** The id of one key, of an organization or of all. */
export function KeyField({ organizationId, ...props }: FieldProps & { organizationId?: string }) {
  return <SelectField {...props} options={useKeyOptions(organizationId)} />;
}
