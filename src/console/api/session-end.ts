/** Dispatched on the window when a call found that the session has ended. */
export const SESSION_ENDED = "sessionended";

let renewal: PromiseWithResolvers<void> | null = null;

/**
 * Asks the member to sign in by a dialog over the page. Resolves once there is a session again. All waiting calls share
 * one dialog.
 */
function renewedSession(): Promise<void> {
  renewal ??= Promise.withResolvers<void>();
  window.dispatchEvent(new Event(SESSION_ENDED));
  return renewal.promise;
}

/** Call it when there is a session again, so that the calls that wait for it are repeated. */
export function endRenewal(): void {
  renewal?.resolve();
  renewal = null;
}

/**
 * Sends a request. If the session has ended, asks the member to sign in and sends the request again. Without
 * `isRenewable`, returns the refusal instead, for the call that finds out whether there is a session.
 */
export async function fetchInSession(send: () => Promise<Response>, isRenewable = true): Promise<Response> {
  const response = await send();
  if (response.status !== 401 || !isRenewable) return response;
  await renewedSession();
  return await send();
}
