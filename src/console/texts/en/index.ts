export { default as account } from "./account.json";
export { default as alerts } from "./alerts.json";
export { default as images } from "./images.json";
export { default as jobs } from "./jobs.json";
export { default as keys } from "./keys.json";
// The sentences of the gateway are declared once, for its interface and for the console in English.
export { OPERATOR_MESSAGES as messages } from "../../../domain/operator-messages.table.ts";
export { default as models } from "./models.json";
export { default as money } from "./money.json";
export { default as overview } from "./overview.json";
export { default as ownKey } from "./own-key.json";
export { default as playground } from "./playground.json";
export { default as prices } from "./prices.json";
export { default as providers } from "./providers.json";
export { default as requests } from "./requests.json";
export { default as settings } from "./settings.json";
export { default as shell } from "./shell.json";
export { default as signIn } from "./sign-in.json";
