import { Mail } from "lucide-react";
import { useState } from "react";
import { useForm } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { call } from "../../api/call.ts";
import { operatorText } from "../../texts/operator-text.ts";
import { Button } from "../../ui/forms/button.tsx";
import { FormDialog } from "../../ui/forms/form-dialog.tsx";
import { TextField } from "../../ui/forms/text-field.tsx";
import { showToast } from "../../ui/overlay/toast.ts";

/** Sends a test mail and shows the mail server's response. */
export function MailTest() {
  const { t } = useTranslation("alerts");
  const [isOpen, setOpen] = useState(false);
  const form = useForm({ defaultValues: { recipient: "" } });
  return (
    <>
      <Button icon={Mail} onPress={() => setOpen(true)}>
        {t("mail.test")}
      </Button>
      <FormDialog
        title={t("mail.title")}
        form={form}
        size="s"
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        submitLabel={t("mail.submit")}
        onSubmit={async ({ recipient }) => {
          const { isSent, ...outcome } = await call("mail.test", { recipient });
          if (!isSent) throw new Error(operatorText(outcome));
          showToast(operatorText(outcome));
        }}
      >
        <TextField
          name="recipient"
          label={t("mail.recipient")}
          type="email"
          inputMode="email"
          isRequired
          autoFocus
        />
      </FormDialog>
    </>
  );
}
