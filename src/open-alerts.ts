import { openMailer } from "./alerts/mail.ts";
import type { SendMail } from "./alerts/ports.ts";
import { startAlerts } from "./alerts/watch.ts";
import { isRecipient } from "./admin/recipients.ts";
import type { RunningGateway } from "./admin/context.ts";
import type { Health } from "./gateway/routing/health.ts";
import type { BackgroundWork } from "./lib/waiting.ts";
import type { LiveSettings } from "./live-settings.ts";
import type { Storage } from "./storage/index.ts";
import type { SystemLog } from "./telemetry/log.ts";

/** Watches for what needs attention, and sends mails about it. */
export interface OpenedAlerts extends BackgroundWork {
  testMail: RunningGateway["testMail"];
}

export function openAlerts(
  live: LiveSettings,
  parts: { storage: Storage; health: Health; processId: string; onProblem: SystemLog },
): OpenedAlerts {
  const { storage, health, processId, onProblem } = parts;
  const { mail } = live.current;
  const sendMail = mail && openMailer(mail);
  const work = startAlerts({
    store: storage.alerts,
    processId,
    ejections: () => health.ejections(),
    sendMail,
    isRecipient: async (email, organizationId) =>
      live.current.mail !== null &&
      (await isRecipient(storage.admin, live.current.mail, email, organizationId ?? undefined)),
    onProblem,
  });
  return { stop: () => work.stop(), testMail: (recipient) => testMail(sendMail, recipient) };
}

async function testMail(sendMail: SendMail | null, recipient: string) {
  if (!sendMail)
    return {
      isSent: false,
      message: "no mail server is configured: set `mail.url` and `mail.from` in the configuration file",
    };
  try {
    const body = "This mail shows that the gateway can send alerts to this address.\n";
    await sendMail({ recipient, subject: "[gateway] Test", body });
    return { isSent: true, message: "the mail server has taken the mail" };
  } catch (error) {
    return { isSent: false, message: error instanceof Error ? error.message : String(error) };
  }
}
