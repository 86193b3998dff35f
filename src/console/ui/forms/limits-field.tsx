import { Input } from "react-aria-components/Input";
import { TextField } from "react-aria-components/TextField";
import { useTranslation } from "react-i18next";
import type { Input as OperationInput, Output } from "../../api/call.ts";
import { INPUT } from "./field-class.ts";
import { FieldFrame, useField } from "./field-frame.tsx";

/**
 * A field for the limits in the form's object `name`. Each limit is a number, null for unlimited, or undefined for the
 * default. An empty input means the default. With `defaults`, the default is the placeholder of the input. `∞` means
 * unlimited.
 */
export function LimitsField({
  name,
  defaults = {},
}: {
  name: string;
  defaults?: Partial<Record<(typeof LIMITS)[number], number | null>>;
}) {
  const { t } = useTranslation();
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="mb-2 font-medium">{t("limits")}</legend>
      <div className="grid gap-4 sm:grid-cols-2">
        {LIMITS.map((limit) => (
          <LimitField
            key={limit}
            name={`${name}.${limit}`}
            label={t(`limit.${limit}`)}
            usual={defaults[limit]}
          />
        ))}
      </div>
      <p className="text-xs text-muted">{t("limits.help")}</p>
    </fieldset>
  );
}

function LimitField({ usual, ...props }: { name: string; label: string; usual: number | null | undefined }) {
  const { field, error, shared } = useField(props);
  return (
    <TextField
      {...shared}
      value={field.value === null ? "∞" : String(field.value ?? "")}
      onChange={(text) => field.onChange(parse(text))}
      inputMode="numeric"
      autoComplete="off"
    >
      <FieldFrame label={props.label} error={error}>
        <Input
          ref={field.ref}
          placeholder={usual === undefined ? "" : usual === null ? "∞" : String(usual)}
          className={`${INPUT} text-right`}
        />
      </FieldFrame>
    </TextField>
  );
}

function parse(text: string): number | null | undefined {
  if (/[∞*-]/.test(text)) return null;
  const digits = text.replace(/\D/g, "");
  return digits === "" ? undefined : Number(digits);
}

/** Limits as the gateway returns them. Each limit is a number, null for unlimited, or absent for the default. */
export type OwnLimits = Output<"limits.defaults">["key"];

/** The names of the limits in the order in which they are shown. */
export const LIMITS = [
  "requestsPerMinute",
  "tokensPerMinute",
  "imagesPerMinute",
  "concurrentImages",
  "queuedJobs",
  "runningJobs",
] as const satisfies readonly (keyof OwnLimits)[];

type TakenLimits = NonNullable<OperationInput<"keys.update">["limits"]>;

/** Converts the limits of a form to the operation's input. An undefined limit is reset to the default. */
export function toLimits(limits: OwnLimits): TakenLimits {
  const taken: TakenLimits = {};
  for (const name of LIMITS)
    if (name in limits) taken[name] = limits[name] === undefined ? "default" : limits[name];
  return taken;
}
