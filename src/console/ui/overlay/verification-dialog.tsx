import { useQuery } from "@tanstack/react-query";
import { ShieldCheck } from "lucide-react";
import { useState, type ReactNode } from "react";
import type { Input, Output } from "../../api/call.ts";
import { operationQuery } from "../../api/queries.ts";
import { Button } from "../forms/button.tsx";
import { QueryState } from "../page/query-state.tsx";
import { Dialog } from "./dialog.tsx";

type VerificationName = "ledger.verify" | "audit.verify";

interface VerificationDialogProps<Name extends VerificationName> {
  operation: Name;
  input: Input<Name>;
  label: string;
  /** Title of the dialog; `label` by default. */
  title?: string;
  /** Shown while the verification runs. */
  skeleton?: ReactNode;
  children(report: Output<Name>): ReactNode;
}

/** A button that runs a verification and shows its report in a dialog. Each opening runs the verification again. */
export function VerificationDialog<Name extends VerificationName>(props: VerificationDialogProps<Name>) {
  const { operation, input, label, title = label, skeleton, children } = props;
  const [isOpen, setOpen] = useState(false);
  const report = useQuery({ ...operationQuery(operation, input), enabled: isOpen, staleTime: 0 });
  return (
    <>
      <Button icon={ShieldCheck} onPress={() => setOpen(true)}>
        {label}
      </Button>
      <Dialog title={title} isOpen={isOpen} onClose={() => setOpen(false)}>
        <div className="pb-4">
          <QueryState query={report} skeleton={skeleton}>
            {children}
          </QueryState>
        </div>
      </Dialog>
    </>
  );
}
