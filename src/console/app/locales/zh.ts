import type { Texts } from "./en.ts";
import { account } from "./zh/account.ts";
import { alerts } from "./zh/alerts.ts";
import { images } from "./zh/images.ts";
import { jobs } from "./zh/jobs.ts";
import { keys } from "./zh/keys.ts";
import { models } from "./zh/models.ts";
import { money } from "./zh/money.ts";
import { overview } from "./zh/overview.ts";
import { ownKey } from "./zh/own-key.ts";
import { playground } from "./zh/playground.ts";
import { prices } from "./zh/prices.ts";
import { providers } from "./zh/providers.ts";
import { requests } from "./zh/requests.ts";
import { settings } from "./zh/settings.ts";
import { signIn } from "./zh/sign-in.ts";
import { shell } from "./zh/shell.ts";

export const zh: Texts = {
  account,
  alerts,
  images,
  jobs,
  keys,
  models,
  money,
  overview,
  ownKey,
  playground,
  prices,
  providers,
  requests,
  settings,
  shell,
  signIn,
};
