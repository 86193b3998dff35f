import { useState } from "react";
import { useForm } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { encode } from "uqr";
import type { Output } from "../../api/call.ts";
import { useOperationMutation } from "../../api/queries.ts";
import { useSession } from "../../api/session.ts";
import { Button } from "../../ui/forms/button.tsx";
import { FormDialog } from "../../ui/forms/form-dialog.tsx";
import { TextField } from "../../ui/forms/text-field.tsx";
import { SecretOnce } from "../../ui/overlay/secret-once.tsx";
import { showProblem, showToast } from "../../ui/overlay/toast.ts";
import { Card } from "../../ui/page/card.tsx";
import { Status } from "../../ui/text/status.tsx";

type Shown = "nothing" | "turningOff" | Output<"totp.begin">;

const EMPTY = { code: "" };

/** Sets up or removes the second factor: codes of an authenticator app. */
export function TotpCard() {
  const { t } = useTranslation("account");
  const { isTotpOn } = useSession();
  const [shown, setShown] = useState<Shown>("nothing");
  const [recoveryCodes, setRecoveryCodes] = useState<string | null>(null);
  const form = useForm({ defaultValues: EMPTY });
  const begin = useOperationMutation("totp.begin", []);
  const confirm = useOperationMutation("totp.confirm", ["session"]);
  const remove = useOperationMutation("totp.remove", ["session"]);
  const turnOn = async (values: typeof EMPTY) => {
    const { recoveryCodes } = await confirm.mutateAsync(values);
    setRecoveryCodes(recoveryCodes.join("\n"));
  };
  const turnOff = async (values: typeof EMPTY) => {
    await remove.mutateAsync(values);
    showToast(t("totp.isOff"));
  };
  const start = () => begin.mutateAsync({}).then(setShown, showProblem);
  return (
    <Card
      title={t("totp")}
      about={t("totp.about")}
      actions={<Status level={isTotpOn ? "good" : "off"}>{isTotpOn ? t("totp.on") : t("totp.off")}</Status>}
    >
      {isTotpOn ? (
        <Button onPress={() => setShown("turningOff")}>{t("totp.turnOff")}</Button>
      ) : (
        <Button kind="primary" isPending={begin.isPending} onPress={() => void start()}>
          {t("totp.turnOn")}
        </Button>
      )}
      <FormDialog
        title={t("totp")}
        size="s"
        isOpen={shown !== "nothing"}
        form={form}
        onSubmit={typeof shown === "object" ? turnOn : turnOff}
        onClose={() => setShown("nothing")}
        submitLabel={typeof shown === "object" ? t("totp.turnOn") : t("totp.turnOff")}
      >
        {typeof shown === "object" && <Secret {...shown} />}
        <TextField
          name="code"
          label={t("totp.code")}
          help={typeof shown === "object" ? t("totp.code.help") : t("totp.code.recovery")}
          inputMode={typeof shown === "object" ? "numeric" : "text"}
          autoComplete="one-time-code"
          isMono
          isRequired
        />
      </FormDialog>
      <SecretOnce
        title={t("totp.recovery")}
        about={t("totp.recovery.about")}
        secret={recoveryCodes}
        onClose={() => setRecoveryCodes(null)}
      />
    </Card>
  );
}

function Secret({ secret, uri }: Output<"totp.begin">) {
  const { t } = useTranslation("account");
  return (
    <div className="flex flex-col items-center gap-3">
      <p className="text-muted">{t("totp.scan")}</p>
      <QrCode text={uri} label={t("totp.qr")} />
      <code className="rounded-md bg-sunken px-3 py-1.5 font-mono text-xs break-all">
        {secret.match(/.{1,4}/g)?.join(" ")}
      </code>
    </div>
  );
}

/** Shows a text as a QR code, dark on light in both themes, so that cameras can read it. */
function QrCode({ text, label }: { text: string; label: string }) {
  const { data, size } = encode(text, { ecc: "M", border: 3 });
  const path = data
    .flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : "")))
    .join("");
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
      className="size-48 rounded-lg bg-white text-black"
    >
      <path d={path} fill="currentColor" />
    </svg>
  );
}
