import { operatorMessage, type OperatorMessage } from "../domain/operator-message.ts";
import type { AlertStore, IsRecipient, SendMail } from "./ports.ts";

const AT_ONCE = 10;
const MINUTE_MS = 60_000;
/** The pauses before the second and later attempts. Six attempts take about an hour and a half. */
const RETRY_MS = [10_000, MINUTE_MS, 5 * MINUTE_MS, 20 * MINUTE_MS, 60 * MINUTE_MS];
const TIMEOUT_MS = 20_000;
const MAX_RESULT = 300;

/**
 * Returns a function that sends mails through the server at `url`. A `smtps://` address uses TLS from the start. A
 * `smtp://` address uses STARTTLS if the server offers it.
 */
export function openMailer({ url, from }: { url: string; from: string }): SendMail {
  const timeouts = { connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS };
  // The library is loaded on first use, because few installations send mails.
  const open = async () => (await import("nodemailer")).createTransport({ url, ...timeouts });
  let transport: ReturnType<typeof open> | null = null;
  return async ({ recipient, subject, body }) => {
    transport ??= open();
    await (await transport).sendMail({ from, to: recipient, subject, text: body });
  };
}

/**
 * Sends the due mails whose addresses are still allowed. Reports the result of each mail to the store. Calls
 * `onProblem` for each failure.
 */
export async function sendDueMails(
  store: AlertStore,
  send: SendMail,
  isRecipient: IsRecipient,
  onProblem: (message: string, cause: unknown) => void,
): Promise<void> {
  for (const mail of await store.dueMails(AT_ONCE)) {
    const fail = async (result: OperatorMessage, retryMs: number | null): Promise<void> => {
      const next = retryMs === null ? "is given up" : `is tried again in ${retryMs / 1000} s`;
      onProblem(
        `the mail ${mail.id} of organization ${mail.organizationId} was not sent and ${next}`,
        result.message,
      );
      await store.mailFailed(mail.id, result, retryMs);
    };
    try {
      if (await isRecipient(mail.recipient, mail.organizationId)) {
        await send(mail);
        await store.mailSent(mail.id);
      } else await fail(operatorMessage("delivery.recipient", {}), null);
    } catch (error) {
      const detail = (error instanceof Error ? error.message : String(error)).slice(0, MAX_RESULT);
      const result = operatorMessage("delivery.mail", { detail });
      await fail(result, isPermanent(error) ? null : (RETRY_MS[mail.attempts - 1] ?? null));
    }
  }
}

/** True when the server refuses the mail permanently (RFC 5321, section 4.2.1). */
function isPermanent(error: unknown): boolean {
  const code = error instanceof Error && "responseCode" in error ? Number(error.responseCode) : 0;
  return code >= 500 && code < 600;
}
