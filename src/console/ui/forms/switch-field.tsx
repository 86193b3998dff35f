import { Switch } from "react-aria-components/Switch";
import { useField, type FieldProps } from "./field-frame.tsx";

export function SwitchField(props: FieldProps) {
  const { field, error } = useField(props);
  return (
    <div className="flex flex-col gap-1">
      <Switch
        ref={field.ref}
        isSelected={field.value === true}
        onChange={field.onChange}
        onBlur={field.onBlur}
        isDisabled={props.isDisabled ?? false}
        className="group flex w-fit cursor-pointer items-center gap-3 font-medium data-disabled:opacity-60"
      >
        <span className="flex h-5 w-9 shrink-0 items-center rounded-full bg-line-strong p-0.5 transition-colors group-data-focus-visible:outline-2 group-data-focus-visible:outline-offset-2 group-data-focus-visible:outline-accent group-data-selected:bg-accent-solid">
          <span className="size-4 rounded-full bg-white shadow-sm transition-transform group-data-selected:translate-x-4" />
        </span>
        {props.label}
      </Switch>
      {props.help !== undefined && <p className="pl-12 text-xs text-muted">{props.help}</p>}
      {error !== undefined && <p className="pl-12 text-xs text-bad">{error}</p>}
    </div>
  );
}
